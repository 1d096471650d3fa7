"""Text from recordings made safe to stand in a line-oriented UTF-8 file and to be printed on a terminal.

The way back is unique: a backslash is escaped only where it would read as one of our escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wiretape.traces.jsontext import compact

__all__ = ["block", "line", "name", "value"]

_WIDTH = 100
_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0, delete, C1: line ends, cursor, colours
    "\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, other line ends, writing direction
    "\ud800-\udfff"  # surrogates are not UTF-8
    "\U000e0000-\U000e0fff"  # tags: text that no screen shows
    "]"
    r"|\\(?=u\{)"
)
_PLAIN_NAME = re.compile(r"[\w@/.:~+-]+")


def line(text: str) -> str:
    """On one line whatever is in it; a space at its end is shown, since editors drop it."""
    safe = _UNSAFE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text)
    return f"{safe[:-1]}\\u{{20}}" if safe.endswith(" ") else safe


def name(text: str) -> str:
    """A name as a word of a sentence; in quotes where it is not like one."""
    return line(text if _PLAIN_NAME.fullmatch(text) else compact(text))


def value(content: object) -> str:
    """JSON on one line."""
    return line(compact(content))


def block(text: str) -> Iterator[str]:
    """All of a text, a line each, indented."""
    for each in text.split("\n"):
        first, *more = _wrapped(line(each))
        yield f"  | {first}".rstrip(" ")
        yield from (f"  + {piece}" for piece in more)


def _wrapped(text: str) -> Iterator[str]:
    """Pieces that joined are the text: cut before a space where there is one in the second half, never within an escape."""
    while len(text) > _WIDTH:
        cut = _cut(text)
        yield text[:cut]
        text = text[cut:]
    yield text


def _cut(text: str) -> int:
    space = text.rfind(" ", _WIDTH // 2, _WIDTH)
    if space > 0 and text[space - 1] != " ":
        return space
    escape = text.rfind("\\u{", _WIDTH - 9, _WIDTH)
    return escape if escape > 0 and "}" not in text[escape:_WIDTH] else _WIDTH
