"""Where the string values of JSON text stand, found without parsing it whole: total on anything, and linear.

Redaction replaces values where they stand and leaves every other byte as it was; a parser that hands out values alone could
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["StringValue", "string_values"]

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\Z)|[{}\[\],:]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class StringValue:
    """A string that is a member's value, or an element of a list that is one."""

    name: bytes
    """The member's name as it stands, without its quotes."""
    start: int
    end: int
    """The text between the quotes."""
    siblings: frozenset[bytes]
    """The names of the object that it stands in."""
    path: tuple[bytes, ...]
    """The names from the outermost object to it, its own the last; lists count for nothing."""
    inside: _Object

    @property
    def places(self) -> tuple[bytes, ...]:
        """What the members `index`, `output_index` … of the objects around it say, zeros left out; known at the text's end."""
        return tuple(self.inside.places())


_INDEX = re.compile(rb"\s*:\s*(\d+)")


class _Object:
    __slots__ = ("expects_name", "found", "indexes", "is_list", "name", "names", "outer", "path")

    def __init__(self, name: bytes, path: tuple[bytes, ...], outer: _Object | None, *, is_list: bool) -> None:
        self.name = name
        self.path = path
        self.outer = outer
        self.indexes: list[bytes] = []
        self.is_list = is_list
        self.expects_name = not is_list
        self.names: set[bytes] = set()
        self.found: list[tuple[bytes, int, int]] = []

    def places(self) -> Iterator[bytes]:
        if self.outer:
            yield from self.outer.places()
        yield from self.indexes


def string_values(text: bytes, start: int = 0, end: int | None = None) -> Iterator[StringValue]:
    """In no promised order. What is cut off at the end counts as whole."""
    stack = [_Object(b"", (), None, is_list=True)]
    for token in _TOKEN.finditer(text, start, len(text) if end is None else end):
        kind, top = text[token.start() : token.start() + 1], stack[-1]
        if kind == b'"':
            _string(top, text, token.start() + 1, token.end())
        elif kind in b"{[":
            deeper = top.path if top.is_list else (*top.path, top.name)
            stack.append(_Object(top.name, deeper, top, is_list=kind == b"["))
        elif kind in b"}]":
            if len(stack) > 1:
                yield from _values(stack.pop())
        elif kind == b"," and not top.is_list:
            top.expects_name = True
    while stack:
        yield from _values(stack.pop())


def _string(top: _Object, text: bytes, start: int, end: int) -> None:
    closed = end > start and text[end - 1 : end] == b'"'
    end -= closed
    if top.expects_name:
        top.name = text[start:end]
        top.names.add(top.name)
        top.expects_name = False
        if top.name.endswith((b"index", b"Index")) and (found := _INDEX.match(text, end + closed)) and found[1] != b"0":
            top.indexes.append(top.name + found[1])
    elif top.name:
        top.found.append((top.name, start, end))


def _values(done: _Object) -> Iterator[StringValue]:
    siblings = frozenset(done.names)
    for name, start, end in done.found:
        yield StringValue(name, start, end, siblings, done.path if done.is_list else (*done.path, name), done)
