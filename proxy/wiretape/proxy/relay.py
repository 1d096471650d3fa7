"""mitmproxy's WebSocket layer replaced: every byte of a socket passes as it came, and so does its end.

mitmproxy's own packs frames anew, answers a close itself, and makes of a dropped connection a close 1000 that nobody sent. It
also knows no `ws://` in a request line, which clients send that ask an HTTP proxy for a plain socket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.net.http.http1.read import read_request_head
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import websocket

from wiretape.proxy.frames import Sender

__all__ = ["SOCKET", "Ears", "install"]

SOCKET = "wiretape.socket"
"""In a flow's metadata: the Ears of its socket."""

_SCHEMES = {b"ws": b"http", b"wss": b"https"}


@dataclass(frozen=True, slots=True)
class Ears:
    heard: Callable[[Sender, bytes], None]
    closed: Callable[[Sender], bool]
    """Told who ended the connection; whether it says that it breaks off the client itself."""


class SocketLayer(layer.Layer):
    """Made by mitmproxy once a 101 has passed."""

    def __init__(self, context: Context, flow: http.HTTPFlow) -> None:
        super().__init__(context)
        self._ears: Ears | None = flow.metadata.get(SOCKET)
        """None for a socket that is passed through unrecorded."""
        self._over = False

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if self._over or not isinstance(event, events.DataReceived | events.ConnectionClosed):
            return
        sender: Sender = "client" if event.connection == self.context.client else "server"
        if isinstance(event, events.DataReceived):
            yield self._pass_on(sender, event.data)
        else:
            yield from self._end(sender)

    def _pass_on(self, sender: Sender, data: bytes) -> commands.SendData:
        if self._ears:
            self._ears.heard(sender, data)
        return commands.SendData(self.context.server if sender == "client" else self.context.client, data)

    def _end(self, by: Sender) -> layer.CommandGenerator[None]:
        """Half of a WebSocket is none (RFC 6455, section 7.1.1): where one side ends, so does the other."""
        self._over = True
        broken_off = self._ears is not None and self._ears.closed(by)
        yield commands.CloseConnection(self.context.server)
        if not broken_off:
            yield commands.CloseConnection(self.context.client)


def install() -> None:
    """Put both in the place of mitmproxy's own; doing it again changes nothing."""
    websocket.WebsocketLayer = SocketLayer  # type: ignore[misc, assignment]
    http1.read_request_head = _read_request_head


def _read_request_head(lines: list[bytes]) -> http.Request:
    return read_request_head([_as_http(lines[0]), *lines[1:]])


def _as_http(line: bytes) -> bytes:
    method, space, target = line.partition(b" ")
    scheme, colon, rest = target.partition(b"://")
    return method + space + _SCHEMES.get(scheme.lower(), scheme) + colon + rest
