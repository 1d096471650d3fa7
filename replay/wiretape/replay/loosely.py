"""Which recorded request a live one is though their keys differ: normalised or rebound, the closest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from wiretape.replay.bindings import Binding, Bindings
from wiretape.replay.bound import Bound
from wiretape.replay.volatile import set_aside
from wiretape.traces.canonical import body_tree, url_place
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.settings import Level, MatchSettings
from wiretape.traces.types import Exchange, Request

__all__ = ["Alike", "Loosely", "position", "url_shape"]


def url_shape(url: str) -> str:
    """What stays of a URL when its port and whatever in its path holds a digit may vary."""
    parts = urlsplit(url_place(url))
    return f"{parts.scheme}://{parts.hostname}{re.sub(r'[^/]*[0-9][^/]*', '*', parts.path)}"


def position(request: Request) -> tuple[tuple[str, ...], int]:
    """The endpoint that is asked (of JSON-RPC its methods too), its port aside; and how long the history is."""
    parts, tree = urlsplit(url_place(request.url)), body_tree(request)
    messages = [each for each in (tree if isinstance(tree, list) else [tree]) if isinstance(each, dict)]
    methods = (str(each.get("method")) for each in messages if "jsonrpc" in each)
    histories = (each.get(name) for each in messages for name in ("messages", "input", "contents"))
    depth = sum(len(each) for each in histories if isinstance(each, list))
    return (request.method, parts.scheme, parts.hostname or "", parts.path, *methods), depth


@dataclass(frozen=True, slots=True)
class Alike:
    exchange: Exchange
    level: Level
    rules: tuple[str, ...]
    used: tuple[Binding, ...]
    bindings: Bindings
    """All of the session, once this one is served."""
    secrets: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The numbers of the live placeholders and of the recorded ones that they stand for."""

    @property
    def because(self) -> tuple[str, ...]:
        return (*(f"{rule} is volatile" for rule in self.rules), *map(str, self.used))


class Loosely:
    """`load` gives the exchange of that number with its bodies."""

    def __init__(self, load: Callable[[int], Exchange], settings: MatchSettings) -> None:
        self._load = load
        self._rules = settings.volatile
        self._allowed = [level for level in Level if level.looseness <= settings.level.looseness]

    def find(self, seqs: Iterable[int], live: Request, bound: Bound) -> Alike | None:
        """One that is equal but for volatile fields, else the one that needs fewest new bindings."""
        found = list(self._alike(seqs, live, bound))
        return min(found, key=lambda each: (each.level.looseness, len(each.bindings)), default=None)

    def _alike(self, seqs: Iterable[int], live: Request, bound: Bound) -> Iterator[Alike]:
        """Up to the first that is as close as can be."""
        live, rules = set_aside(live, self._rules)
        for seq in seqs:
            exchange = self._load(seq)
            recorded, applied = set_aside(exchange.request, self._rules)
            found = self._pair(exchange, recorded, live, bound, rules or applied)
            if found:
                yield found
                if found.level is Level.NORMALISED or len(found.bindings) == len(bound.bindings):
                    return

    def _pair(self, exchange: Exchange, recorded: Request, live: Request, bound: Bound, rules: tuple[str, ...]) -> Alike | None:
        found = self._alike_as(exchange, recorded, live, bound, rules)
        secrets = (fingerprint(live).secrets, fingerprint(recorded).secrets) if found else ((), ())
        return replace(found, secrets=secrets) if found and bound.secrets.fit(*secrets) else None

    def _alike_as(
        self, exchange: Exchange, recorded: Request, live: Request, bound: Bound, rules: tuple[str, ...]
    ) -> Alike | None:
        normalised = rules and Level.NORMALISED in self._allowed
        if normalised and fingerprint(recorded).canonical == fingerprint(live).canonical:
            return Alike(exchange, Level.NORMALISED, rules, (), bound.bindings)
        if Level.REBOUND in self._allowed and (found := bound.tried(exchange, recorded, live)):
            return Alike(exchange, Level.REBOUND, rules, found.used, found.bindings)
        return None
