"""`replay diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.cli.console import printable
from wiretape.scenarios.evidence import compared
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="The recording to compare with.")],
    b: Annotated[str, typer.Argument(help="The recording that may differ.")],
    format: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> int:
    """Compare the behaviour in two recordings: calls, their arguments and order, approvals, the answer, the end. 0 same,
    1 different. Models, tokens and errors that differ are told beside it, and are no behaviour."""
    if format not in ("text", "json"):
        raise UsageError(f"--format: expected text or json, got {format!r}.")
    found, notes = compared(a, b, options.folder(context))
    if format == "json":
        told = {"differences": found, "notes": notes}
        lists = {name: [each.model_dump(mode="json") for each in entries] for name, entries in told.items()}
        context.obj.json({"same": not found, **lists})
    else:
        for message in [each.message for each in found] or ["same behaviour"]:
            context.obj.result(printable(message))
        for note in notes:
            context.obj.result(printable(f"  beside it, {note.message}"))
    return 1 if found else 0
