"""An answer that breaks off: status and headers as they were, exactly so much body, then the failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wiretape.proxy.faults.base import Fault, Occasion, injected, plain
from wiretape.proxy.faults.events import first_events
from wiretape.proxy.framing import Ending, Framing, Plan
from wiretape.traces.parts import Misfit, refuse

__all__ = ["Cut"]

_ENDINGS: Mapping[str, Ending] = {
    "eof": Ending.HANG_UP,
    "reset": Ending.RESET,
    "stall": Ending.SILENCE,
    "bad-chunk": Ending.BAD_CHUNK,
    "wrong-length": Ending.HANG_UP,
    # On HTTP/1.1 there is no stream to break without its connection; on HTTP/2 the core breaks the stream alone.
    "h2-error": Ending.HANG_UP,
    "h2-goaway": Ending.RESET,
}


class Cut(Fault):
    after_bytes: Annotated[int, Field(ge=0)] | None = None
    after_events: Annotated[int, Field(ge=0)] | None = None
    how: Literal["eof", "reset", "stall", "bad-chunk", "wrong-length", "h2-error", "h2-goaway"] = "eof"

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.after_bytes is None) == (self.after_events is None):
            refuse([Misfit("expected one of after_bytes, after_events")])
        return self

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        if self.after_events is not None:
            plan = plain(plan)
            size = len(first_events(plan, self.after_events))
        else:
            size = self.after_bytes or 0
        cut = replace(self._framed(plan), pieces=plan.first(size), ending=_ENDINGS[self.how])
        return injected(cut, f"cut after {min(size, len(plan.body))} bytes ({self.how})", occasion)

    def _framed(self, plan: Plan) -> Plan:
        """A bad chunk needs chunks, a wrong length a length; for the rest, and where there is no body, the head stays."""
        if plan.framing is Framing.NONE:
            return plan
        if self.how == "bad-chunk" and plan.framing is not Framing.CHUNKED:
            return plan.framed(Framing.CHUNKED, "Transfer-Encoding", "chunked")
        if self.how == "wrong-length":
            return plan.framed(Framing.LENGTH, "Content-Length", str(len(plan.body) + 1))
        return plan
