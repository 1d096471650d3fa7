"""The secrets of a run and those of the recording: one to one, as long as the run lasts.

A recording holds numbers in their place, and any run has secrets of its own. The first live secret that asks where a recorded
one did is taken for it, from then on and for no other. What a recorded answer handed out stands for itself.
"""

from __future__ import annotations

from wiretape.traces.redact import LIVE

__all__ = ["Secrets"]


class Secrets:
    def __init__(self) -> None:
        self._recorded: dict[int, int] = {}
        self._live: dict[int, int] = {}

    def fit(self, live: tuple[int, ...], recorded: tuple[int, ...]) -> bool:
        """Whether these may stand for each other, one by one."""
        return len(live) == len(recorded) and all(map(self._fits, live, recorded))

    def bind(self, live: tuple[int, ...], recorded: tuple[int, ...]) -> None:
        """They do, from now on."""
        for ours, theirs in zip(live, recorded, strict=True):
            if ours != theirs:
                self._recorded[ours], self._live[theirs] = theirs, ours

    def _fits(self, live: int, recorded: int) -> bool:
        if live < LIVE:
            return live == recorded
        return self._recorded.get(live, recorded) == recorded and self._live.get(recorded, live) == live
