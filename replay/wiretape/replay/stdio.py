"""Recorded conversations over stdio told again. Pure: the client's lines in, the server's lines or a miss out.

Conversations of one server are one stock: a request takes the first recorded one that says the same and was not taken, of the
conversation that this live one stands for, else of the others (a client may start its servers in another order). What the
server said by itself comes after the message of the client that it came after, and what waited for the client's reply waits
again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wiretape.replay.miss import Miss, Reason
from wiretape.replay.rpc import Rpc, with_live_id
from wiretape.traces.differences import FieldDifference, differences
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.settings import Exhausted, Level, MatchSettings
from wiretape.traces.types import End, Exchange, Message, Request

__all__ = ["Due", "Missed", "Stock", "Telling"]

type Due = tuple[tuple[float, bytes], ...]
"""(seconds to wait before it, line) of what the server says."""

_DROPS = (End.UPSTREAM_TRUNCATED, End.UPSTREAM_RESET)


@dataclass(frozen=True, slots=True)
class Missed:
    miss: Miss
    live: bytes
    """The request that gets no answer."""


@dataclass(eq=False)
class _Part:
    """A message of the client and what came of it: the server's messages, and the client's replies that these waited for."""

    exchange: Exchange
    number: int
    """Which of the client's messages in its conversation, from 1; 0 is what the server said before any."""
    message: Message
    rest: list[Message] = field(default_factory=list)
    taken: bool = False


class Stock:
    """The recorded conversations of one server. Live ones share it: each part is taken once."""

    def __init__(self, exchanges: Iterable[Exchange], settings: MatchSettings) -> None:
        self.settings = settings
        self._parts = [part for exchange in exchanges for part in _parts(exchange)]
        self._keyed: dict[str, list[_Part]] = {}
        for part in self._parts:
            if part.number:
                self._keyed.setdefault(self._key(part.message.data), []).append(part)

    def of(self, exchange: Exchange | None) -> list[_Part]:
        return [part for part in self._parts if exchange and part.exchange.seq == exchange.seq]

    def take(self, line: bytes, own: Exchange | None) -> _Part | Miss:
        known = self._keyed.get(self._key(line), [])
        free = [part for part in known if not part.taken]
        if free:
            found = min(free, key=lambda part: own is None or part.exchange.seq != own.seq)
            found.taken = True
            return found
        if known and self.settings.exhausted is Exhausted.REPEAT_LAST:
            return known[-1]
        return Miss(Reason.EXHAUSTED, known[-1].exchange.seq, (), len(known)) if known else self._unlike(line)

    def _key(self, line: bytes) -> str:
        found = fingerprint(_as_request(line))
        return found.exact if self.settings.level is Level.EXACT else found.canonical

    def _unlike(self, line: bytes) -> Miss:
        """The nearest is one of the same method, the first of those that differ least."""
        method = Rpc.of(line).method
        same = [part for part in self._parts if part.number and Rpc.of(part.message.data).method == method]
        compared = [(_differing(part.message.data, line), part) for part in same]
        if not compared:
            return Miss(Reason.UNKNOWN, None, (), 0)
        differing, nearest = min(compared, key=lambda pair: len(pair[0]))
        return Miss(Reason.UNKNOWN, nearest.exchange.seq, differing, 0, number=nearest.number)


@dataclass
class _Said:
    """A part that is being told to a live client."""

    part: _Part
    live: bytes
    """What the live client said."""
    at: int = 0
    """How much of the rest was told."""


class Telling:
    """One live conversation; `own` is the recorded one that it stands for, None where no other was left."""

    def __init__(self, stock: Stock, own: Exchange | None, name: str) -> None:
        self._stock = stock
        self._own = own
        self._name = name
        self._waiting: dict[str, _Said] = {}
        """By the id of the server's request that the client has to reply to."""

    def opening(self) -> Due:
        """What the server says before it hears anything."""
        first = next((part for part in self._stock.of(self._own) if not part.number), None)
        return self._goes_on(_Said(first, b"")) if first else ()

    def hear(self, line: bytes) -> Due | Missed:
        """What is due, or why nothing is. `line` has been redacted as the recorded ones were.

        A notification or a reply that was never recorded asks for nothing and is no miss.
        """
        rpc = Rpc.of(line)
        if rpc.answers:
            return self._replied(line, rpc)
        found = self._stock.take(line, self._own)
        if isinstance(found, Miss):
            return Missed(found.on(f"{rpc.method} of {self._name}"), line) if rpc.asks else ()
        return self._goes_on(_Said(found, line))

    def died(self) -> int | None:
        """The server's exit code where it ended by itself and everything before that was told."""
        if self._own is None or self._own.end not in _DROPS or self._waiting:
            return None
        told = all(part.taken for part in self._stock.of(self._own) if part.number)
        return self.exit_code if told else None

    @property
    def exit_code(self) -> int:
        """As recorded; 0 where nobody knows."""
        messages = self._own.messages if self._own else ()
        return next((each.code or 0 for each in messages if each.sender == "server" and each.type == "close"), 0)

    def _replied(self, line: bytes, rpc: Rpc) -> Due | Missed:
        said = next((self._waiting.pop(each) for each in rpc.answers if each in self._waiting), None)
        if said is None:
            return ()
        recorded = said.part.rest[said.at]
        said.at += 1
        if said.at < len(said.part.rest) and (differing := _differing(recorded.data, line)):
            miss = Miss(Reason.UNKNOWN, said.part.exchange.seq, differing, 0, number=said.part.number)
            return Missed(miss.on(f"a reply to {self._name}"), said.live)
        return self._goes_on(said)

    def _goes_on(self, said: _Said) -> Due:
        """To the end of the part, or to the reply that the server waited for."""
        due: list[tuple[float, bytes]] = []
        part, pace = said.part, self._stock.settings.pace or 0.0
        while said.at < len(part.rest):
            message = part.rest[said.at]
            if message.sender == "client":
                self._waiting |= dict.fromkeys(Rpc.of(message.data).answers, said)
                break
            before = part.rest[said.at - 1] if said.at else part.message
            due.append((pace * max(message.at - before.at, 0) / 1e6, with_live_id(message.data, part.message.data, said.live)))
            said.at += 1
        return tuple(due)


def _parts(exchange: Exchange) -> list[_Part]:
    parts = [_Part(exchange, 0, Message(0, "server", "text"))]
    owners = _Owners()
    for message in exchange.messages:
        if message.type == "close":
            continue
        rpc = Rpc.of(message.data)
        if message.sender == "server":
            part = owners.of_server(rpc, parts[-1])
            part.rest.append(message)
        elif rpc.answers:
            if waited := owners.of_reply(rpc):
                waited.rest.append(message)
        else:
            parts.append(_Part(exchange, len(parts), message))
            owners.asked(rpc, parts[-1])
    return parts


class _Owners:
    """Which message of the client each other message belongs to."""

    def __init__(self) -> None:
        self._open: dict[str, _Part] = {}
        """By the id of a request without an answer, the earliest first."""
        self._tokens: dict[str, _Part] = {}
        self._asks_client: dict[str, _Part] = {}

    def asked(self, rpc: Rpc, part: _Part) -> None:
        self._open |= dict.fromkeys(rpc.asks, part)
        self._tokens |= dict.fromkeys(rpc.tokens, part)

    def of_server(self, rpc: Rpc, latest: _Part) -> _Part:
        """An answer's request; else the one that a progress token names, else the latest that is worked on, else the latest."""
        answered = [part for each in rpc.answers if (part := self._open.pop(each, None))]
        named = [self._tokens[each] for each in rpc.tokens if each in self._tokens]
        part = next(iter([*answered, *named, *reversed(self._open.values()), latest]))
        self._asks_client |= dict.fromkeys(rpc.asks, part)
        return part

    def of_reply(self, rpc: Rpc) -> _Part | None:
        return next((self._asks_client.pop(each) for each in rpc.answers if each in self._asks_client), None)


def _differing(recorded: bytes, live: bytes) -> tuple[FieldDifference, ...]:
    return differences(_as_request(recorded), _as_request(live))


def _as_request(line: bytes) -> Request:
    """Lines have the same one identity as requests."""
    return Request("STDIO", "stdio://", (), line)
