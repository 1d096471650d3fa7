"""`500ms`, `60s`, `5m`, `2h`, `30d` → seconds: one number, one unit, as scenario files, settings and flags write it."""

from __future__ import annotations

import re

from wiretape.traces.types import Json

__all__ = ["duration"]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_FORM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(ms|s|m|h|d)")


def duration(value: Json) -> float:
    """Seconds, above 0. Raises ValueError with what was expected: a bare number has no unit and is refused."""
    found = _FORM.fullmatch(value) if isinstance(value, str) else None
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not seconds:
        raise ValueError("expected a duration above 0 such as 500ms, 60s, 5m, 2h or 30d")
    return seconds
