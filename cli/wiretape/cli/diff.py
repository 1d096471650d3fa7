"""`replay diff`."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Annotated, Any

import typer

from wiretape.cli import options
from wiretape.cli.console import printable
from wiretape.scenarios.evidence import differences
from wiretape.traces.diff import Difference
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="The recording to compare with.")],
    b: Annotated[str, typer.Argument(help="The recording that may differ.")],
    format: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> int:
    """Compare the behaviour in two recordings: calls, their arguments and order, approvals, the answer, the end. 0 same,
    1 different."""
    if format not in ("text", "json"):
        raise UsageError(f"--format: expected text or json, got {format!r}.")
    found = differences(a, b, options.folder(context))
    if format == "json":
        context.obj.json({"same": not found, "differences": [_json(each) for each in found]})
    elif not found:
        context.obj.result("same behaviour")
    else:
        for each in found:
            context.obj.result(printable(each.message))
    return 1 if found else 0


def _json(difference: Difference) -> dict[str, Any]:
    return asdict(difference) if is_dataclass(difference) else difference.model_dump(mode="json")
