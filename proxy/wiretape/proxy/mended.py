"""mitmproxy's HTTP/1 mended in three places, so that what passes is what was sent.

Its reader of HTTP/1 takes an informational answer (103 Early Hints) for the answer itself, and gives up a connection whose
chunked body ends with trailers. And what a client had sent of a request before its upstream turned out to be unreachable is
let go without a word, so that a recording would hold a request without its body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import h11
from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers.http import HttpStream, _http1
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestProtocolError,
    RequestTrailers,
    ResponseEndOfMessage,
    ResponseTrailers,
)

__all__ = ["BY_CLIENT", "install"]

BY_CLIENT = "wiretape.by_client"
"""In a flow's metadata, where it was the client whose end of the connection failed."""

type _Steps = layer.CommandGenerator[None]

_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d")
_TRAILERS = "_wiretape_trailers"

_read_headers: Callable[[Any, Any], _Steps] = _http1.Http1Client.read_headers
_send_response: Callable[[Any, Any], _Steps] = _http1.Http1Server.send
_send_request: Callable[[Any, Any], _Steps] = _http1.Http1Client.send
_handle_protocol_error: Callable[[Any, Any], _Steps] = HttpStream.handle_protocol_error


def install() -> None:
    """Put all of it in the place of mitmproxy's own; doing it again changes nothing."""
    _http1.Http1Connection.read_body = _with_trailers  # type: ignore[method-assign]
    _http1.Http1Client.read_headers = _behind_interim  # type: ignore[method-assign]
    _http1.Http1Server.send = _response_with_trailers  # type: ignore[method-assign]
    _http1.Http1Client.send = _request_with_trailers  # type: ignore[method-assign]
    HttpStream.handle_protocol_error = _heard_out  # type: ignore[method-assign]


def _behind_interim(self: _http1.Http1Client, event: events.Event) -> _Steps:
    """Informational answers go on as they came, where the client speaks HTTP/1; 100 is the proxy's own to say."""
    while isinstance(event, events.DataReceived) and _INTERIM.match(bytes(self.buf)):
        lines = self.buf.maybe_extract_lines()
        if lines is None:
            return
        if lines[0].split(b" ")[1] != b"100" and self.context.client.alpn != b"h2":
            yield commands.SendData(self.context.client, b"\r\n".join([*map(bytes, lines), b"", b""]))
    yield from _read_headers(self, event)


def _with_trailers(self: _http1.Http1Connection, event: events.Event) -> _Steps:
    """mitmproxy's `read_body`, but for the trailers."""
    assert self.stream_id is not None
    while True:
        try:
            read = self.body_reader(self.buf) if isinstance(event, events.DataReceived) else self.body_reader.read_eof()
        except h11.ProtocolError as error:
            yield commands.CloseConnection(self.conn)
            failure = self.ReceiveProtocolError(
                self.stream_id, f"HTTP/1 protocol error: {error}", code=self.ReceiveProtocolError.code
            )
            yield ReceiveHttp(failure)
            return
        if isinstance(read, h11.EndOfMessage):
            yield from _ended(self, read)
            return
        if read is None:
            return
        if read.data:
            yield ReceiveHttp(self.ReceiveData(self.stream_id, bytes(read.data)))


def _ended(self: _http1.Http1Connection, end: h11.EndOfMessage) -> _Steps:
    assert self.stream_id is not None
    assert self.request is not None
    is_request = isinstance(self, _http1.Http1Server)
    if end.headers:
        trailers = http.Headers((bytes(name), bytes(value)) for name, value in end.headers.raw_items())
        yield ReceiveHttp((RequestTrailers if is_request else ResponseTrailers)(self.stream_id, trailers))
    if self.request.data.method.upper() != b"CONNECT":
        yield ReceiveHttp(self.ReceiveEndOfMessage(self.stream_id))
    yield from self.mark_done(request=is_request, response=not is_request)


def _response_with_trailers(self: _http1.Http1Server, event: Any) -> _Steps:
    if isinstance(event, ResponseTrailers):
        setattr(self, _TRAILERS, event.trailers)
    elif isinstance(event, ResponseEndOfMessage):
        assert self.request is not None
        yield from _last(self, _send_response(self, event), self.response if self.request.method != "HEAD" else None)
    else:
        yield from _send_response(self, event)


def _request_with_trailers(self: _http1.Http1Client, event: Any) -> _Steps:
    if isinstance(event, RequestTrailers):
        setattr(self, _TRAILERS, event.trailers)
    elif isinstance(event, RequestEndOfMessage):
        yield from _last(self, _send_request(self, event), self.request)
    else:
        yield from _send_request(self, event)


def _last(self: _http1.Http1Connection, steps: Iterable[Any], message: http.Message | None) -> _Steps:
    """The end of a message, its trailers put into the last chunk; without chunks they have no place."""
    trailers = self.__dict__.pop(_TRAILERS, None)
    chunked = message is not None and "chunked" in message.headers.get("transfer-encoding", "").lower()
    for step in steps:
        if trailers and chunked and isinstance(step, commands.SendData) and step.data == b"0\r\n\r\n":
            step.data = b"0\r\n" + bytes(trailers) + b"\r\n"
        yield step


def _heard_out(self: HttpStream, event: Any) -> _Steps:
    """What came of the request while its upstream was looked for is still told to whoever listens to the body."""
    if isinstance(event, RequestProtocolError):
        self.flow.metadata[BY_CLIENT] = True
    listener = self.flow.request.stream
    for waiting in tuple(self._paused_event_queue):
        if isinstance(waiting, RequestData) and callable(listener):
            listener(waiting.data)
    yield from _handle_protocol_error(self, event)
