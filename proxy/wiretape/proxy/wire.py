"""uvicorn's HTTP/1.1 protocol, with the one ASGI extension that replay needs: `wiretape.transport`.

ASGI lower-cases header names, has no reason phrase and no way to break off. A recorded answer has all three, so the app is
given a `Wire`, which writes to the connection what was recorded; everything about reading requests stays uvicorn's own.
A WebSocket's handshake is a request like any other, which may be refused like any other; accepted, it turns the connection
into a `Channel`. (uvicorn's own socket protocols answer it before an app is asked, and know no empty close.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState
from websockets.extensions.permessage_deflate import PerMessageDeflate

from wiretape.proxy.channel import Channel
from wiretape.proxy.front import break_off
from wiretape.proxy.handshake import asks_for_socket
from wiretape.traces.types import Headers

__all__ = ["EXTENSION", "Tunnel", "Wire", "WireProtocol"]

EXTENSION = "wiretape.transport"


@dataclass(frozen=True, slots=True)
class Tunnel:
    """The CONNECT that a connection came through."""

    scheme: str
    host: str
    port: int
    session: str


class Wire:
    """One request's connection: what the client sent, to the letter, and the means to answer it so."""

    def __init__(self, protocol: WireProtocol, cycle: RequestResponseCycle) -> None:
        self.target = protocol.url.decode("latin-1")
        self.headers: Headers = tuple(protocol.raw_headers)
        self.tunnel = protocol.tunnel
        self.asks_for_socket = asks_for_socket(self.headers)
        self._protocol = protocol
        self._cycle = cycle
        self._transport: asyncio.Transport = protocol.transport

    @property
    def method(self) -> str:
        return str(self._cycle.scope["method"])

    @property
    def keep_alive(self) -> bool:
        return bool(self._cycle.keep_alive)

    def start(self, status: int, reason: str, headers: Iterable[tuple[str, str]]) -> None:
        """The head as given; `Connection: close` is added where this connection ends with the answer."""
        if self.asks_for_socket and status != 101:
            # The parser reads nothing more after a handshake.
            self._cycle.keep_alive = False
        lines = [f"HTTP/1.1 {status} {reason or _phrase(status)}", *(f"{name}: {value}" for name, value in headers)]
        if not self._cycle.keep_alive:
            lines.append("Connection: close")
        self._cycle.response_started = True
        self._cycle.waiting_for_100_continue = False
        self.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def write(self, data: bytes) -> None:
        if not self._cycle.disconnected:
            self._transport.write(data)

    async def drain(self) -> None:
        if self._cycle.flow.write_paused and not self._cycle.disconnected:
            await self._cycle.flow.drain()

    @property
    def gone(self) -> bool:
        """The client hung up."""
        return bool(self._cycle.disconnected)

    async def until_gone(self, seconds: float) -> None:
        """Say nothing more until the client hangs up, or for so long."""
        try:
            async with asyncio.timeout(seconds):
                while not self._cycle.disconnected:
                    await self._cycle.message_event.wait()
                    self._cycle.message_event.clear()
        except TimeoutError:
            pass

    def close_after(self) -> None:
        """Let the connection end with this answer; to be said before `start`."""
        self._cycle.keep_alive = False

    def finish(self) -> None:
        """The answer is whole: the connection is free for the next request, or closed."""
        self._done()
        if not self._cycle.keep_alive:
            self._transport.close()
        self._cycle.on_response()

    def as_channel(self, deflate: PerMessageDeflate | None) -> Channel:
        """The handshake is answered: the connection is a WebSocket from here on."""
        self._done()
        return self._protocol.become_channel(deflate)

    def hang_up(self) -> None:
        """FIN, whatever was promised."""
        self._done()
        self._transport.close()

    def reset(self) -> None:
        """RST, to be said after the bytes before it had their time to arrive."""
        self._done()
        break_off(self._transport)

    def _done(self) -> None:
        self._cycle.response_started = self._cycle.response_complete = True
        self._cycle.message_event.set()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


class WireProtocol(HttpToolsProtocol):
    def __init__(self, config: Config, state: ServerState, tunnel: Tunnel | None, strayed: Callable[[str, str], None]) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self.tunnel = tunnel
        self._strayed = strayed
        self.url = b""
        self.raw_headers: list[tuple[str, str]] = []

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.raw_headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self.raw_headers.append((name.decode("latin-1"), value.decode("latin-1")))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        # The app's task was made just now and has not run yet: what it finds in the scope can still be added.
        extensions: dict[str, Any] = {EXTENSION: Wire(self, self.cycle)}
        self.scope["extensions"] = extensions

    def send_400_response(self, msg: str) -> None:
        host = self.tunnel.host if self.tunnel else ""
        self._strayed("", f"a request{f' to {host}' if host else ''} is no HTTP/1.1 that can be read: {msg}")
        super().send_400_response(msg)

    def become_channel(self, deflate: PerMessageDeflate | None) -> Channel:
        channel = Channel(deflate, self.connections.discard)
        self.connections.discard(self)
        self.connections.add(channel)  # type: ignore[arg-type]  # uvicorn knows its own protocols alone
        channel.connection_made(self.transport)
        self.transport.set_protocol(channel)
        return channel
