"""A recording opened for reading, with the scenario that lies beside it: what show, diff, check and run look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wiretape.replay.matcher import Entry, Match, Matcher
from wiretape.scenarios.files import load_scenario
from wiretape.scenarios.golden import RECORDINGS, beside, locate
from wiretape.scenarios.model import Scenario
from wiretape.traces.assemble import AgentEvent, assemble
from wiretape.traces.diff import Difference, diff
from wiretape.traces.errors import UsageError
from wiretape.traces.expense import Note, notes
from wiretape.traces.settings import Level, MatchSettings, TraceSettings
from wiretape.traces.store import Store
from wiretape.traces.types import End, Exchange, ExchangeKind, RecordingInfo, Trace

__all__ = ["Evidence", "compared", "load"]


class Evidence:
    """One recording in an open store. The trace is assembled anew each time it is asked for."""

    def __init__(self, path: Path, store: Store, info: RecordingInfo, session: str | None, settings: TraceSettings) -> None:
        self.path = path
        self.store = store
        self.info = info
        self.session = session
        self.settings = settings

    def exchanges(self) -> Iterator[Exchange]:
        return self.store.exchanges(self.info, self.session)

    def exchange(self, seq: int) -> Exchange:
        try:
            return self.store.exchange(self.info, seq)
        except LookupError:
            raise UsageError(f"{self.path}: there is no exchange {seq} in the recording {self.info.name}.") from None

    def trace(self) -> Trace:
        return assemble(self.info, self.exchanges(), self.events(), self.settings)

    def events(self) -> list[AgentEvent]:
        return [event for event in self.store.events(self.info) if self.session in (None, event[1])]

    def digest(self) -> str:
        return self.store.digest(self.info)

    @property
    def redactions(self) -> int:
        """How many secrets were replaced by placeholders."""
        return self.store.redactions(self.info) or 0

    def lost(self) -> tuple[str, ...]:
        """Which exchanges do not find themselves: each request is looked up and must come out as its own exchange."""
        keys = [key for key in self.store.keys(self.info) if key.method != "CONNECT"]
        whole = [key for key in keys if key.end is not End.INTERRUPTED]
        entries = [Entry(key.seq, key.session, key.fingerprint, key.method, key.url) for key in whole]
        matcher = Matcher(entries, self.exchange, MatchSettings(level=Level.CANONICAL))
        exchanges = self.store.exchanges(self.info)
        return tuple(fault for exchange in exchanges if (fault := _lost(matcher, exchange)))

    def interrupted(self) -> tuple[str, ...]:
        """Which exchanges have no end, background traffic left out: replay cannot answer them."""
        return tuple(
            f"{_named(exchange)} was interrupted before its end"
            for exchange in self.exchanges()
            if exchange.end is End.INTERRUPTED and not exchange.noise
        )


_UNKEPT = {
    False: "has no fingerprint, so no request can find it",
    True: "has no fingerprint, since nobody took its body; if it is background traffic, set it aside with --noise HOST",
}


def _lost(matcher: Matcher, exchange: Exchange) -> str | None:
    """A refused CONNECT is no request, and a stdio conversation is not looked up; nor is what was never asked to its end."""
    if exchange.request.method == "CONNECT" or exchange.kind is ExchangeKind.STDIO or exchange.end is End.INTERRUPTED:
        return None
    if exchange.fingerprint is None:
        given_up = exchange.end is End.CLIENT_CLOSED and exchange.timings.request_sent is None
        return None if given_up or exchange.noise else f"{_named(exchange)} {_UNKEPT[exchange.end is End.REFUSED]}"
    found = matcher.find(exchange.request, exchange.session)
    if isinstance(found, Match) and found.exchange.seq == exchange.seq:
        return None
    return f"{_named(exchange)} does not find itself"


def _named(exchange: Exchange) -> str:
    return f"exchange {exchange.seq} ({exchange.request.method} {exchange.request.url})"


@contextmanager
def load(recording: str, scenario: Scenario | None = None, folder: Path = RECORDINGS) -> Iterator[Evidence]:
    """Open what a RECORDING argument names. UsageError where it is not there, StoreError where it cannot be read."""
    path, name = locate(recording, folder)
    beside = path.with_suffix(".yaml")
    if scenario is None and beside.exists():
        scenario = load_scenario(beside)
    with Store.open(path) as store:
        info, session = store.choose(name)
        yield Evidence(path, store, info, session, scenario.trace_settings() if scenario else TraceSettings())


def compared(a: str, b: str, folder: Path = RECORDINGS) -> tuple[tuple[Difference, ...], tuple[Note, ...]]:
    """(the behaviour of B that is another than A's, what it took otherwise).

    A recording without a scenario of its own is read with the other's.
    """
    ours, theirs = (beside(recording, folder)[1] for recording in (a, b))
    with load(a, ours or theirs, folder) as first, load(b, theirs or ours, folder) as second:
        before, now = first.trace(), second.trace()
        return diff(before, now), notes(before, now)
