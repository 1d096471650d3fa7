"""What the faults have in common: frozen settings that turn one plan of an answer into another. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Annotated

from pydantic import Field

from wiretape.proxy.framing import Plan
from wiretape.traces import codings
from wiretape.traces.parts import Part
from wiretape.traces.types import Request

__all__ = ["Fault", "HeaderName", "Occasion", "injected", "plain"]

type HeaderName = Annotated[str, Field(pattern=r"^[!#-'*+.0-9A-Z^-z|~-]+$")]
"""A token (RFC 9110, section 5.6.2)."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """The request that a fault meets."""

    rule: str
    request: Request
    """Its body without content coding."""
    api: str | None
    """The name of its decoder; None where it speaks none that is known."""
    where: str
    chance: Random
    """Seeded, so that a run repeats itself."""
    now: datetime


class Fault(Part):
    def fires(self, chance: Random) -> bool:
        """Whether this time it happens at all."""
        return True

    @property
    def answers(self) -> bool:
        """It answers by itself: the recorded or live answer is not asked for."""
        return False

    def before(self, occasion: Occasion) -> float:
        """Seconds to wait before the answer is asked for."""
        return 0.0

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        raise NotImplementedError


def injected(plan: Plan, fault: str, occasion: Occasion) -> Plan:
    """The same, saying which fault was put in; of several the last."""
    return replace(plan, failure=f"injected by the rule {occasion.rule}: {fault}")


def plain(plan: Plan) -> Plan:
    """Without its content coding, in one piece where it had one: faults look at what the client reads. Unknown ones stay."""
    body = codings.undo(plan.body, plan.headers) if codings.codings(plan.headers) else None
    if body is None:
        return plan
    return plan.without("content-encoding").with_pieces(((plan.pieces[0][0] if plan.pieces else 0.0, body),))
