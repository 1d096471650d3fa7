"""A stream as its events: server-sent events, lines of JSON, or AWS frames; put together again they are the stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wiretape.proxy.framing import Plan
from wiretape.traces.types import header

__all__ = ["first_events", "is_stream", "put_together", "split"]

_BLANK = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2}")
_SPLITTERS = ("text/event-stream", "application/x-ndjson", "application/jsonl", "application/vnd.amazon.eventstream")


def is_stream(plan: Plan) -> bool:
    return _kind(plan) in _SPLITTERS


def split(plan: Plan) -> list[bytes]:
    """Its events, each with what ends it; what is no stream is one event."""
    kind, body = _kind(plan), plan.body
    if kind == "text/event-stream":
        return list(_blocks(body))
    if kind == "application/vnd.amazon.eventstream":
        return list(_frames(body))
    return body.splitlines(keepends=True) if kind in _SPLITTERS else [body]


def first_events(plan: Plan, count: int) -> bytes:
    """The bytes of the first so many; comments between them are no events."""
    kept, seen = b"", 0
    for event in split(plan):
        if seen == count:
            break
        kept += event
        seen += not event.startswith(b":")
    return kept


def put_together(plan: Plan, events: Iterable[bytes]) -> Plan:
    """The plan with these events, one a piece; the first waits as long as the answer did."""
    waits = [wait for wait, _ in plan.pieces]
    return plan.with_pieces(tuple((waits[at] if at < len(waits) else 0.0, event) for at, event in enumerate(events)))


def _kind(plan: Plan) -> str:
    return (header(plan.headers, "content-type") or "").partition(";")[0].strip().lower()


def _blocks(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        found = _BLANK.search(body, at)
        end = found.end() if found else len(body)
        yield body[at:end]
        at = end


def _frames(body: bytes) -> Iterator[bytes]:
    """https://smithy.io/2.0/aws/amazon-eventstream.html: the first four bytes are the length of the whole frame."""
    at = 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big") or len(body)
        yield body[at : at + length]
        at += length
