"""A stream that fails after good events: the provider's own error event, then the end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wiretape.proxy.dialects import stream_error
from wiretape.proxy.faults.base import Fault, Occasion, injected, plain
from wiretape.proxy.faults.events import first_events, is_stream
from wiretape.proxy.framing import Plan

__all__ = ["StreamError"]


class StreamError(Fault):
    after_events: Annotated[int, Field(ge=0)]
    code: str = "overloaded"
    message: str | None = None

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        plan = plain(plan)
        if not is_stream(plan):
            return injected(plan, "no stream-error, since the answer is no stream", occasion)
        kept = first_events(plan, self.after_events)
        message = self.message or f"injected by the rule {occasion.rule}"
        error = stream_error(occasion.request, kept, self.code, message)
        pieces = (*plan.first(len(kept)), (0.0, error))
        return injected(plan.with_pieces(pieces), f"stream-error after {self.after_events} events", occasion)
