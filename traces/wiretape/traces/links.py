"""Which execution and which result belong to which tool call: a call is one thing, seen in up to three places.

By the call's id; else by the tool's name under its aliases, its arguments, and time: an execution belongs to a call that was
asked before it and has no result yet, of several to one of the latest model call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from wiretape.traces.jsontext import compact
from wiretape.traces.types import Asked, Handed, Json

__all__ = ["Call", "Calls", "Execution", "alias", "means"]


@dataclass(eq=False, slots=True)
class Call:
    """A tool call in the making: what is learned of it later changes it in place."""

    tool: str
    session: str
    exchange: int
    """Where it was asked, or executed if nobody asked; 0 where no exchange shows it."""
    call_id: str | None = None
    arguments: Json = None
    arguments_text: str = ""
    thread: int | None = None
    state: Literal["asked", "executed", "denied"] = "asked"
    server: str | None = None
    executed_as: str | None = None
    """The tool's own name where it was executed."""
    executed_in: int | None = None
    mocked: str | None = None
    answered: bool = False
    """Its result is a step already, seen on the wire or in a prompt."""
    handed: bool = False
    """The agent handed its result back to the model."""

    def goes_by(self, name: str) -> bool:
        """Whether `name`, as a scenario writes it, means this tool."""
        return means(name, self.tool) or (self.executed_as is not None and means(name, self.executed_as))

    def is_of(self, tool: str, servers: tuple[str, ...]) -> bool:
        """Whether it is a call of `tool` as a server with these names declared it."""
        if self.server is not None:
            return tool == (self.executed_as or self.tool) and self.server in servers
        return alias(self.tool, tool, servers) == _OWN_NAME


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool that was seen at work."""

    session: str
    exchange: int
    tool: str
    arguments: Json = None
    servers: tuple[str, ...] = ()
    """The names that its server goes by."""
    ids: frozenset[str] = frozenset()
    """Texts beside its arguments among which the id of its call may be."""


class Calls:
    def __init__(self) -> None:
        self._all: dict[str, list[Call]] = {}
        self._open: dict[str, list[Call]] = {}
        self._ids: dict[tuple[str, str], list[Call]] = {}
        self._shapes: set[tuple[str, str, str]] = set()

    def add(self, call: Call) -> None:
        self._all.setdefault(call.session, []).append(call)
        self._open.setdefault(call.session, []).append(call)
        self._shapes.add((call.session, _fold(call.tool), compact(call.arguments)))
        if call.call_id:
            self._ids.setdefault((call.session, call.call_id), []).append(call)

    def holds(self, asked: Asked, session: str) -> bool:
        """Whether the call that a history shows was seen being asked for (clients may give it another id)."""
        known = bool(asked.call_id) and (session, asked.call_id) in self._ids
        return known or (session, _fold(asked.tool), compact(asked.arguments)) in self._shapes

    def executed(self, by: Execution) -> Call | None:
        """The call that this execution carries out; None where nobody asked for it."""
        waiting = self._waiting(by.session)
        named = [call for call in waiting if call.call_id in by.ids]
        if named:
            return named[-1]
        fits = [(call, alias(call.tool, by.tool, by.servers), _agreement(call, by.arguments)) for call in waiting]
        equal = [fit for fit in fits if fit[1] and fit[2] >= _EQUAL_BUT_NULLS]
        if equal:
            return max(equal, key=lambda fit: (fit[0].exchange, fit[2], fit[1]))[0]
        more = [call for call, name, agreement in fits if name == _OWN_NAME and agreement == _AND_MORE]
        return more[0] if len(more) == 1 else None

    def certainly_executed(self, by: Execution, spelled: dict[str, str] | None) -> Call | None:
        """The call that plain HTTP carries out: by id, or under the tool's own name with its very arguments.

        `spelled`: the arguments as texts, where the request spells them in its query.
        """
        waiting = self._waiting(by.session)
        named = [call for call in waiting if call.call_id in by.ids]
        fits = [call for call in waiting if _fold(call.tool) == _fold(by.tool) and _is_spelled(call, by.arguments, spelled)]
        found = named[-1:] or sorted(fits, key=lambda call: -call.exchange)
        return found[0] if found else None

    def handed_back(self, result: Handed, asked: Asked | None, *, thread: int, session: str) -> Call | None:
        """The call whose result this is. `asked`: the call as the history shows it, where the result's id leads to one."""
        named = self._ids.get((session, result.call_id), []) if result.call_id else []
        if named:
            return max(named, key=lambda call: (call.thread == thread, not call.handed, call.exchange))
        tool = result.tool or (asked.tool if asked else None)
        for call in self._all.get(session, []):
            if call.handed or call.thread not in (thread, None):
                continue
            if asked and alias(asked.tool, call.tool) and _agreement(call, asked.arguments) >= _EQUAL_BUT_NULLS:
                return call
            if result.call_id is None and asked is None and (tool is None or tool == call.tool):
                return call
        return None

    def decided(self, tool: str | None, call_id: str | None, session: str) -> Call | None:
        """The call that somebody decides on: by its id, else the latest of that tool without a result."""
        named = self._ids.get((session, call_id), []) if call_id else []
        if named:
            return named[-1]
        fits = [call for call in self._waiting(session) if tool and call.goes_by(tool)]
        return fits[-1] if fits else None

    def _waiting(self, session: str) -> list[Call]:
        """Calls without a result, the earliest first."""
        self._open[session] = [call for call in self._open.get(session, []) if not (call.answered or call.handed)]
        return self._open[session]


_OWN_NAME, _SUFFIX = 2, 1
_EQUAL, _EQUAL_BUT_NULLS, _AND_MORE = 3, 2, 1


def alias(asked: str, tool: str, servers: Iterable[str] = ()) -> int:
    """How surely `asked`, the name that the model was offered, is `tool` of one of `servers`: 2, 1 (by its ending), 0.

    Clients join server and tool in their own ways (`mcp__files__read`, `files_read`, `files.read`), and providers allow few
    characters in names, so everything else counts as an underscore.
    """
    name, own = _fold(asked), _fold(tool)
    joined = (f"{before}{_fold(server)}_{own}" for server in servers for before in ("", "mcp_"))
    if name == own or name in joined:
        return _OWN_NAME
    return _SUFFIX if name.endswith(f"_{own}") else 0


def means(wanted: str, tool: str) -> bool:
    """Whether a scenario that says `wanted` means this tool: by its name, or the name behind the prefix `mcp__server__`."""
    name, own = _fold(tool), _fold(wanted)
    return name == own or (name.startswith("mcp_") and name.endswith(f"_{own}"))


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name).strip("_").casefold()


def _agreement(call: Call, arguments: Json) -> int:
    """How well executed arguments fit the asked ones: clients leave out nulls and fill in defaults."""
    if call.arguments is None and call.arguments_text.strip():
        return 0
    asked, used = call.arguments or {}, arguments or {}
    if compact(asked) == compact(used):
        return _EQUAL
    if not isinstance(asked, dict) or not isinstance(used, dict):
        return 0
    asked, used = _without_nulls(asked), _without_nulls(used)
    if compact(asked) == compact(used):
        return _EQUAL_BUT_NULLS
    kept = {name: value for name, value in used.items() if name in asked}
    return _AND_MORE if compact(asked) == compact(kept) else 0


def _without_nulls(value: dict[str, Json]) -> dict[str, Json]:
    return {name: item for name, item in value.items() if item is not None}


def _is_spelled(call: Call, arguments: Json, spelled: dict[str, str] | None) -> bool:
    if not isinstance(call.arguments, dict):
        return False
    if spelled is None:
        return _agreement(call, arguments) == _EQUAL
    return spelled == {name: value if isinstance(value, str) else compact(value) for name, value in call.arguments.items()}
