"""JSON values as texts and back: one text for one value, so that arguments compare and print alike."""

from __future__ import annotations

import json
import re

from wiretape.traces.errors import UsageError
from wiretape.traces.types import Json

__all__ = ["MISSING", "at", "compact", "read", "same"]

MISSING = object()
"""What `at` found where there is nothing; None is a value."""

_TOO_DEEP = '"(nested too deeply to show)"'
_PATH = re.compile(r"""\$?(?:\.?[^.\[\]'"$*]+)?(?:\.[^.\[\]'"*]+|\[(?:\d+|'[^']*'|"[^"]*")\])*""")
_PIECE = re.compile(r"""\[(?P<index>\d+)\]|\[(?P<quote>['"])(?P<quoted>[^'"]*)(?P=quote)\]|\.?(?P<name>[^.\[\]]+)""")


def compact(value: Json) -> str:
    """Names sorted, no white space, 1.0 as 1."""
    try:
        return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    except (RecursionError, ValueError):
        return _TOO_DEEP


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 is 1.0, but true is not 1."""
    return compact(one) == compact(other)


def read(value: Json) -> Json:
    """The JSON that a text holds; any other value, and a text that holds none, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def at(value: Json, path: str) -> Json:
    """What stands at a path such as `$.approved` or `choices[0].ok`, or MISSING. UsageError for a path of another form."""
    if not path or not _PATH.fullmatch(path):
        raise UsageError(f"expected a path of names and numbers such as $.approved or $.items[0].id, got {path!r}.")
    for piece in _PIECE.finditer(path.removeprefix("$")):
        key = int(piece["index"]) if piece["index"] else piece["quoted"] if piece["quote"] else piece["name"]
        value = _member(value, key)
        if value is MISSING:
            break
    return value


def _member(value: Json, key: str | int) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key, MISSING)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return MISSING
