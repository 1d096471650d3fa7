"""What a replay has served so far, for the run's report."""

from __future__ import annotations

import logging
from collections import Counter

from wiretape.replay.miss import Miss
from wiretape.traces.settings import Level

__all__ = ["Tally"]

log = logging.getLogger("wiretape.proxy")


class Tally:
    def __init__(self) -> None:
        self.levels: Counter[str] = Counter()
        self.misses: list[Miss] = []
        self.noise = 0
        self._strays: list[tuple[str, str]] = []
        self._served: set[str] = set()

    @property
    def served(self) -> int:
        return sum(self.levels.values())

    def strayed(self, host: str, sentence: str) -> None:
        """Something came that could not even be looked up: it is an attempt to leave, whatever the client makes of it."""
        self._strays.append((host, sentence))
        log.warning(sentence)

    def answered(self, host: str) -> None:
        self._served.add(host)

    @property
    def strays(self) -> tuple[str, ...]:
        """A sentence each. A client that drops one connection and asks by another to the same host had opened a spare one."""
        return tuple(dict.fromkeys(said for host, said in self._strays if not host or host not in self._served))

    def missed(self, miss: Miss) -> None:
        self.misses.append(miss)
        log.info("miss: %s", miss.message)

    def taken_back(self, level: Level) -> None:
        """A socket whose first message was a miss was not served after all."""
        self.levels = self.levels - Counter([level])

    def loosened(self, before: Level, after: Level) -> Level:
        """A message on a socket that was counted as `before` matched as `after`: the looser of them counts."""
        if after.looseness <= before.looseness:
            return before
        self.levels = self.levels + Counter([after]) - Counter([before])
        return after
