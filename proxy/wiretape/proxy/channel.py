"""A replayed WebSocket after its handshake, from the server's side: an asyncio protocol that sends exactly what it is told.

Pings are answered; nothing else is sent on its own, no ping, no close: a recorded conversation has its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from websockets.extensions.permessage_deflate import PerMessageDeflate

from wiretape.proxy.frames import FrameReader, as_frame
from wiretape.proxy.front import break_off
from wiretape.traces.types import Message

__all__ = ["Channel"]

_BAD_FRAME = Message(0, "server", "close", b"", 1002)


class Channel(asyncio.Protocol):
    def __init__(self, deflate: PerMessageDeflate | None, lost: Callable[[Channel], None]) -> None:
        """`lost` is told when the connection is no more."""
        self.transport: asyncio.Transport
        self._deflate = deflate
        self._lost = lost
        self._reader = FrameReader("client", deflate)
        self._heard: asyncio.Queue[Message | None] = asyncio.Queue()
        self._waiting = bytearray()
        self._gone = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    # what the client does

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        for message in self._reader.feed(data, 0):
            if message.type == "ping":
                self.transport.write(as_frame(Message(0, "server", "pong", message.data)))
            elif message.type != "pong":
                self._heard.put_nowait(message)
        if self._reader.broken:
            self.transport.write(as_frame(_BAD_FRAME))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()
        self._heard.put_nowait(None)
        self._writable.set()
        self._lost(self)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    @property
    def gone(self) -> bool:
        """Nobody listens any more."""
        return self._gone.is_set()

    async def receive(self) -> Message | None:
        """The client's next message or close; None once it is gone."""
        message = await self._heard.get()
        if message is None:
            self._heard.put_nowait(None)
        return message

    # what the server does

    def send(self, message: Message) -> None:
        """With the next `flush`."""
        self._waiting += as_frame(message, self._deflate)

    async def flush(self) -> None:
        """Send what waits, in one write, and wait until the client takes it."""
        if not self.gone:
            self.transport.write(bytes(self._waiting))
        self._waiting.clear()
        await self._writable.wait()

    async def wait(self, seconds: float) -> None:
        """Say nothing for so long, or until the client is gone."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), seconds)

    def hang_up(self) -> None:
        """FIN, after what was sent."""
        self.transport.close()

    def reset(self) -> None:
        """RST, to be said after the bytes before it had their time to arrive."""
        break_off(self.transport)

    def shutdown(self) -> None:
        """The sidecar stops."""
        self.hang_up()
