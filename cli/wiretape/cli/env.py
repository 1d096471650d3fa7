"""`replay env`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretape.proxy.environment import rendered, sidecar_variables
from wiretape.proxy.runs import current
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    format: Annotated[str, typer.Option("--format", metavar="sh|dotenv|json")] = "sh",
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="Which sidecar, where several run.")] = None,
) -> None:
    """Print the variables that send a client through the running sidecar.

    eval "$(replay env)"
    """
    if format not in ("sh", "dotenv", "json"):
        raise UsageError(f"--format: expected sh, dotenv or json, got {format!r}.")
    found = current(run_id)
    variables = sidecar_variables(found.proxy, Path(found.bundle or found.ca), Path(found.ca))
    context.obj.result(rendered(variables, format))
