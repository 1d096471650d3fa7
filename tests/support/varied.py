"""Exchanges of every kind: what an export must be able to say."""

from __future__ import annotations

import gzip
from dataclasses import replace

from support.stores import plain
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request, Response, Source, Timings

__all__ = ["EVENTS", "EXCHANGES", "TEXT"]

TEXT = 'data: {"text": "größer"}\n\ndata: [DONE]\n\n'
_CODED = gzip.compress(TEXT.encode(), mtime=0)
_ODD_HEADERS = (("Set-Cookie", "a=1; Path=/; HttpOnly"), ("X-B", ""), ("set-cookie", "b=2;Secure"), ("x-Odd", "caf\xe9 \x80"))


def _streamed() -> Exchange:
    cut = len(_CODED) // 2
    return Exchange(
        2,
        Request(
            "POST", "http://[::1]:81/v1/a?b=c%20d&b=&e", (("Cookie", "x=1; y=2"), ("cookie", "z=")), b"\xff\x00raw", "HTTP/2"
        ),
        Response(
            200,
            (("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip"), *_ODD_HEADERS),
            _CODED,
            "",
            "HTTP/2",
            (("x-checksum", "1"), ("X-Checksum", "2")),
            ((1500, cut), (1501, 0), (2500001, len(_CODED) - cut)),
        ),
        session="süd",
        source=Source.MOCKED,
        started_at=1001.000001,
        timings=Timings(None, 900, 1500, 2500002),
        end=End.COMPLETE,
        upstream="openai",
        rule="orders-down",
        match="canonical",
        noise=True,
    )


def _socket() -> Exchange:
    messages = (
        Message(10, "client", "text", "größer".encode()),
        Message(11, "server", "binary", b"\x00\xff"),
        Message(11, "server", "ping", b"\xfe"),
        Message(12, "client", "pong", b""),
        Message(13, "server", "close", b"bye", 4001),
    )
    made = plain(4, b"")
    assert made.response is not None
    switched = replace(made.response, status=101, reason="Switching Protocols", chunks=())
    return replace(made, kind=ExchangeKind.WEBSOCKET, response=switched, messages=messages)


def _ended(seq: int, end: End, **more: object) -> Exchange:
    return replace(plain(seq, b"half"), end=end, error=f"it {end}", timings=Timings(1, None, None, 7), **more)


EXCHANGES: tuple[Exchange, ...] = (
    plain(1, b"ok", request=b""),
    _streamed(),
    replace(plain(3), response=None, end=End.REFUSED, error="no answer: größer", timings=Timings()),
    _socket(),
    *(_ended(seq, end) for seq, end in enumerate((End.UPSTREAM_TRUNCATED, End.UPSTREAM_RESET, End.TIMEOUT), 5)),
    _ended(9, End.CLIENT_CLOSED, session="other"),
)
"""Their numbers have a gap, as those of one session have."""

EVENTS = ((1002.25, "süd", {"type": "custom", "name": "ü", "data": [1, 2.5, None, 2**70]}),)
