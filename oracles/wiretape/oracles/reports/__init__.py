"""One decision in several forms, a file each. The table's renderers give text; `console.render` prints on a terminal."""

from __future__ import annotations

from collections.abc import Callable

from wiretape.oracles.gate import Decision
from wiretape.oracles.reports import console, json

__all__ = ["REPORTS"]

REPORTS: dict[str, Callable[[Decision], str]] = {
    "console": console.text,
    "json": json.render,
}
