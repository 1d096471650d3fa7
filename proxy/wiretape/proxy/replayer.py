"""The replaying half of the sidecar: CONNECT, TLS and HTTP/1.1 in front of one ASGI app; nothing here can reach an upstream."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from functools import partial

from uvicorn.config import Config
from uvicorn.server import ServerState

from wiretape.proxy.certs import Authority
from wiretape.proxy.clients import refused_certificate
from wiretape.proxy.front import Opening, part, peek, read_head
from wiretape.proxy.route import Refusal, Router
from wiretape.proxy.tally import Tally
from wiretape.proxy.wire import Tunnel, WireProtocol
from wiretape.traces.types import Headers

__all__ = ["Replayer"]

_KEEP_ALIVE = 75
"""Seconds that an idle connection stays open: longer than clients keep theirs, so that it is they who close."""


class Replayer:
    """`app` is an ASGI app that finds `wiretape.transport` in its scope."""

    def __init__(self, authority: Authority, router: Router, app: object, tally: Tally | None = None) -> None:
        self._tally = tally or Tally()
        self._authority = authority
        self._router = router
        self._config = Config(
            app,  # type: ignore[arg-type]  # uvicorn's union of ASGI versions
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=_KEEP_ALIVE,
        )
        self._config.load()
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    async def take(self, accepted: socket.socket, opening: Opening) -> None:
        if opening is Opening.CONNECT:
            await self._tunnel(accepted)
        else:
            await asyncio.get_running_loop().connect_accepted_socket(self._factory(None), accepted)

    async def listen(self) -> tuple[str, int]:
        """Take connections on a loopback port of its own as well, without a front; the address."""
        self._server = await asyncio.get_running_loop().create_server(self._factory(None), "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return host, port

    async def _tunnel(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        head = await read_head(accepted)
        if head is None:
            accepted.close()
            return
        host, port, headers = _connect(head)
        session = self._router.connect(host, port, headers)
        if isinstance(session, Refusal):
            self._tally.strayed(host, f"CONNECT {host}:{port}: {session.message}")
            await part(accepted, _refused(session))
            return
        await loop.sock_sendall(accepted, b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = await peek(accepted, lambda data: data[:1])
        if first is None:
            self._tally.strayed(host, f"CONNECT {host}:{port}: the client connected and then asked for nothing.")
            accepted.close()
            return
        secure = first == b"\x16"
        tunnel = Tunnel("https" if secure else "http", host, port, session)
        try:
            await loop.connect_accepted_socket(self._factory(tunnel), accepted, ssl=self._tls(host) if secure else None)
        except (ssl.SSLError, ConnectionError) as error:
            self._tally.strayed(host, refused_certificate(host, None, str(error)))

    def _tls(self, host: str) -> ssl.SSLContext:
        context = self._authority.server_context(host)
        context.sni_callback = self._by_name
        return context

    def _by_name(self, secured: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name:
            secured.context = self._authority.server_context(name)

    def _factory(self, tunnel: Tunnel | None) -> partial[WireProtocol]:
        return partial(WireProtocol, self._config, self._state, tunnel, self._tally.strayed)

    async def stop(self, patience: float) -> None:
        """Idle connections end now, those in an exchange get so many seconds."""
        if self._server:
            self._server.close()
        for protocol in tuple(self._state.connections):
            protocol.shutdown()
        if self._state.tasks:
            await asyncio.wait(tuple(self._state.tasks), timeout=patience)
        for protocol in tuple(self._state.connections):
            protocol.transport.abort()


def _connect(head: bytes) -> tuple[str, int, Headers]:
    first, *lines = head.decode("latin-1").split("\r\n")
    target = first.split(" ")[1]
    host, _, port = target.rpartition(":")
    pairs = (line.partition(":") for line in lines if ":" in line)
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    return host.strip("[]") or target, int(port) if port.isdecimal() else 443, headers


def _refused(refusal: Refusal) -> bytes:
    head = (
        f"HTTP/1.1 {refusal.status} Refused\r\nContent-Type: application/json\r\nContent-Length: {len(refusal.body)}\r\n"
        "x-should-retry: false\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + refusal.body
