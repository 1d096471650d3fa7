"""When a name, an argument or a text in a trace is the one that a scenario wrote.

Texts are compared without case unless the scenario says `case: true` (full case folding, so that ß is ss). Tool names are
identifiers that people type from memory, so they follow the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from wiretape.oracles.base import short
from wiretape.traces.types import Json, ToolCall

__all__ = ["contains", "differences", "is_call_of", "same_tool"]

_PREFIXED = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)|(?P<alias>[^.]+)\.(?P<dotted>.+)", re.DOTALL | re.IGNORECASE)
_MISSING = object()


def same_tool(wanted: str, seen: str, *, server: str | None = None, case: bool = False) -> bool:
    """Whether `seen`, a name on the wire, is the tool that `wanted` means.

    The exact name is; so is the name without an MCP prefix (`mcp__files__read` and `files.read` are `read`). A wanted name
    that carries a prefix means that server alone: `files.read` is not `mcp__mail__read`, nor `read` of an unknown server.
    """
    wanted, seen, server = _fold(wanted, case), _fold(seen, case), _fold(server, case) if server else None
    if wanted == seen:
        return True
    seen_server, seen_tool = _split(seen)
    if wanted == seen_tool and seen_server is not None:
        return True
    wanted_server, wanted_tool = _split(wanted)
    return wanted_server is not None and (wanted_server, wanted_tool) in {(seen_server, seen_tool), (server, seen)}


def is_call_of(wanted: str, call: ToolCall, *, case: bool = False) -> bool:
    return same_tool(wanted, call.tool, server=call.server, case=case)


def contains(text: str, part: str, *, case: bool = False) -> bool:
    return _fold(part, case) in _fold(text, case)


def differences(wanted: dict[str, Json], arguments: Json, *, case: bool = False) -> Iterator[str]:
    """One sentence for each path of `wanted` whose value in `arguments` is not equal; none: they match.

    A key is an argument's name or a dotted path (`items.0.sku`); objects in `wanted` are paths too, so that arguments which
    it does not mention do not matter. A list is one value: equal as a whole, in order.
    """
    for path, value in _paths(wanted):
        found = _find(arguments, path)
        if found is _MISSING:
            yield f"{'.'.join(path)} is missing"
        elif not _equal(value, found, case):
            yield f"{'.'.join(path)} is {short(found, 80)}"


def _fold(text: str, case: bool) -> str:
    return text if case else text.casefold()


def _split(name: str) -> tuple[str | None, str]:
    match = _PREFIXED.fullmatch(name)
    if match is None:
        return None, name
    return (match["server"], match["tool"]) if match["server"] else (match["alias"], match["dotted"])


def _paths(wanted: dict[str, Json], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    for key, value in wanted.items():
        path = (*before, str(key))
        if isinstance(value, dict) and value:
            yield from _paths(value, path)
        else:
            yield path, value


def _find(arguments: Json, path: tuple[str, ...]) -> Json:
    """The value there, or _MISSING. A whole key wins over a dotted one, since names may hold dots."""
    for key in path:
        inner = _member(arguments, key)
        if inner is _MISSING and "." in key:
            inner = _find(arguments, tuple(key.split(".")))
        if inner is _MISSING:
            return _MISSING
        arguments = inner
    return arguments


def _member(value: Json, key: str) -> Json:
    if isinstance(value, dict):
        return value.get(key, _MISSING)
    if isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return _MISSING


def _equal(wanted: Json, found: Json, case: bool) -> bool:
    """By value: 1 is 1.0 but not true; a YAML date is its ISO text."""
    if isinstance(wanted, date):
        wanted = wanted.isoformat()
    if isinstance(wanted, str) and isinstance(found, str):
        return _fold(wanted, case) == _fold(found, case)
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(_equal(wanted[key], found[key], case) for key in wanted)
    if isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
        return len(wanted) == len(found) and all(_equal(a, b, case) for a, b in zip(wanted, found, strict=True))
    return bool(wanted == found)
