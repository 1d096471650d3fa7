"""Writers of the tests' own: exchanges put into a store, in this process and in children that can be killed."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import End, Exchange, Headers, Request, Response, Timings

__all__ = ["EVENTS", "child", "opened", "plain", "put", "read", "stream", "until"]

EVENTS: Headers = (("Content-Type", "text/event-stream"),)

_numbers = itertools.count(1)


def opened(path: Path, *, name: str = "refund", labels: Mapping[str, str] | None = None, redact: str = "default") -> Writer:
    settings = RedactSettings.model_validate({"mode": redact})
    return Writer.open(
        path,
        name=name,
        started_at=1000.5,
        tool_version="0.1.0",
        redactor=Redactor(settings),
        recording_id=f"id-{name}-{next(_numbers)}",
        labels=labels,
    )


def plain(seq: int, body: bytes = b"ok", *, session: str = "", request: bytes | None = None) -> Exchange:
    """A finished exchange whose answer came in one piece."""
    return Exchange(
        seq,
        Request("POST" if request else "GET", f"http://api.test/{seq}", (("Accept", "*/*"),), request),
        Response(200, (("X-A", "1"), ("x-a", "2")), body, "OK", chunks=((5, len(body)),)),
        session=session,
        started_at=1001.0,
        timings=Timings(1, 2, 5, 9),
        end=End.COMPLETE,
    )


def stream(writer: Writer, seq: int, *pieces: bytes) -> None:
    """An event stream that has begun and is not over."""
    writer.begin(seq, Request("GET", f"http://api.test/{seq}"), started_at=1001.0)
    writer.request_end(seq, False)
    writer.response(seq, 200, "OK", "HTTP/1.1", EVENTS)
    for at, piece in enumerate(pieces):
        writer.chunk(seq, at, piece)


def put(writer: Writer, exchange: Exchange) -> None:
    """Tell a writer of an exchange as the recorder does, piece by piece."""
    seq, request, response = exchange.seq, exchange.request, exchange.response
    writer.begin(
        seq,
        replace(request, body=None),
        started_at=exchange.started_at,
        session=exchange.session,
        kind=exchange.kind,
        source=exchange.source,
        upstream=exchange.upstream,
        noise=exchange.noise,
        rule=exchange.rule,
        match=exchange.match,
    )
    for start in range(0, len(request.body or b""), 1000):
        writer.request_chunk(seq, (request.body or b"")[start : start + 1000])
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
    if exchange.end:
        writer.end(seq, exchange.end, exchange.error, exchange.timings)


def read(path: Path, name: str | None = None) -> list[Exchange]:
    with Store.open(path) as store:
        info, session = store.choose(name)
        return list(store.exchanges(info, session))


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs `code` with these in sys.argv[1:], and can say things on its standard output."""
    start = "import sys\nfrom pathlib import Path\nfrom support.stores import *\n"
    line = [sys.executable, "-c", start + code, *map(str, arguments)]
    environment = {"PYTHONPATH": ":".join(place for place in sys.path if place)}
    pipe = subprocess.PIPE
    return subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True, env=environment)


def until[T](found: Callable[[], T], what: str, seconds: float = 30) -> T:
    """Wait for what another process brings about."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, f"expected within {seconds:g} s: {what}"
        time.sleep(0.02)
    return value
