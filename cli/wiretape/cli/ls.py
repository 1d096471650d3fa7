"""`replay ls`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.cli.console import printable
from wiretape.scenarios.golden import databases
from wiretape.traces.errors import StoreError
from wiretape.traces.store import Store

__all__ = ["run"]


def run(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Stores, or folders of them; recordings/ where none is given.")
    ] = None,
) -> int:
    """List recordings: name, status, start, exchanges."""
    code = 0
    for path in databases(paths or [options.folder(context)]):
        try:
            for line in _lines(path):
                context.obj.result(printable(line))
        except StoreError as error:
            context.obj.say(f"replay: {error}")
            code = error.exit_code
    return code


def _lines(path: Path) -> list[str]:
    with Store.open(path) as store:
        lines = []
        for info in store.recordings():
            count = sum(1 for _ in store.keys(info))
            started = datetime.fromtimestamp(info.started_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            lines.append(f"{path}#{info.name}  {info.status}  {started}  {count} exchanges")
        return lines
