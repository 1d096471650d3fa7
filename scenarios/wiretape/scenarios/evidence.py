"""A recording opened for reading, with the scenario that lies beside it: what show, diff, check and run look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wiretape.replay.matcher import Entry, Match, Matcher
from wiretape.scenarios.files import load_scenario
from wiretape.scenarios.golden import locate
from wiretape.scenarios.model import Scenario
from wiretape.traces.assemble import AgentEvent, assemble
from wiretape.traces.errors import UsageError
from wiretape.traces.settings import Level, MatchSettings, TraceSettings
from wiretape.traces.store import Store
from wiretape.traces.types import End, Exchange, RecordingInfo, Trace

__all__ = ["Evidence", "load"]


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
        return tuple(fault for key in whole if (fault := self._lost(matcher, key.seq, key.session)))

    def _lost(self, matcher: Matcher, seq: int, session: str) -> str | None:
        exchange = self.exchange(seq)
        found = matcher.find(exchange.request, session)
        if isinstance(found, Match) and found.exchange.seq == seq:
            return None
        return f"exchange {seq} ({exchange.request.method} {exchange.request.url}) does not find itself"


@contextmanager
def load(recording: str, scenario: Scenario | None = None) -> Iterator[Evidence]:
    """Open what a RECORDING argument names. UsageError where it is not there, StoreError where it cannot be read."""
    path, name = locate(recording)
    beside = path.with_suffix(".yaml")
    if scenario is None and beside.exists():
        scenario = load_scenario(beside)
    with Store.open(path) as store:
        info, session = store.choose(name)
        yield Evidence(path, store, info, session, scenario.trace_settings() if scenario else TraceSettings())
