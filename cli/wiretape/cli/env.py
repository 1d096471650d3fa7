"""`replay env`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from wiretape.proxy.environment import preloads, rendered, sidecar_variables
from wiretape.proxy.events import EVENTS_URL
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

    For a shell on this machine they lead in Node and Python clients too that read no proxy; where no sidecar is found, the
    shell's `eval` fails, so that nothing goes around one unseen.
    """
    if format not in ("sh", "dotenv", "json"):
        raise UsageError(f"--format: expected sh, dotenv or json, got {format!r}.")
    try:
        found = current(run_id)
    except UsageError:
        if format == "sh":
            context.obj.result("false")
        raise
    variables = sidecar_variables(found.proxy, Path(found.bundle or found.ca), Path(found.ca))
    variables["WIRETAPE_EVENTS"] = EVENTS_URL
    context.obj.result(rendered(variables | (preloads(os.environ) if format == "sh" else {}), format))
