"""`replay accept`."""

from __future__ import annotations

from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.scenarios.accept import accept

__all__ = ["run"]


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The recording, by name or path.")],
) -> None:
    """Take the evidence's present rendering as the golden trace.

    For a recording whose trace text was made by other decoders, and for a run kept with `replay run --save`.
    """
    for line in accept(name, options.folder(context)):
        context.obj.say(f"replay: {line}")
