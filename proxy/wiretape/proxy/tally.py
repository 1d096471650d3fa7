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

    @property
    def served(self) -> int:
        return sum(self.levels.values())

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
