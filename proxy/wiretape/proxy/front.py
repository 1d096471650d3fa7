"""The front: it always owns the port, looks at a connection's first bytes and hands the socket on untouched.

CONNECT and absolute-form requests are for the forward proxy, origin-form ones for the gateway; what fits neither gets a
sentence. The bytes are looked at with MSG_PEEK, so whoever takes the socket reads them from the start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import struct
from collections.abc import Callable
from enum import Enum
from typing import Protocol

from wiretape.traces.errors import CaptureError

__all__ = ["RESET_DELAY", "Backend", "Front", "Opening", "break_off", "opening_of", "part", "peek", "read_head"]

RESET_DELAY = 0.05
"""Seconds between the last bytes and a reset, which may overtake them."""

_PEEK = 65536
_PATIENCE = 60.0
"""Seconds that a connection may take to say its first bytes."""

_LONGEST_METHOD = 32
_METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
"""https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2: `M-SEARCH` is one too."""


log = logging.getLogger("wiretape.proxy")


class Opening(Enum):
    """How a connection's first request names its target."""

    CONNECT = "connect"
    ABSOLUTE = "absolute"
    ORIGIN = "origin"
    TLS = "tls"
    HTTP2 = "http2"
    UNKNOWN = "unknown"


class Backend(Protocol):
    """One half of the sidecar: takes a socket and serves it to its end."""

    async def take(self, accepted: socket.socket, opening: Opening) -> None: ...


def opening_of(first: bytes) -> Opening | None:
    """What these first bytes begin, or None while that cannot be told."""
    if first[:1] == b"\x16":
        return Opening.TLS
    if first.startswith(b"PRI * HTTP/2"):
        return Opening.HTTP2
    method, space, target = first.lstrip(b"\r\n").partition(b" ")
    if not _METHOD.fullmatch(method) or len(method) > _LONGEST_METHOD:
        return Opening.UNKNOWN
    if not space:
        return None
    if method == b"CONNECT":
        return Opening.CONNECT
    if not target or b"PRI * HTTP/2".startswith(first):
        return None
    if target[:1] in (b"/", b"*"):
        return Opening.ORIGIN
    return Opening.ABSOLUTE if target[:1].isalpha() else Opening.UNKNOWN


async def peek[T](accepted: socket.socket, judge: Callable[[bytes], T | None], patience: float = _PATIENCE) -> T | None:
    """What `judge` says of the bytes that wait on the socket, once it says anything; None where the peer closed before."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(patience):
        seen = 0
        while True:
            await _readable(loop, accepted)
            data = accepted.recv(_PEEK, socket.MSG_PEEK)
            if not data:
                return None
            if (verdict := judge(data)) is not None:
                return verdict
            if len(data) == seen:
                # The same bytes still wait: the socket stays readable, so do not spin on it.
                await asyncio.sleep(0.01)
            seen = len(data)


async def read_head(accepted: socket.socket) -> bytes | None:
    """Exactly the bytes of one request head, its blank line included; the next ones stay on the socket."""
    size = await peek(accepted, _head_size)
    if size is None:
        return None
    loop, head = asyncio.get_running_loop(), b""
    while len(head) < size:
        piece = await loop.sock_recv(accepted, size - len(head))
        if not piece:
            return None
        head += piece
    return head


async def part(accepted: socket.socket, last_words: bytes) -> None:
    """Say this and close, reading what still comes first: a close with unread bytes would be a reset that loses the words."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, TimeoutError):
        await loop.sock_sendall(accepted, last_words)
        accepted.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(1.0):
            while await loop.sock_recv(accepted, _PEEK):
                pass
    accepted.close()


def break_off(transport: asyncio.BaseTransport) -> None:
    """RST, below whatever TLS there is."""
    raw: socket.socket | None = transport.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()


def _head_size(data: bytes) -> int | None:
    end = data.find(b"\r\n\r\n")
    if end >= 0:
        return end + 4
    return len(data) if len(data) >= _PEEK else None


async def _readable(loop: asyncio.AbstractEventLoop, accepted: socket.socket) -> None:
    ready = loop.create_future()
    loop.add_reader(accepted, _settle, ready)
    try:
        await ready
    finally:
        loop.remove_reader(accepted)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class Front:
    def __init__(self, backend: Backend, strayed: Callable[[str, str], None] | None = None) -> None:
        """`strayed` is told (host or "", sentence) of a connection that asked for nothing that anybody could answer."""
        self._backend = backend
        self._strayed = strayed or (lambda _, sentence: log.warning(sentence))
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self, host: str, port: int) -> tuple[str, int]:
        """Own the port (0 takes a free one) without accepting yet. CaptureError where it is taken."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listener = socket.create_server((host, port), family=family, backlog=1024)
        except OSError as error:
            raise CaptureError(
                f"port {port} on {host} cannot be listened on ({error.strerror}): another program holds it."
                " Choose another with --port, or 0 for any free one."
            ) from None
        self._listener.setblocking(False)
        name = self._listener.getsockname()
        return name[0], name[1]

    def start(self) -> None:
        self._accepting = asyncio.create_task(self._accept())

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError as error:
                log.warning("cannot accept a connection: %s", error)
                await asyncio.sleep(0.1)
                continue
            accepted.setblocking(False)
            with contextlib.suppress(OSError):
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.create_task(self._greet(accepted))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _greet(self, accepted: socket.socket) -> None:
        try:
            opening = await peek(accepted, opening_of)
            if opening in (Opening.CONNECT, Opening.ABSOLUTE, Opening.ORIGIN):
                await self._backend.take(accepted, opening)
                return
            if opening in _SENTENCES:
                self._strayed("", _SENTENCES[opening])
                await part(accepted, _refusal(_SENTENCES[opening]))
            accepted.close()
        except (OSError, TimeoutError) as error:
            log.info("a connection ended before it asked for anything: %s", error)
            accepted.close()

    async def close(self) -> None:
        """No new connections; those that were handed on go their way."""
        self._accepting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._accepting
        self._listener.close()
        for task in tuple(self._tasks):
            task.cancel()


_SENTENCES: dict[Opening | None, str] = {
    Opening.TLS: "a client began TLS with the proxy itself: give it http://, not https://, in HTTPS_PROXY or the base URL.",
    Opening.HTTP2: "a client spoke HTTP/2 without asking: this port speaks HTTP/1.1. Set HTTPS_PROXY for it instead.",
    Opening.UNKNOWN: "this is no HTTP request: set HTTP_PROXY and HTTPS_PROXY, or a base URL, to this port's http:// address.",
}


def _refusal(sentence: str) -> bytes:
    body = sentence.encode() + b"\n"
    head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
