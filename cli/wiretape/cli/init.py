"""`replay init`."""

from __future__ import annotations

from pathlib import Path

import typer

from wiretape.scenarios.project import prepare

__all__ = ["run"]


def run(context: typer.Context) -> None:
    """Prepare this folder for recordings.

    Writes .gitattributes, .gitignore, a CI job, recordings/ with a first scenario. Leaves what is there as it is.
    """
    for line in prepare(Path()):
        context.obj.say(f"replay: {line}")
