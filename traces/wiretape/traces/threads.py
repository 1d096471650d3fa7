"""Which conversation each model call belongs to, and what its history holds that the conversation had not held before.

A call is linked, in this order: by the response or conversation that it names; by the ids of tool calls that a conversation
asked for; by the longest history of an earlier call that its own begins with; by elements that only one conversation produced
(a history that was compacted or had its beginning dropped). Else it begins a conversation.

Histories are paths in a tree of digests, so that a run of n turns costs what its histories are long, not their square. A
history that lives on the provider's side (`previous_id`) goes on below the node of the call that it continues.

Two calls with the same history are one conversation (asked again) only where the same agent asks, told by its tools and system
prompt: title generators are given the very message that the agent is given. A history that goes on with what a call answered
belongs to it whoever asks: agents hand conversations over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiretape.traces.types import ModelView, Said

__all__ = ["Place", "Threads"]


@dataclass(frozen=True, slots=True)
class Place:
    thread: int
    """From 1, in order of appearance."""
    new: tuple[int, ...]
    """Which elements of the history the conversation had not held before."""
    repeats: tuple[int, ...] = ()
    """The earlier calls, by the number given for each, that had the very same history: this one is a retry of them."""


@dataclass(frozen=True, slots=True)
class _Member:
    """What is remembered of a call: its ends in the tree, who asked, and what it answered."""

    thread: int
    number: int
    start: int
    node: int
    system: str | None
    tools: frozenset[str]
    text: str | None
    asked: frozenset[str]
    whole: bool


class Threads:
    def __init__(self) -> None:
        self._children: dict[tuple[int, str], int] = {}
        self._members: dict[int, list[_Member]] = {}
        self._responses: dict[tuple[str, str], _Member] = {}
        self._conversations: dict[tuple[str, str], _Member] = {}
        self._askers: dict[tuple[str, str], set[int]] = {}
        self._produced: dict[tuple[str, str], int] = {}
        self._seen: list[set[str]] = []
        self._last: list[str] = []

    def place(self, view: ModelView, *, number: int, session: str, whole: bool) -> Place:
        """`number` names the call in the `repeats` of later ones; `whole` is whether its answer came completely."""
        root = self._child(0, session)
        parent = self._named(view, session)
        start = self._below(parent, view) if parent else root
        path = [start]
        for said in view.said:
            path.append(self._child(path[-1], said.digest))
        thread = self._thread(view, session, parent, path)
        known = thread is not None
        if thread is None:
            self._seen.append(set())
            self._last.append("")
            thread = len(self._seen)
        new = tuple(self._new(view.said, thread, path, rooted=start == root)) if known else tuple(range(len(view.said)))
        repeats = tuple(each.number for each in self._members.get(path[-1], ()) if each.thread == thread)
        self._remember(_member(view, thread, number, path, whole), view, session)
        self._hold(view.said, new, thread, session, produced=known)
        return Place(thread, new, repeats)

    # which thread

    def _thread(self, view: ModelView, session: str, parent: _Member | None, path: list[int]) -> int | None:
        if parent:
            return parent.thread
        by_call = self._by_call(view.said, session)
        return by_call or self._by_history(view, path) or self._by_product(view.said, session)

    def _named(self, view: ModelView, session: str) -> _Member | None:
        """The call that this one says it continues."""
        if view.previous_id and (member := self._responses.get((session, view.previous_id))):
            return member
        return self._conversations.get((session, view.conversation_id)) if view.conversation_id else None

    def _below(self, parent: _Member, view: ModelView) -> int:
        """Where the history of its successor begins: a call that failed left nothing in the conversation."""
        if view.previous_id or parent.whole:
            return self._child(parent.node, "\0answer")
        return parent.start

    def _by_call(self, said: tuple[Said, ...], session: str) -> int | None:
        """Ids that several conversations used (`call_0`) tell nothing."""
        for call_id in _call_ids(said):
            threads = self._askers.get((session, call_id), ())
            if len(threads) == 1:
                return next(iter(threads))
        return None

    def _by_history(self, view: ModelView, path: list[int]) -> int | None:
        for depth in range(len(path) - 1, 0, -1):
            after = view.said[depth] if depth < len(view.said) else None
            fitting = [each for each in self._members.get(path[depth], ()) if _accepts(each, view, after)]
            if fitting:
                return max(fitting, key=lambda each: _closeness(each, view, after)).thread
        return None

    def _by_product(self, said: tuple[Said, ...], session: str) -> int | None:
        found = (self._produced.get((session, each.digest)) for each in reversed(said) if each.role != "user")
        return next((thread for thread in found if thread), None)

    # what is new in it

    def _new(self, said: tuple[Said, ...], thread: int, path: list[int], *, rooted: bool) -> Iterator[int]:
        """What follows the longest history of the thread that this one begins with; else what the thread never held."""
        for depth in range(len(path) - 1, -1, -1):
            if any(each.thread == thread for each in self._members.get(path[depth], ())):
                yield from range(depth, len(said))
                return
        seen, last = self._seen[thread - 1], self._last[thread - 1]
        for place, each in enumerate(said):
            spoken = place == len(said) - 1 and each.role == "user" and each.digest != last
            if not rooted or spoken or each.digest not in seen:
                yield place

    # memory

    def _child(self, node: int, name: str) -> int:
        return self._children.setdefault((node, name), len(self._children) + 1)

    def _remember(self, member: _Member, view: ModelView, session: str) -> None:
        self._members.setdefault(member.node, []).append(member)
        if view.response_id:
            self._responses[session, view.response_id] = member
        if view.conversation_id:
            self._conversations[session, view.conversation_id] = member
        for call_id in member.asked:
            self._askers.setdefault((session, call_id), set()).add(member.thread)

    def _hold(self, said: tuple[Said, ...], new: tuple[int, ...], thread: int, session: str, *, produced: bool) -> None:
        self._seen[thread - 1].update(said[place].digest for place in new)
        if said:
            self._last[thread - 1] = said[-1].digest
        if produced:
            self._produced |= {(session, said[at].digest): thread for at in new if said[at].role != "user"}


def _member(view: ModelView, thread: int, number: int, path: list[int], whole: bool) -> _Member:
    return _Member(
        thread=thread,
        number=number,
        start=path[0],
        node=path[-1],
        system=view.system_digest,
        tools=frozenset(tool.name for tool in view.tools),
        text=view.text,
        asked=frozenset(call.call_id for call in view.asked if call.call_id),
        whole=whole,
    )


def _call_ids(said: tuple[Said, ...]) -> Iterator[str]:
    """The latest first."""
    for element in reversed(said):
        ids = (*(call.call_id for call in element.asked), *(result.call_id for result in element.handed))
        yield from (each for each in ids if each)


def _accepts(member: _Member, view: ModelView, after: Said | None) -> bool:
    """Whether a history that begins with the member's own belongs to the same conversation; `after` is what follows."""
    tools = member.tools == frozenset(tool.name for tool in view.tools)
    if after is None or after.role == "user":
        # Asked again, or spoken to again before it answered. After a failure the prompt may have been made anew (a time in it).
        return tools and (member.system == view.system_digest or not member.whole)
    return tools or _answered(member, after)


def _closeness(member: _Member, view: ModelView, after: Said | None) -> tuple[bool, bool, int]:
    return after is not None and _answered(member, after), member.system == view.system_digest, member.number


def _answered(member: _Member, said: Said) -> bool:
    return bool(member.text and member.text == said.text) or any(call.call_id in member.asked for call in said.asked)
