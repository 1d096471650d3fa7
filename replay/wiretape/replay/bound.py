"""What one live session has bound so far: an attempt to match holds as a whole, or leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wiretape.replay.bindings import NONE, Bindings
from wiretape.replay.paths import NOWHERE, Places
from wiretape.replay.putback import put_into_messages
from wiretape.replay.rebind import Run, Unified, unify, unify_messages
from wiretape.replay.secrets import Secrets
from wiretape.replay.times import Moment
from wiretape.traces.differences import FieldDifference
from wiretape.traces.settings import Level
from wiretape.traces.types import Exchange, Message, Request

__all__ = ["Bound", "Here", "Loose"]


@dataclass(frozen=True, slots=True)
class Here:
    """What is known of the live run."""

    places: Places = NOWHERE
    clock: Callable[[], float] | None = None
    """Seconds since the epoch; None: any time may be now."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A match below canonical, for the report."""

    seq: int
    url: str
    """That was asked."""
    level: Level
    because: tuple[str, ...]
    """The rules and bindings that made it match."""
    drift: tuple[FieldDifference, ...] = ()
    """What the live request says otherwise; only at the level `sequence`."""


class Bound:
    """`loose` is told of each message that matched so."""

    def __init__(self, here: Here, loose: list[Loose]) -> None:
        self._here = here
        self._loose = loose
        self.bindings: Bindings = NONE
        self.secrets = Secrets()

    def tried(self, exchange: Exchange, recorded: Request, live: Request) -> Unified | None:
        """What it takes to make both requests equal; nothing is bound yet."""
        found = unify(recorded, live, self.bindings, self._run(exchange))
        return found if isinstance(found, Unified) else None

    def hears(self, exchange: Exchange, recorded: Message, live: Message) -> bool:
        """Whether both messages can be made equal; binds what that takes."""
        found = unify_messages(recorded, live, self.bindings, self._run(exchange))
        if isinstance(found, str):
            return False
        self.bindings = found.bindings
        self._loose.append(Loose(exchange.seq, exchange.request.url, Level.REBOUND, tuple(map(str, found.used))))
        return True

    def says(self, messages: Sequence[Message]) -> list[Message]:
        return put_into_messages(messages, self.bindings)

    def _run(self, exchange: Exchange) -> Run:
        now = self._here.clock and self._here.clock()
        return Run(Moment(exchange.started_at), None if now is None else Moment(now), self._here.places)
