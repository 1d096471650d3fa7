"""What can go wrong with an answer on purpose: one fault a file. A new fault is a file, a line in the table and a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from wiretape.proxy.faults.base import Fault, Occasion
from wiretape.proxy.faults.body import Body
from wiretape.proxy.faults.cut import Cut
from wiretape.proxy.faults.delay import Delay
from wiretape.proxy.faults.error import Error
from wiretape.proxy.faults.stream_error import StreamError
from wiretape.traces.parts import Part, one_of, refuse

__all__ = ["FAULTS", "Fault", "FaultEntry", "Occasion", "in_order"]

FAULTS: Mapping[str, type[Fault]] = {
    "delay": Delay,
    "error": Error,
    "body": Body,
    "stream-error": StreamError,
    "cut": Cut,
}
"""Name → settings, in the order in which they are applied."""


class FaultEntry(Part):
    """`{delay: {ms: 100}}`: exactly one fault with its settings."""

    delay: Delay | None = None
    error: Error | None = None
    body: Body | None = None
    stream_error: Annotated[StreamError | None, Field(alias="stream-error")] = None
    cut: Cut | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(one_of(self, "delay", "error", "body", "stream_error", "cut"))
        return self

    @property
    def fault(self) -> Fault:
        found = self.delay or self.error or self.body or self.stream_error or self.cut
        assert found is not None
        return found


def in_order(entries: tuple[FaultEntry, ...]) -> tuple[Fault, ...]:
    order = list(FAULTS.values())
    return tuple(sorted((entry.fault for entry in entries), key=lambda fault: order.index(type(fault))))
