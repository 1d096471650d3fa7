"""A recorded socket told again, turn by turn. Pure: the client's messages in, what is due or a miss out; no clock, no sockets.

What the server said first is due at once. Each message of the client must say what the recorded next one says, and makes due
what the server said up to the one after it. Pings and pongs are no part of it.
"""

from __future__ import annotations

from collections.abc import Callable

from wiretape.replay.bound import Bound, Here
from wiretape.replay.miss import Miss, Reason
from wiretape.traces.differences import FieldDifference, differences
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.settings import Level
from wiretape.traces.types import End, Exchange, Message, Request

__all__ = ["Choose", "Conversation", "closeness", "message_differences", "opening", "server_waits"]

type Choose = Callable[[Message | None], Exchange | Miss]
"""Which recorded socket is meant, by the client's first message; None where it left without one."""

_CONTROL = ("ping", "pong")
_CLIENT_ENDED = (End.CLIENT_CLOSED, End.INTERRUPTED)


class Conversation:
    """`choose` settles by the client's first message which socket this is; without it, it is `exchange`."""

    def __init__(
        self,
        exchange: Exchange,
        loosest: Level,
        pace: float = 0.0,
        choose: Choose | None = None,
        bound: Bound | None = None,
    ) -> None:
        self._loosest = loosest
        self._bound = bound or Bound(Here(), [])
        self._pace = pace
        self._choose = choose
        self._heard = 0
        self._tell(exchange)

    def _tell(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self._script = _spoken(exchange)
        self._next = 0
        self._clock = exchange.timings.first_byte or 0
        """When the last thing happened in the recording, in microseconds."""

    @property
    def settled(self) -> bool:
        """It is known which recorded socket this is."""
        return self._choose is None

    @property
    def over(self) -> bool:
        """Neither side said anything more."""
        return self._next == len(self._script)

    def due(self) -> tuple[tuple[float, Message], ...]:
        """(seconds to wait before it, message) of what the server says now; a close is the last."""
        found: list[tuple[float, Message]] = []
        while not self.over and self._script[self._next].sender == "server":
            found.append(self._step())
        said = self._bound.says([message for _, message in found])
        return tuple((wait, message) for (wait, _), message in zip(found, said, strict=True))

    def until_end(self) -> float:
        """Seconds from the last message to the recorded end."""
        ended = self.exchange.timings.ended
        return 0.0 if ended is None else self._pace * max(ended - self._clock, 0) / 1e6

    def hear(self, live: Message) -> Level | Miss:
        """How closely it is what the client said next. `live` has been redacted as the recorded ones were."""
        self._heard += 1
        if self._choose:
            found = self._choose(live)
            if isinstance(found, Miss):
                return self._missed(found)
            self._choose = None
            self._tell(found)
        if self.over or self._script[self._next].type == "close":
            return self._missed(Miss(Reason.OVER, self.exchange.seq, (), self._said))
        if self._next == len(self._script) - 1 and self.exchange.end is End.INTERRUPTED:
            return self._missed(Miss(Reason.INTERRUPTED, self.exchange.seq, (), self._said))
        expected = self._script[self._next]
        level = closeness(expected, live, self._loosest) or self._rebound(expected, live)
        if level is None:
            differing = message_differences(expected, live)
            return self._missed(Miss(Reason.UNKNOWN, self.exchange.seq, differing, 0, number=self._heard))
        self._step()
        return level

    def _rebound(self, expected: Message, live: Message) -> Level | None:
        allowed = self._loosest.looseness >= Level.REBOUND.looseness
        return Level.REBOUND if allowed and self._bound.hears(self.exchange, expected, live) else None

    def goodbye(self, live: Message) -> Message:
        """What the server answers to the client's close: what it answered then, else the same."""
        self.leave()
        rest = self._script[self._next :]
        if rest and rest[0].type == "close":
            recorded = next((each for each in rest if each.sender == "server" and each.type == "close"), None)
            if recorded:
                return recorded
        return Message(live.at, "server", "close", live.data, live.code)

    def leave(self) -> None:
        """The client ends it, perhaps without having said a word."""
        if self._choose:
            found = self._choose(None)
            self._choose = None
            if isinstance(found, Exchange):
                self._tell(found)

    @property
    def _said(self) -> int:
        return sum(1 for each in self._script if each.sender == "client" and each.type != "close")

    def _step(self) -> tuple[float, Message]:
        message = self._script[self._next]
        wait = self._pace * max(message.at - self._clock, 0) / 1e6
        self._next, self._clock = self._next + 1, message.at
        return wait, message

    def _missed(self, miss: Miss) -> Miss:
        return miss.on(f"message {self._heard} on {self.exchange.request.url}")


def server_waits(exchange: Exchange) -> bool:
    """Whether it was the client's turn first."""
    script = _spoken(exchange)
    return script[0].sender == "client" if script else exchange.end in _CLIENT_ENDED


def opening(exchange: Exchange) -> Message | None:
    """The client's first message; None where it said nothing."""
    script = _spoken(exchange)
    return script[0] if script and script[0].type != "close" else None


def closeness(recorded: Message, live: Message, loosest: Level) -> Level | None:
    """EXACT or CANONICAL; None where they say different things, or are not allowed to be so loosely alike."""
    old, new = fingerprint(_as_request(recorded)), fingerprint(_as_request(live))
    if old.exact == new.exact:
        return Level.EXACT
    allowed = loosest.looseness >= Level.CANONICAL.looseness
    return Level.CANONICAL if allowed and old.canonical == new.canonical else None


def message_differences(recorded: Message, live: Message) -> tuple[FieldDifference, ...]:
    return differences(_as_request(recorded), _as_request(live))


def _spoken(exchange: Exchange) -> tuple[Message, ...]:
    return tuple(each for each in exchange.messages if each.type not in _CONTROL)


def _as_request(message: Message) -> Request:
    """Messages have the same one identity as requests; text is never equal to binary."""
    return Request(message.type, "message://", (), message.data)
