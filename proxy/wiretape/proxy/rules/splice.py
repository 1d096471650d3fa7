"""One value in JSON text replaced where it stands: every other byte stays as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

__all__ = ["Place", "spliced"]

type Place = tuple[str | int, ...]
"""Keys and positions from the top."""

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def spliced(text: bytes, changes: Sequence[tuple[Place, object]]) -> bytes:
    """`text`, which is JSON, with each of these values in its place, which it has. KeyError or IndexError where it has not."""
    decoded = text.decode("utf-8", "surrogateescape")
    found = sorted(((*_span(decoded, place), json.dumps(value, ensure_ascii=False)) for place, value in changes), reverse=True)
    for start, end, new in found:
        decoded = decoded[:start] + new + decoded[end:]
    return decoded.encode("utf-8", "surrogateescape")


def _span(text: str, place: Place) -> tuple[int, int]:
    at = _skip(text, 0)
    for part in place:
        at = _member(text, at, part) if isinstance(part, str) else _element(text, at, part)
    return at, _end(text, at)


def _member(text: str, at: int, name: str) -> int:
    """Where the value of that name begins; of several the last, as parsers have it."""
    at, found = _skip(text, at + 1), -1
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        found = at if key == name else found
        at = _next(text, _end(text, at))
    if found < 0:
        raise KeyError(name)
    return found


def _element(text: str, at: int, number: int) -> int:
    at = _skip(text, at + 1)
    for _ in range(number):
        at = _next(text, _end(text, at))
    return at


def _next(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
