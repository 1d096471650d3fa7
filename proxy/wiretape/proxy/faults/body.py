"""A body that is not what was asked for, in an answer that is whole by HTTP's own measure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from wiretape.proxy.faults.base import Fault, Occasion, injected, plain
from wiretape.proxy.faults.events import put_together, split
from wiretape.proxy.framing import Plan

__all__ = ["Body"]

_OVERSIZED = 10_000_000
_PAGE = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"


class Body(Fault):
    kind: Literal[
        "truncated-json",
        "html",
        "empty",
        "oversized",
        "wrong-type",
        "malformed-sse",
        "duplicate-events",
        "reordered-events",
    ]
    bytes: Annotated[int, Field(ge=0)] | None = None
    """How much is left of `truncated-json` (half where absent), how large `oversized` becomes (10 MB)."""

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        return injected(_KINDS[self.kind](plain(plan), self.bytes), self.kind, occasion)


def _truncated(plan: Plan, size: int | None) -> Plan:
    return _whole(plan, plan.body[: len(plan.body) // 2 if size is None else size])


def _html(plan: Plan, _: int | None) -> Plan:
    headers = tuple((name, "text/html" if name.lower() == "content-type" else value) for name, value in plan.headers)
    return _whole(replace(plan, headers=headers), _PAGE)


def _empty(plan: Plan, _: int | None) -> Plan:
    return _whole(plan, b"")


def _oversized(plan: Plan, size: int | None) -> Plan:
    """White space after the body: JSON and event streams read as before, only longer."""
    return _whole(plan, plan.body.ljust(_OVERSIZED if size is None else size, b"\n"))


def _wrong_type(plan: Plan, _: int | None) -> Plan:
    """JSON still, but a number where text was and text where anything else was."""
    try:
        was_text = isinstance(json.loads(plan.body), str)
    except ValueError:
        was_text = False
    return _whole(plan, b"0" if was_text else b'"unexpected"')


def _malformed(plan: Plan, _: int | None) -> Plan:
    """The event in the middle breaks off within its data."""
    events = split(plan) or [b""]
    middle = len(events) // 2
    return put_together(plan, [*events[:middle], events[middle][: len(events[middle]) // 2] + b"\n\n", *events[middle + 1 :]])


def _duplicated(plan: Plan, _: int | None) -> Plan:
    return put_together(plan, [event for event in split(plan) for _ in range(2)])


def _reordered(plan: Plan, _: int | None) -> Plan:
    """Neighbours change places."""
    events = split(plan)
    pairs = [events[at : at + 2][::-1] for at in range(0, len(events), 2)]
    return put_together(plan, [event for pair in pairs for event in pair])


def _whole(plan: Plan, body: bytes) -> Plan:
    return plan.with_pieces(((plan.pieces[0][0] if plan.pieces else 0.0, body),))


_KINDS: Mapping[str, Callable[[Plan, int | None], Plan]] = {
    "truncated-json": _truncated,
    "html": _html,
    "empty": _empty,
    "oversized": _oversized,
    "wrong-type": _wrong_type,
    "malformed-sse": _malformed,
    "duplicate-events": _duplicated,
    "reordered-events": _reordered,
}
