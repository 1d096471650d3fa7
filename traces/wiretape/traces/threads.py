"""Which conversation each model call belongs to: a recording may hold several (sub-agents, hand-offs, title generators).

Calls are linked by response, conversation, then by shared call ids, then by the longest common prefix of their histories. A
history may be sent again whole, continued by id alone, or compacted; so what is new in a call is told by how often an element
was said in its thread before, not by its position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wiretape.traces.types import ModelView, Said

__all__ = ["Thread", "Threads"]


class Thread:
    """One conversation while it is put together."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0
        self.first_user: str | None = None
        self.tools: set[str] = set()
        """Names of all tools that were ever declared in it."""
        self.history: tuple[str, ...] = ()
        """Digests of what the last call sent."""
        self.system: str | None = None
        self.asked: set[str] = set()
        self.responses: set[str] = set()
        self.conversations: set[str] = set()
        self._said: Counter[str] = Counter()

    def take(self, view: ModelView) -> tuple[Said, ...]:
        """Join a call to it; what that call says that was not said before."""
        new = self._new(view)
        self.calls += 1
        self.history = tuple(said.digest for said in view.said)
        self.system = view.system_digest
        self.tools |= {tool.name for tool in view.tools}
        self.asked |= {call.call_id for call in view.asked if call.call_id}
        self.responses |= {view.response_id} if view.response_id else set()
        self.conversations |= {view.conversation_id} if view.conversation_id else set()
        if self.first_user is None:
            self.first_user = next((said.text for said in view.said if said.role == "user" and said.text), None)
        return new

    def _new(self, view: ModelView) -> tuple[Said, ...]:
        if view.previous_id:
            self._said.update(said.digest for said in view.said)
            return view.said
        now: Counter[str] = Counter()
        new = []
        for said in view.said:
            now[said.digest] += 1
            if now[said.digest] > self._said[said.digest]:
                new.append(said)
        self._said |= now
        return tuple(new)


class Threads:
    def __init__(self) -> None:
        self.all: list[Thread] = []

    def of(self, view: ModelView) -> Thread:
        """The thread that a call continues, or a new one."""
        found = self._by_id(view) or self._by_calls(view) or self._by_history(view)
        if found is None:
            found = Thread(len(self.all) + 1)
            self.all.append(found)
        return found

    def main(self, *, declares: str | None = None, said: str | None = None) -> Thread | None:
        """The one that declares a tool; else whose first user message holds a text; else the busiest, earliest first."""
        if declares and (found := next((each for each in self.all if declares in each.tools), None)):
            return found
        if said and (found := next((each for each in self.all if said in (each.first_user or "")), None)):
            return found
        return max(self.all, key=lambda each: (each.calls, -each.number), default=None)

    def _by_id(self, view: ModelView) -> Thread | None:
        return self._last(
            each for each in self.all if view.previous_id in each.responses or view.conversation_id in each.conversations
        )

    def _by_calls(self, view: ModelView) -> Thread | None:
        handed = {result.call_id for said in view.said for result in said.handed if result.call_id}
        shared = [(len(handed & each.asked), each.number, each) for each in self.all if handed & each.asked]
        return max(shared)[2] if shared else None

    def _by_history(self, view: ModelView) -> Thread | None:
        history = tuple(said.digest for said in view.said)
        ranked = [
            (_common(history, each.history), each.number, each) for each in self.all if self._continues(view, history, each)
        ]
        return max(ranked)[2] if ranked else None

    def _continues(self, view: ModelView, history: tuple[str, ...], thread: Thread) -> bool:
        """One shared element may be chance (a title generator reads the same question): then the system prompt decides."""
        common = _common(history, thread.history)
        if view.system_digest == thread.system:
            return common > 0 or history == thread.history
        return common > 1

    def _last(self, found: Iterable[Thread]) -> Thread | None:
        return max(found, key=lambda each: each.number, default=None)


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    return next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
