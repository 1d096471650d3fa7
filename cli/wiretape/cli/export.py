"""`replay export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli.options import settings
from wiretape.scenarios.evidence import load
from wiretape.scenarios.export import post, target, write
from wiretape.traces.errors import UsageError
from wiretape.traces.exports import EXPORTS

__all__ = ["run"]


def run(
    context: typer.Context,
    recording: Annotated[str, typer.Argument(help="A path to a .db, path.db#name, or a name under recordings/.")],
    format: Annotated[str, typer.Option("--format", metavar="|".join(EXPORTS), help="The form to write.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="PATH", help="A file; standard output where absent.")] = None,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", help="Send otlp to this collector (OTLP/HTTP).")
    ] = None,
) -> None:
    """Write a recording in another form: har for HTTP tools, jsonl with nothing lost, the trace as text, otlp for tracing."""
    if format not in EXPORTS:
        raise UsageError(f"--format: expected {', '.join(EXPORTS)}, got {format!r}.")
    if endpoint and format != "otlp":
        raise UsageError(f"--endpoint takes otlp alone, got --format {format}.")
    url = target(endpoint) if endpoint else None
    prices = settings(context)["prices"]
    with load(recording) as evidence:
        if out:
            write(out, EXPORTS[format](evidence, prices), evidence.path)
        if url:
            post(url, b"".join(EXPORTS[format](evidence, prices)))
        if not out and not url:
            sys.stdout.buffer.writelines(EXPORTS[format](evidence, prices))
            sys.stdout.buffer.flush()
