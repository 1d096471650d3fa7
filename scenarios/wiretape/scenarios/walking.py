"""The files below a folder that may be a project's own: no hidden folders, virtual environments and packages of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["below"]

_OTHERS = frozenset({"__pycache__", "node_modules"})


def below(folder: Path) -> Iterator[Path]:
    """In the order of names; links to files that are not there are among them, links to folders are not followed."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _passed_over(Path(place, name)))
        yield from (Path(place, name) for name in sorted(files) if not name.startswith("."))


def _passed_over(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _OTHERS or (folder / "pyvenv.cfg").exists()
