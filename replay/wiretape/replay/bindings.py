"""Which live value stands for which recorded one: a bijection that only grows, and is put into texts.

Times alone may share a live value: a replay is faster than what it replays, so two recorded seconds may fall into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wiretape.replay.times import in_form_of
from wiretape.replay.tokens import Token, tokens

__all__ = ["NONE", "Binding", "Bindings"]


@dataclass(frozen=True, slots=True)
class Binding:
    kind: str
    """date, id, path, pid, port, time or uuid."""
    recorded: str
    live: str

    def __str__(self) -> str:
        return f"{self.kind} {self.recorded} → {self.live}"


@dataclass(frozen=True, slots=True)
class Bindings:
    _forth: dict[tuple[str, str], str] = field(default_factory=dict)
    _back: dict[tuple[str, str], str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._forth)

    def __iter__(self) -> Iterator[Binding]:
        return (Binding(kind, recorded, live) for (kind, recorded), live in self._forth.items())

    def live(self, kind: str, recorded: str) -> str | None:
        return self._forth.get((kind, recorded))

    def agrees(self, binding: Binding) -> bool:
        """Neither of its values stands for another one."""
        there = self._forth.get((binding.kind, binding.recorded), binding.live) == binding.live
        return there and (binding.kind == "time" or self._stands(binding.kind, binding.live, binding.recorded))

    def _stands(self, kind: str, live: str, recorded: str) -> bool:
        return self._back.get((kind, live), recorded) == recorded

    def knows(self, binding: Binding) -> bool:
        return self._forth.get((binding.kind, binding.recorded)) == binding.live

    def plus(self, more: Iterable[Binding]) -> Bindings:
        """`more` agree with these and with one another."""
        forth, back = dict(self._forth), dict(self._back)
        for each in more:
            forth[each.kind, each.recorded] = each.live
            back.setdefault((each.kind, each.live), each.recorded)
        return Bindings(forth, back)

    def inverse(self) -> Bindings:
        """From live values to recorded ones."""
        return Bindings(dict(self._back), dict(self._forth))

    def directory(self, path: str) -> tuple[str, str] | None:
        """(recorded, live) of the longest bound directory that this path is or lies in."""
        known = ((recorded, live) for (kind, recorded), live in self._forth.items() if kind == "path")
        return max(
            (pair for pair in known if f"{path}/".startswith(f"{pair[0]}/")), key=lambda pair: len(pair[0]), default=None
        )

    def replacements(self, text: str) -> Iterator[tuple[int, int, str]]:
        """(start, end, live text) of each whole token of `text` that is bound."""
        if not self._forth:
            return
        for token in tokens(text, self._bound):
            yield self._replacement(text, token)

    def _bound(self, token: Token) -> bool:
        return bool(self.directory(token.value)) if token.kind == "path" else (token.kind, token.value) in self._forth

    def _replacement(self, text: str, token: Token) -> tuple[int, int, str]:
        if token.kind == "path" and (found := self.directory(token.value)):
            return token.start, token.start + len(found[0]), found[1]
        live = self._forth[token.kind, token.value]
        return token.start, token.end, in_form_of(text[token.start : token.end], live) if token.kind == "date" else live


NONE = Bindings()
