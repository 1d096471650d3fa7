"""`replay rebuild`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli.console import printable
from wiretape.scenarios.rebuild import rebuild

__all__ = ["run"]


def run(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Stores, or folders of them; recordings/ where none is given.")
    ] = None,
) -> int:
    """Decode recordings again: what this version reads in them, and whether their trace texts still show it.

    A text that shows the same steps gets a new header. 1 where one shows others: look, then `replay accept`.
    """
    code = 0
    for each in rebuild(paths or [Path("recordings")]):
        context.obj.result(printable(f"{each.recording}: {each.says}"))
        code = code if each.same else 1
    return code
