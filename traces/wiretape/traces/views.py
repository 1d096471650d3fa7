"""Texts with their escapes undone, and where each byte of them stands as it is written.

What is searched for may be written in many ways (`\\u0073k-…`, `%73k-…`, JSON inside a JSON string): it is found in what the
text means, and replaced where it is written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

__all__ = ["DEPTH", "View", "meant", "open_escape", "unescaped", "unquoted", "views"]

DEPTH = 4
"""How many layers of JSON inside JSON strings are looked into."""

_JSON = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\"\\/bfnrt])",
)
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_OPEN = re.compile(rb"(?:\\(?:u[0-9a-fA-F]{0,3})?|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?|%[0-9a-fA-F]?)\Z")
_SHORT = {ord(b"b"): b"\b", ord(b"f"): b"\f", ord(b"n"): b"\n", ord(b"r"): b"\r", ord(b"t"): b"\t"}


class View:
    """`text` is what it says; `written` finds the place of a part of it in the source that it was made from."""

    __slots__ = ("_marks", "_source", "_starts", "text")

    def __init__(self, text: bytes, marks: list[tuple[int, int, int, int]] | None = None, source: View | None = None) -> None:
        self.text = text
        self._marks = marks or []
        """Of each escape: where it stands here and in the source, and its lengths in both."""
        self._starts = [mark[0] for mark in self._marks]
        self._source = source

    def written(self, start: int, end: int) -> tuple[int, int]:
        """An escape that the part holds a piece of belongs to it as a whole."""
        place = self._place(start, ends=False), self._place(end, ends=True)
        return self._source.written(*place) if self._source else place

    def _place(self, at: int, *, ends: bool) -> int:
        found = bisect_right(self._starts, at - ends) - 1
        if found < 0:
            return at
        here, there, size, written = self._marks[found]
        inside = at - here
        if inside < size or (ends and inside == size):
            return there + written if ends else there
        return there + written + inside - size


def unescaped(source: View) -> View | None:
    """As the inside of a JSON string means it; None where nothing is escaped."""
    return _undone(source, _JSON, _meaning) if b"\\" in source.text else None


def meant(text: bytes) -> bytes:
    """What the inside of a JSON string stands for."""
    view = unescaped(View(text))
    return view.text if view else text


def unquoted(source: View) -> View | None:
    """As percent-encoding means it; None where nothing is."""
    return _undone(source, _PERCENT, lambda escape: bytes.fromhex(escape[1:].decode())) if b"%" in source.text else None


def views(text: bytes) -> Iterator[View]:
    """The text itself and what it says where escapes are undone, layer by layer."""
    view: View | None = View(text)
    for _ in range(DEPTH + 1):
        if view is None:
            return
        yield view
        if plain := unquoted(view):
            yield plain
        view = unescaped(view)


def open_escape(text: bytes) -> int:
    """Where an escape begins that is cut off at the end; else the end."""
    found = _OPEN.search(text, max(0, len(text) - 12))
    if not found:
        return len(text)
    before = text[: found.start()]
    escaped = (len(before) - len(before.rstrip(b"\\"))) % 2 and found[0][:1] == b"\\"
    return len(text) if escaped else found.start()


def _undone(source: View, pattern: re.Pattern[bytes], meaning: Callable[[bytes], bytes]) -> View | None:
    text = source.text
    parts: list[bytes] = []
    marks: list[tuple[int, int, int, int]] = []
    at = size = 0
    for found in pattern.finditer(text):
        plain = meaning(found[0])
        parts += (text[at : found.start()], plain)
        size += found.start() - at
        marks.append((size, found.start(), len(plain), found.end() - found.start()))
        size += len(plain)
        at = found.end()
    if not marks:
        return None
    return View(b"".join((*parts, text[at:])), marks, source)


def _meaning(escape: bytes) -> bytes:
    if len(escape) == 2:
        return _SHORT.get(escape[1], escape[1:])
    units = [int(unit, 16) for unit in escape[2:].split(b"\\u")]
    if len(units) == 2:
        return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00).encode()
    return chr(units[0]).encode("utf-8", "surrogatepass")
