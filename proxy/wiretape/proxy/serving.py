"""A planned answer goes out: head, pieces at their times, ending; what is sent is told to the exchange as it passes."""

from __future__ import annotations

import asyncio

from wiretape.proxy.capture import Live
from wiretape.proxy.framing import Ending, Framing, Plan
from wiretape.proxy.wire import Wire
from wiretape.traces.types import End, Headers

__all__ = ["NO_CHUNK", "break_up", "deliver", "framed", "say"]

_SILENCE = 300.0
"""Seconds after which a connection in a recorded silence is broken off."""

_ONE_WRITE = 1 << 20
"""Bytes that are put together before the client has to take them."""

NO_CHUNK = b"zz\r\n"
"""Where a chunk's length should stand (RFC 9112, section 7.1)."""


async def deliver(wire: Wire, made: Plan, live: Live, marks: Headers, no_chunk: bytes = NO_CHUNK) -> None:
    """`marks` say where the answer came from; they are for the client and are not stored."""
    if made.wait:
        await wire.until_gone(made.wait)
    live.response(made.status, made.reason, "HTTP/1.1", made.headers)
    if made.framing is Framing.CLOSE:
        wire.close_after()
    wire.start(made.status, made.reason, (*made.headers, *marks))
    await _send(wire, made, live)
    if made.ending is Ending.BAD_CHUNK:
        wire.write(no_chunk)
    await _finish(wire, made, live)


async def break_up(wire: Wire, end: End | None, live: Live) -> None:
    """As an exchange that ended without a word of an answer: a hang-up, a reset, or silence until the client has had enough."""
    if end is End.UPSTREAM_RESET:
        wire.reset()
    elif end is not End.UPSTREAM_TRUNCATED:
        await wire.until_gone(_SILENCE)
    wire.hang_up()
    live.end(end or End.CLIENT_CLOSED)


def say(wire: Wire, status: int, headers: Headers, body: bytes) -> None:
    """A whole answer of the sidecar's own."""
    length = () if status == 204 else (("Content-Length", str(len(body))),)
    wire.start(status, "", (*headers, *length))
    wire.write(b"" if wire.method == "HEAD" else body)
    wire.finish()


async def _send(wire: Wire, made: Plan, live: Live) -> None:
    """The pieces at their times; those that need no waiting share one write."""
    waiting = bytearray()
    for delay, piece in made.pieces:
        if delay > 0 or len(waiting) > _ONE_WRITE:
            wire.write(bytes(waiting))
            waiting.clear()
            await wire.drain()
            await wire.until_gone(delay)
        if wire.gone:
            return
        live.chunk(piece)
        waiting += framed(piece, made.framing)
    if made.framing is Framing.CHUNKED and made.ending is Ending.WHOLE:
        waiting += b"0\r\n\r\n"
    wire.write(bytes(waiting))
    await wire.drain()


async def _finish(wire: Wire, made: Plan, live: Live) -> None:
    if wire.gone:
        live.end(End.CLIENT_CLOSED, made.failure)
    elif made.ending is Ending.WHOLE:
        wire.finish()
        _ended(live, End.COMPLETE, made)
    elif made.ending is Ending.RESET:
        # An RST may overtake what was written before it: give those bytes a moment to arrive.
        await asyncio.sleep(0.05)
        wire.reset()
        _ended(live, End.UPSTREAM_RESET, made)
    elif made.ending in (Ending.HANG_UP, Ending.BAD_CHUNK):
        wire.hang_up()
        _ended(live, End.UPSTREAM_TRUNCATED, made)
    else:
        await wire.until_gone(_SILENCE)
        wire.hang_up()
        live.end(End.CLIENT_CLOSED if made.failure else made.ended or End.CLIENT_CLOSED, made.failure)


def _ended(live: Live, end: End, made: Plan) -> None:
    """A failure that a rule put in is not the upstream's."""
    live.end(End.COMPLETE if made.failure else made.ended or end, made.failure)


def framed(piece: bytes, framing: Framing) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece) if framing is Framing.CHUNKED and piece else piece
