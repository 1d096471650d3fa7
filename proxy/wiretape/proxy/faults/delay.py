"""A slow answer: before the upstream is asked, before the head, or before chunks."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from wiretape.proxy.faults.base import Fault, Occasion
from wiretape.proxy.framing import Plan

__all__ = ["Delay"]


class Delay(Fault):
    phase: Literal["connect", "headers", "chunk"] = "headers"
    at: Annotated[int, Field(ge=1)] | None = None
    """The number of the chunk; every one where absent."""
    ms: Annotated[float, Field(ge=0)]
    jitter_ms: Annotated[float, Field(ge=0)] = 0.0
    """± so much, seeded."""

    def before(self, occasion: Occasion) -> float:
        return self._seconds(occasion.chance) if self.phase == "connect" else 0.0

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        if self.phase == "headers":
            return replace(plan, wait=plan.wait + self._seconds(occasion.chance))
        if self.phase == "connect":
            return plan
        late = enumerate(plan.pieces, 1)
        pieces = tuple(
            (wait + (self._seconds(occasion.chance) if self.at in (None, number) else 0.0), piece)
            for number, (wait, piece) in late
        )
        return replace(plan, pieces=pieces)

    def _seconds(self, chance: Random) -> float:
        return max(0.0, self.ms + chance.uniform(-self.jitter_ms, self.jitter_ms)) / 1000
