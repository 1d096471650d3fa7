"""The texts in a JSON document, each with the place of every character: found by its tokens, total on anything, and linear.

Bytes are read as latin-1 so that one character of a document is one byte of it; text inside a string is that of its bytes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Leaf", "leaves"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],]|-?\d[\d.eE+-]*', re.DOTALL)
_COLON = re.compile(r"\s*:")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))|[^\\]+", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NEAREST = 12
"""Objects around a text that count: deeper ones are hostile, and time stays linear."""

_MARKS = frozenset({"index", "output_index", "content_index", "summary_index", "item_id"})
"""Members that tell the parts of a streamed answer apart."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A string, or a number as it is written."""

    text: str
    places: Sequence[int]
    """Where each character of the text begins in the document, and, one more, where the last one ends."""
    name: str
    """Of the member that it is or stands in."""
    path: tuple[str, ...]
    """Names and marks around it: the same in two events of one stream where they go on with one text."""
    is_number: bool = False
    sealed: bool = False
    """Beside members that say that this is no text."""


@dataclass(slots=True)
class _Frame:
    name: str
    is_list: bool
    spot: str = ""
    """Its position in a list."""
    member: str = ""
    at: int = 0
    marks: dict[str, str] = field(default_factory=dict)
    found: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(member, position, start, end) of the strings and numbers right in it; the quotes are part of a string."""


def leaves(document: str, start: int, end: int) -> Iterator[Leaf]:
    """Of one JSON text that stands between these places; member names are leaves too."""
    stack = [_Frame("", is_list=True)]
    for token in _TOKEN.finditer(document, start, end):
        mark, top = token[0], stack[-1]
        if mark in "{[":
            name, spot = (top.name, str(top.at)) if top.is_list else (top.member, "")
            stack.append(_Frame(name, mark == "[", spot))
        elif mark in "}]":
            if len(stack) > 1:
                yield from _close(document, stack)
        elif mark == ",":
            top.at += 1
        elif mark[0] == '"' and not top.is_list and _COLON.match(document, token.end()):
            top.member = mark.strip('"')
            top.found.append(("", top.at, *token.span()))
        else:
            top.found.append((top.name if top.is_list else top.member, top.at, *token.span()))
            if not top.is_list:
                top.marks[top.member] = mark
    while stack:
        yield from _close(document, stack)


def _close(document: str, stack: list[_Frame]) -> Iterator[Leaf]:
    done = stack.pop()
    if not done.found:
        return
    around = [*stack[:2], *stack[max(2, len(stack) - _NEAREST) :], done]
    path = tuple(_step(frame, top=at == 1) for at, frame in enumerate(around))
    sealed = done.marks.get("type") == '"redacted_thinking"' or bool(
        {"media_type", "mimeType", "mime_type"} & done.marks.keys()
    )
    for name, at, start, end in done.found:
        quoted = document[start] == '"'
        places = _places(document, start + 1, end - document.endswith('"', start + 1, end)) if quoted else range(start, end + 1)
        text = _unescaped(document, places) if quoted else document[start:end]
        where = (*path, str(at) if done.is_list else "", name)
        yield Leaf(text, places, name, where, is_number=not quoted, sealed=sealed and name == "data")


def _step(frame: _Frame, *, top: bool) -> str:
    marks = [f"{name}={value}" for name, value in sorted(frame.marks.items()) if name in _MARKS]
    kind = frame.marks.get("type", "") if top else ""
    return " ".join([frame.name, kind, *(marks or [frame.spot])])


def _places(document: str, start: int, end: int) -> Sequence[int]:
    if "\\" not in document[start:end]:
        return range(start, end + 1)
    found: list[int] = []
    for piece in _ESCAPE.finditer(document, start, end):
        if piece[0][0] == "\\":
            found += [piece.start()] * len(_character(piece))
        else:
            found += range(*piece.span())
    return [*found, end]


def _unescaped(document: str, places: Sequence[int]) -> str:
    if isinstance(places, range):
        return document[places[0] : places[-1]]
    pieces = _ESCAPE.finditer(document, places[0], places[-1])
    return "".join(_character(piece) if piece[0][0] == "\\" else piece[0] for piece in pieces)


def _character(escape: re.Match[str]) -> str:
    """What an escape stands for, as the latin-1 reading of its UTF-8."""
    if escape[1]:
        return chr(int(escape[1], 16)).encode("utf-8", "surrogatepass").decode("latin-1")
    return _PLAIN.get(escape[2] or "", escape[2] or "")
