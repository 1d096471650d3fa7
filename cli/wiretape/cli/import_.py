"""`replay import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wiretape.cli import options
from wiretape.cli.console import Output, printable, say_error
from wiretape.scenarios.imported import Imported, Outcome
from wiretape.scenarios.importing import import_files
from wiretape.traces.errors import StoreError, UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FORMAT", help="har, vcr, go-vcr, mitmproxy or wxo.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Each becomes a recording of its own.")],
    into: Annotated[Path, typer.Option("--into", metavar="F.db", help="The store that they go into, new or not.")],
    format: Annotated[str, typer.Option("--format", help="text or json: how to tell what became of each entry.")] = "text",
    noise: options.Noise = [],
    redact: Annotated[str, typer.Option("--redact", help="strict, default, or off.")] = "default",
    yes_store_secrets: Annotated[
        bool, typer.Option("--yes-store-secrets", help="With --redact off: yes, keep secrets.")
    ] = False,
) -> int:
    """Make recordings of other recorders' files, redacted and verified as live ones are.

    replay import vcr tests/cassettes/*.yaml --into recordings/cassettes.db

    A file is taken wholly or not at all; each of its entries is told: taken, taken with loss, or refused. The exit code is 3
    where one is refused because the file has lost its body.
    """
    if format not in ("text", "json"):
        raise UsageError(f"--format: expected text or json, got {format!r}.")
    config = options.settings(context)
    if config["redact"] == "off" and not yes_store_secrets:
        raise UsageError("--redact off would write keys and tokens to the disk; add --yes-store-secrets if that is meant.")
    imported = import_files(source, files, into, config)
    if format == "json":
        context.obj.json({"store": str(into), "files": [_json(each, source) for each in imported]})
    for each in imported:
        if each.error:
            say_error(printable(str(each.error)))
        elif format == "text":
            _lines(context.obj, each, into)
    codes = [each.error.exit_code for each in imported if each.error]
    lost = any(outcome.lost for each in imported for outcome in each.items)
    return max([*codes, StoreError.exit_code if lost else 0])


def _lines(output: Output, imported: Imported, into: Path) -> None:
    refused = sum(each.refused is not None for each in imported.items)
    lossy = sum(bool(each.losses) for each in imported.items)
    counts = f"{len(imported.items) - refused} taken ({lossy} with loss), {refused} refused"
    output.result(printable(f"{imported.file} -> {into}#{imported.recording}: {counts}"))
    for each in imported.items:
        output.result(printable(f"{each.item:5} {_told(each)}"))


def _told(outcome: Outcome) -> str:
    why = outcome.refused or "; ".join(outcome.losses)
    words = (outcome.status.replace("_", " "), outcome.what)
    return " ".join(filter(None, words)) + (f": {why}" if why else "")


def _json(imported: Imported, source: str) -> dict[str, Any]:
    error = imported.error
    return {
        "file": str(imported.file),
        "format": source,
        "recording": imported.recording,
        "status": "refused" if error else "imported",
        "error": {"code": error.code, "message": str(error)} if error else None,
        "items": [_item(each) for each in imported.items],
    }


def _item(outcome: Outcome) -> dict[str, Any]:
    return {
        "item": outcome.item,
        "seq": outcome.seq,
        "what": outcome.what,
        "status": outcome.status,
        "losses": list(outcome.losses),
        "reason": outcome.refused,
    }
