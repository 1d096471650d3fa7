"""Which recorded exchange answers a live request, or why none does.

Levels are tried from the closest to the loosest that the settings allow. Answers are consumed per live session and full key,
first in first out by the start of the recorded request. Content decides; order only breaks ties. Nothing is ever served for
a request whose content differs, but at the level `sequence` where drift is allowed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from urllib.parse import urlsplit

from wiretape.replay.bindings import NONE, Binding, Bindings
from wiretape.replay.bound import Bound, Here, Loose
from wiretape.replay.conversation import Conversation, closeness, message_differences, opening, server_waits
from wiretape.replay.loosely import Loosely, position, url_shape
from wiretape.replay.miss import Miss, Reason
from wiretape.replay.putback import put_into_request
from wiretape.replay.rpc import courtesy
from wiretape.traces.canonical import url_place
from wiretape.traces.differences import FieldDifference, differences
from wiretape.traces.fingerprint import Fingerprint, fingerprint
from wiretape.traces.settings import Exhausted, Level, MatchSettings
from wiretape.traces.types import Exchange, Message, Request

__all__ = ["Entry", "Loose", "Match", "Matcher", "Miss"]

_CANDIDATES = 40
"""How many recorded requests are compared to find the nearest one of a miss: bounded, whatever the size of the recording."""

_TRIED = 100
"""How many are tried below canonical, those that are due first."""

_COMPARED = 200
"""Differences that are counted of each."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded request, without its bodies."""

    seq: int
    session: str
    fingerprint: Fingerprint
    method: str
    url: str
    servable: bool = True
    noise: bool = False
    """Background traffic: served where it is asked for, and nobody is expected to."""


@dataclass(frozen=True, slots=True)
class Match:
    exchange: Exchange
    level: Level
    again: bool = False
    """It was given before, and no other was left."""
    bindings: Bindings = NONE
    """What has to be put into the answer."""


type _Keyed = dict[str, list[Entry]]


class Matcher:
    """Used by one loop: each `find` is atomic. `load` gives an entry's exchange with its bodies."""

    def __init__(
        self,
        entries: Iterable[Entry],
        load: Callable[[int], Exchange],
        settings: MatchSettings,
        here: Here = Here(),  # noqa: B008 - a frozen value
    ) -> None:
        self._load = load
        self._settings = settings
        self._loosely = Loosely(load, settings)
        self.loose: list[Loose] = []
        """What matched below canonical, messages on sockets too."""
        self._bound: dict[str, Bound] = defaultdict(partial(Bound, here, self.loose))
        """Live session → what it has bound."""
        self._entries = sorted(entries, key=lambda entry: entry.seq)
        self._levels: dict[Level, tuple[Callable[[Fingerprint], str], _Keyed]] = {
            Level.EXACT: (_exact, _keyed(self._entries, _exact)),
            Level.CANONICAL: (_canonical, _keyed(self._entries, _canonical)),
        }
        self._shapes: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in self._entries:
            self._shapes[entry.method, url_shape(entry.url)].append(entry)
        self._used: dict[str, set[int]] = defaultdict(set)
        """Live session → the exchanges that it was given."""
        self._held: dict[str, set[int]] = defaultdict(set)
        """Of these, the sockets whose client has not spoken yet: which is whose will be told by its first message."""

    def find(self, request: Request, session: str = "") -> Match | Miss:
        """`request` has been redacted as the recorded ones were."""
        key, known, secrets = fingerprint(request), list[Entry](), self._bound[session].secrets
        for level, (of, keyed) in self._levels.items():
            if level.looseness > self._settings.level.looseness:
                break
            recorded = [entry for entry in keyed.get(of(key), []) if secrets.fit(key.secrets, entry.fingerprint.secrets)]
            known = known or recorded
            if entry := self._next(recorded, session):
                secrets.bind(key.secrets, entry.fingerprint.secrets)
                return self._given(entry.seq, level, session)
        found = self._repeated(known, key, session) if known else self._found_loosely(request, session)
        return found.on(f"{request.method} {request.url}") if isinstance(found, Miss) else found

    def _given(self, seq: int, level: Level, session: str) -> Match:
        self._used[session].add(seq)
        return Match(self._load(seq), level, bindings=self._bound[session].bindings)

    def _repeated(self, known: list[Entry], key: Fingerprint, session: str) -> Match | Miss:
        """All its answers were given."""
        if self._settings.exhausted is Exhausted.REPEAT_LAST and (last := _last(known)):
            level = Level.EXACT if _exact(last.fingerprint) == key.exact else Level.CANONICAL
            return Match(self._load(last.seq), level, again=True, bindings=self._bound[session].bindings)
        return self._exhausted(known, session)

    def bindings(self) -> tuple[Binding, ...]:
        """Of all sessions, each once; what stands for itself is none."""
        found = (each for bound in self._bound.values() for each in bound.bindings if each.recorded != each.live)
        return tuple(dict.fromkeys(found))

    def recorded(self, request: Request) -> Iterator[Exchange]:
        """All exchanges of its method and place, whoever was given them."""
        for entry in self._shapes.get((request.method, url_shape(request.url)), []):
            if url_place(entry.url) == url_place(request.url):
                yield self._load(entry.seq)

    def unused(self) -> tuple[int, ...]:
        """The recorded exchanges that no session was given, background traffic left out."""
        used = set[int]().union(*(given - self._held[session] for session, given in self._used.items()))
        return tuple(entry.seq for entry in self._entries if entry.seq not in used and not entry.noise)

    def _next(self, recorded: list[Entry], session: str) -> Entry | None:
        """The first that this session was not given: of the recorded session of its name, else of all."""
        free = [entry for entry in recorded if entry.servable and entry.seq not in self._used[session]]
        return min(free, key=lambda entry: entry.session != session, default=None)

    # below canonical

    def _found_loosely(self, request: Request, session: str) -> Match | Miss:
        bound, used = self._bound[session], self._used[session]
        same = [entry for entry in self._shapes.get((request.method, url_shape(request.url)), []) if entry.servable]
        free = sorted((entry for entry in same if entry.seq not in used), key=lambda entry: entry.session != session)
        if alike := self._loosely.find((entry.seq for entry in free[:_TRIED]), request, bound):
            bound.bindings = alike.bindings
            bound.secrets.bind(*alike.secrets)
            self.loose.append(Loose(alike.exchange.seq, request.url, alike.level, alike.because))
            return self._given(alike.exchange.seq, alike.level, session)
        given = [entry.seq for entry in reversed(same) if entry.seq in used][:_TRIED]
        if again := self._loosely.find(given, request, bound):
            if self._settings.exhausted is Exhausted.REPEAT_LAST:
                bound.bindings = again.bindings
                return Match(again.exchange, again.level, again=True, bindings=again.bindings)
            return Miss(Reason.EXHAUSTED, again.exchange.seq, (), 1)
        return self._drifted(free, request, session) or self._unknown(request, session)

    def _drifted(self, free: list[Entry], request: Request, session: str) -> Match | None:
        """The next recorded answer at the same place of a conversation, whatever was asked: only where drift is allowed."""
        if not (self._settings.allow_drift and self._settings.level is Level.SEQUENCE) or courtesy(request):
            return None
        wanted, depth = position(request)
        places = ((entry, *position(self._load(entry.seq).request)) for entry in free[:_TRIED])
        same = ((abs(far - depth), entry) for entry, there, far in places if there == wanted)
        _, entry = min(same, key=lambda pair: pair[0], default=(0, None))
        if entry is None:
            return None
        drift = differences(self._as_live(entry, session), request)
        self.loose.append(Loose(entry.seq, request.url, Level.SEQUENCE, ("its place in the recording",), drift))
        return self._given(entry.seq, Level.SEQUENCE, session)

    def _as_live(self, entry: Entry, session: str) -> Request:
        """The recorded request with what is bound put in: what differs then does not for being fresh."""
        return put_into_request(self._load(entry.seq).request, self._bound[session].bindings)

    # sockets

    def converse(self, match: Match, session: str = "") -> Conversation:
        """The conversation of a socket that `find` gave: this one, or, while all say nothing first, one of the same URL."""
        pace = self._settings.pace or 0.0
        if match.again or not server_waits(match.exchange):
            return Conversation(match.exchange, self._settings.level, pace, bound=self._bound[session])
        self._held[session].add(match.exchange.seq)
        choose = partial(self._choose, match.exchange, session)
        return Conversation(match.exchange, self._settings.level, pace, choose, self._bound[session])

    def _choose(self, given: Exchange, session: str, live: Message | None) -> Exchange | Miss:
        """Give the socket that opens so, and let go of one that was held for it."""
        held, used = self._held[session], self._used[session]
        unopened = self._unopened(given, session)
        chosen = self._opened_so(unopened, live) or self._reopened(unopened, live, session)
        if chosen is None or chosen.seq not in held:
            freed = given.seq if given.seq in held else next(entry.seq for entry in unopened if entry.seq in held)
            held.discard(freed)
            used.discard(freed)
        if chosen is None:
            return self._unlike(unopened, given, live)
        held.discard(chosen.seq)
        used.add(chosen.seq)
        return chosen

    def _unopened(self, given: Exchange, session: str) -> list[Entry]:
        """The sockets of this URL that no message has claimed: those of the session's own name first."""
        held, used = self._held[session], self._used[session]
        same = self._levels[Level.CANONICAL][1][fingerprint(given.request).canonical]
        free = [entry for entry in same if entry.servable and (entry.seq in held or entry.seq not in used)]
        return sorted(free, key=lambda entry: entry.session != session)

    def _waiting(self, entries: list[Entry]) -> Iterator[Exchange]:
        for entry in entries:
            exchange = self._load(entry.seq)
            if exchange.response and exchange.response.status == 101 and server_waits(exchange):
                yield exchange

    def _opened_so(self, entries: list[Entry], live: Message | None) -> Exchange | None:
        alike = None
        for exchange in self._waiting(entries):
            recorded = opening(exchange)
            level = closeness(recorded, live, self._settings.level) if recorded and live else None
            if level is Level.EXACT or recorded is live is None:
                return exchange
            alike = alike or (exchange if level else None)
        return alike

    def _reopened(self, entries: list[Entry], live: Message | None, session: str) -> Exchange | None:
        """The first that opens so but for fresh values."""
        if live is None or self._settings.level.looseness < Level.REBOUND.looseness:
            return None
        for exchange in self._waiting(entries):
            if (first := opening(exchange)) and self._bound[session].hears(exchange, first, live):
                return exchange
        return None

    def _unlike(self, entries: list[Entry], given: Exchange, live: Message | None) -> Miss:
        waiting = islice(self._waiting(entries), _CANDIDATES)
        compared = [(message_differences(first, live), each) for each in waiting if live and (first := opening(each))]
        if not compared:
            return Miss(Reason.OVER, given.seq, (), 0)
        differing, nearest = min(compared, key=lambda pair: len(pair[0]))
        return Miss(Reason.UNKNOWN, nearest.seq, differing, 0, number=1)

    # misses

    def _exhausted(self, known: list[Entry], session: str) -> Miss:
        given = [entry for entry in known if entry.seq in self._used[session]]
        if not given:
            return Miss(Reason.INTERRUPTED, known[-1].seq, (), len(known))
        return Miss(Reason.EXHAUSTED, given[-1].seq, (), len(known))

    def _unknown(self, request: Request, session: str) -> Miss:
        ranked = min(
            ((len(found), entry, found) for entry, found in self._compared(request, session)),
            key=lambda item: (item[0], item[1].seq),
            default=None,
        )
        if ranked is None:
            return Miss(Reason.UNKNOWN, None, (), 0)
        return Miss(Reason.UNKNOWN, ranked[1].seq, ranked[2][:20], 0)

    def _compared(self, request: Request, session: str) -> Iterator[tuple[Entry, tuple[FieldDifference, ...]]]:
        for entry in islice(self._candidates(request), _CANDIDATES):
            yield entry, differences(self._as_live(entry, session), request, _COMPARED)

    def _candidates(self, request: Request) -> Iterator[Entry]:
        """Those of the same method and shape of URL, the unused first; else of the same host."""
        same = self._shapes.get((request.method, url_shape(request.url)), [])
        if same:
            used = set[int]().union(*self._used.values())
            yield from (entry for entry in same if entry.seq not in used)
            yield from (entry for entry in same if entry.seq in used)
            return
        host = urlsplit(request.url).hostname
        yield from (entry for entry in self._entries if urlsplit(entry.url).hostname == host)


def _exact(key: Fingerprint) -> str:
    return key.exact


def _canonical(key: Fingerprint) -> str:
    return key.canonical


def _keyed(entries: Iterable[Entry], of: Callable[[Fingerprint], str]) -> _Keyed:
    keyed: _Keyed = defaultdict(list)
    for entry in entries:
        keyed[of(entry.fingerprint)].append(entry)
    return dict(keyed)


def _last(known: list[Entry]) -> Entry | None:
    return next((entry for entry in reversed(known) if entry.servable), None)
