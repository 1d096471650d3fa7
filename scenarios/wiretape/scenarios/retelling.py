"""An exchange that is known already, told to a writer as the sidecar tells it while it passes: imports and repairs go this way,
so that redaction, identity and interning are those of a live recording.
"""

from __future__ import annotations

from dataclasses import replace

from wiretape.traces.store import Writer
from wiretape.traces.types import End, Exchange

__all__ = ["tell"]


def tell(writer: Writer, exchange: Exchange, *, noise: bool) -> None:
    """An exchange without an end was never told one: it is interrupted."""
    seq, request, response = exchange.seq, exchange.request, exchange.response
    head = replace(request, body=None)
    writer.begin(
        seq,
        head,
        started_at=exchange.started_at,
        session=exchange.session,
        kind=exchange.kind,
        source=exchange.source,
        upstream=exchange.upstream,
        noise=noise,
        rule=exchange.rule,
        match=exchange.match,
    )
    if request.body:
        writer.request_chunk(seq, request.body)
    writer.request_end(seq, request.body is not None)
    if response:
        writer.response(seq, response.status, response.reason, response.http_version, response.headers)
        start = 0
        for at, length in response.chunks:
            writer.chunk(seq, at, response.body[start : start + length])
            start += length
        if response.trailers:
            writer.trailers(seq, response.trailers)
    for message in exchange.messages:
        writer.message(seq, message)
    writer.end(seq, exchange.end or End.INTERRUPTED, exchange.error, exchange.timings)
