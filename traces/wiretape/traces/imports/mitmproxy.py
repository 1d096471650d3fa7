"""Flow files of mitmproxy: HTTP and WebSocket flows, bytes as they were on the wire. Flows are read one at a time.

What else stands in such a file (TCP, UDP, DNS) is refused item by item. A flow that failed carries its error and what had come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from wiretape.traces.errors import InvalidFile, StoreError
from wiretape.traces.imports import parts
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, Losses, Read, Unkept, end_of, items
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Message, Request, Response, Timings
from wiretape.traces.urls import socket_url

if TYPE_CHECKING:
    from mitmproxy import flow, http, websocket

__all__ = ["MOST", "read"]

MOST = 512 << 20
"""Bytes of one flow: its length stands before it, and memory for it would be taken at once."""


_LATEST = 253402300799
"""Seconds since the epoch at the end of the year 9999: a time beyond is none."""


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    return items(_flows(file, path), lambda each: _exchange(each, path))


class _Bounded:
    """A file that gives no more at once than one flow may have."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file, self._path = file, path

    def read(self, size: int) -> bytes:
        if size > MOST:
            raise InvalidFile(self._path, f"a flow larger than {MOST >> 20} MiB, or no flow file of mitmproxy")
        return self._file.read(size)

    def peek(self, size: int) -> bytes:
        start = self._file.tell()
        found = self._file.read(size)
        self._file.seek(start)
        return found


def _flows(file: BinaryIO, path: str) -> Iterator[flow.Flow]:
    # mitmproxy takes its time to import: only those pay who read its files.
    from mitmproxy.io import FlowReader  # noqa: PLC0415

    bounded = _Bounded(file, path)
    if not bounded.peek(1).isdigit():
        raise InvalidFile(path, "expected a flow file of mitmproxy (`mitmdump -w FILE`), got something else")
    count = 0
    try:
        for each in FlowReader(bounded).stream():  # type: ignore[arg-type]  # it reads and peeks, and no more
            count += 1
            yield each
    except InvalidFile:
        raise
    except Exception as error:  # what its reader raises on bytes that are none of its own is anything, assertions too
        if not count:
            raise InvalidFile(path, "expected a flow file of mitmproxy, got something else, or its start is damaged") from None
        raise StoreError(
            f"{path}: this file is damaged behind its flow {count} ({type(error).__name__}): it may have been cut off."
            f" Copy the whole ones with `mitmdump -nr FILE -w NEW`."
        ) from None


def _exchange(found: flow.Flow, path: str) -> Read:
    if found.type != "http":
        raise Unkept(f"a flow of {found.type}, and a recording holds HTTP")
    each: http.HTTPFlow = found  # type: ignore[assignment]  # its type says so
    started = each.request.timestamp_start if 0 < each.request.timestamp_start < _LATEST else 0.0
    where = Fields(path, "a flow", {})
    headers, dropped = parts.fields(_pairs(each.request.headers))
    http_version, other = parts.version(each.request.http_version)
    url, _ = parts.target(where, each.request.pretty_url)
    body = parts.sent(_raw(where, each.request), headers)
    request = Request(each.request.method, socket_url(url) if each.websocket else url, headers, body, http_version)
    end, error = _end(each)
    response, lost = _response(where, each, started)
    messages, unsent = _messages(each.websocket, started)
    exchange = Exchange(
        seq=0,
        request=request,
        response=response,
        kind=ExchangeKind.WEBSOCKET if each.websocket else ExchangeKind.HTTP,
        started_at=started,
        messages=messages,
        timings=_timings(each, started),
        end=end,
        error=error,
    )
    return exchange, (*dropped, *other, *lost, *unsent)


def _pairs(fields: http.Headers) -> Iterator[tuple[str, str]]:
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields.fields)


def _raw(where: Fields, message: http.Message) -> bytes:
    if message.raw_content is None:
        raise where.fault("content", "a body was streamed past mitmproxy and is not in the file; leave out stream_large_bodies")
    return message.raw_content


def _response(where: Fields, each: http.HTTPFlow, started: float) -> tuple[Response | None, Losses]:
    given = each.response
    if given is None:
        return None, ()
    headers, dropped = parts.fields(_pairs(given.headers))
    body, ended = _raw(where, given), _since(started, given.timestamp_end or given.timestamp_start) or 0
    http_version, other = parts.version(given.http_version)
    trailers: Headers = parts.fields(_pairs(given.trailers))[0] if given.trailers else ()
    chunks = ((ended, len(body)),) if body else ()
    response = Response(given.status_code, headers, body, parts.line(given.reason or ""), http_version, trailers, chunks)
    return response, (*dropped, *other, *((parts.STREAM,) if parts.streamed(headers) else ()))


def _since(started: float, time: float | None) -> int | None:
    """Microseconds since the start; mitmproxy checks no times of the files that it reads."""
    known = isinstance(time, int | float) and abs(time) < _LATEST
    return parts.micros(time - started) if known and time is not None else None


def _timings(each: http.HTTPFlow, started: float) -> Timings:
    answer = each.response
    return Timings(
        connected=_since(started, each.server_conn.timestamp_tcp_setup),
        request_sent=_since(started, each.request.timestamp_end),
        first_byte=_since(started, answer.timestamp_start) if answer else None,
        ended=_since(started, answer.timestamp_end) if answer else None,
    )


def _end(each: http.HTTPFlow) -> tuple[End, str | None]:
    if each.error:
        return end_of(each.error.msg, answered=each.response is not None), each.error.msg
    if each.websocket and each.websocket.close_code in (None, 1006):
        return (End.CLIENT_CLOSED if each.websocket.closed_by_client else End.UPSTREAM_TRUNCATED), None
    whole = each.response is not None and (each.response.timestamp_end is not None or each.websocket is not None)
    return (End.COMPLETE if whole else End.INTERRUPTED), None


def _messages(data: websocket.WebSocketData | None, started: float) -> tuple[tuple[Message, ...], Losses]:
    if data is None:
        return (), ()
    passed = [each for each in data.messages if not each.dropped]
    found = [
        Message(
            _since(started, each.timestamp) or 0,
            "client" if each.from_client else "server",
            "text" if each.is_text else "binary",
            each.content,
        )
        for each in passed
    ]
    if data.close_code is not None and data.close_code != 1006:
        at, code = _since(started, data.timestamp_end) or 0, None if data.close_code == 1005 else data.close_code
        reason = (data.close_reason or "").encode()
        found.append(Message(at, "client" if data.closed_by_client else "server", "close", reason, code))
    dropped = len(data.messages) - len(passed)
    return tuple(found), ((f"{dropped} messages that mitmproxy was told to drop",) if dropped else ())
