"""Real WebSocket upstreams and clients: the `websockets` library on both ends, and raw frames where it is too well behaved."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Literal

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.utils import accept_key

from support.sidecar import Running
from support.upstream import Asked, Script, Wire

type Way = Literal["tunnel", "gateway", "absolute"]
type Said = tuple[str, str, bytes, int | None]

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n"


@contextlib.contextmanager
def upstream(talk: Callable[[ServerConnection], Awaitable[None]], **more: Any) -> Iterator[int]:
    """A real server, on an event loop in a thread (its TLS is not safe between threads); the port that it listens on."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> Server:
        return await serve(talk, "127.0.0.1", 0, **more)

    async def stop() -> None:
        server.close()
        await server.wait_closed()

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield next(iter(server.sockets)).getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def echo(socket: ServerConnection) -> None:
    async for message in socket:
        await socket.send(message)


@contextlib.contextmanager
def client(side: Running, port: int, path: str = "/ws", *, way: Way = "tunnel", **more: Any) -> Iterator[ClientConnection]:
    """Led to the sidecar; "gateway" wants the upstream to be known as `up`."""
    direct = f"ws://127.0.0.1:{port}{path}"
    base = f"ws://{side.address[0]}:{side.address[1]}/up{path}"
    where: dict[str, Any] = {"uri": base, "proxy": None} if way == "gateway" else {"uri": direct, "proxy": side.sidecar.url}
    with connect(**where, open_timeout=30, **more) as found:
        yield found


def trusting(side: Running) -> ssl.SSLContext:
    """What a client needs to accept the run's certificates."""
    return ssl.create_default_context(cafile=str(side.sidecar.authority.pem))


def told(socket: ClientConnection, *messages: str) -> list[str | bytes]:
    """Each message sent, and its one answer."""
    answers = []
    for message in messages:
        socket.send(message)
        answers.append(socket.recv(20))
    return answers


def rest(socket: ClientConnection) -> tuple[list[str | bytes], int | None, str]:
    """Everything to the end, and the close: 1006 for a drop, 1005 for an empty one."""
    got: list[str | bytes] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            got.append(socket.recv(20))
    return got, socket.close_code, socket.close_reason or ""


def frames(*frames: bytes, then: Callable[[Wire], None] = lambda wire: wire.sock.close(), after: int = 1) -> Script:
    """A raw upstream: takes the handshake, waits for so many bytes, sends these frames and does `then`."""

    def script(wire: Wire, asked: Asked) -> None:
        wire.send(switched(asked))
        if after:
            wire.exactly(after)
        wire.send(b"".join(frames))
        then(wire)

    return script


def switched(asked: Asked, *headers: str) -> bytes:
    accept = accept_key(asked.get("sec-websocket-key") or "")
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {accept}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode()
