"""`replay scan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.cli.console import printable
from wiretape.scenarios.scanning import mend, scan

__all__ = ["run"]


def run(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Stores, or folders of them.")],
    fix: Annotated[bool, typer.Option("--fix", help="Replace what is found by placeholders.")] = False,
) -> int:
    """Look for secrets that are left in recordings; says where, never what. 1 where there are any.

    With --fix each store is written anew with placeholders in their place, and its trace text with it. What was committed
    before stays in the history of version control: change those keys.
    """
    config = options.settings(context)
    found = list(scan(paths, config))
    for each in found:
        context.obj.result(printable(f"{each.path}: {each.where}"))
    if fix:
        for path in dict.fromkeys(each.path for each in found):
            mend(path, config)
        found = list(scan(paths, config)) if found else []
        context.obj.say("replay: nothing is left." if not found else f"replay: {len(found)} places could not be mended.")
    return 1 if found else 0
