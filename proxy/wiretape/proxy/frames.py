"""WebSocket frames: bytes in, messages out, and a server's messages back into bytes (RFC 6455; permessage-deflate, RFC 7692).

Pure, and the same for recording and replaying. Fragments are joined; control frames between them come first, as they came.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import CTRL_OPCODES, Frame, Opcode
from websockets.streams import StreamReader

from wiretape.traces.types import Message

__all__ = ["FrameReader", "Sender", "as_frame"]

type Sender = Literal["client", "server"]
type Kind = Literal["text", "binary", "close", "ping", "pong"]

_KINDS: dict[Opcode, Kind] = {
    Opcode.TEXT: "text",
    Opcode.BINARY: "binary",
    Opcode.CLOSE: "close",
    Opcode.PING: "ping",
    Opcode.PONG: "pong",
}
_OPCODES = {kind: opcode for opcode, kind in _KINDS.items()}

_LONGEST = 1 << 28
"""Bytes of one frame's payload, unpacked: what is longer is not kept in memory."""


class FrameReader:
    """One direction of one socket. Frames of clients are masked, those of servers are not."""

    def __init__(self, sender: Sender, deflate: PerMessageDeflate | None = None) -> None:
        self.broken: str | None = None
        """Why nothing more can be read: these bytes are no frames, or not in the negotiated coding."""
        self._sender = sender
        self._extensions = [deflate] if deflate else []
        self._stream = StreamReader()
        self._kind: Kind = "binary"
        self._parts: list[bytes] = []
        """Of the message that has begun and is not over."""
        self._found: list[Message] = []
        self._at = 0
        self._parser = self._parse()

    def feed(self, data: bytes, at: int) -> list[Message]:
        """The messages that these bytes complete; `at` is when they arrived."""
        self._at, self._found = at, []
        if self.broken is None:
            self._stream.feed_data(data)
            try:
                next(self._parser)
            except (ProtocolError, PayloadTooBig) as error:
                self.broken = str(error)
        return self._found

    def _parse(self) -> Generator[None, None, None]:
        read, masked = self._stream.read_exact, self._sender == "client"
        while True:
            frame = yield from Frame.parse(read, mask=masked, max_size=_LONGEST, extensions=self._extensions)
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        data = bytes(frame.data)
        if frame.opcode is Opcode.CLOSE and len(data) >= 2:
            self._found.append(Message(self._at, self._sender, "close", data[2:], int.from_bytes(data[:2])))
        elif frame.opcode in CTRL_OPCODES:
            self._found.append(Message(self._at, self._sender, _KINDS[frame.opcode], data))
        else:
            self._join(frame, data)

    def _join(self, frame: Frame, data: bytes) -> None:
        if frame.opcode is not Opcode.CONT:
            self._kind, self._parts = _KINDS[frame.opcode], []
        self._parts.append(data)
        if frame.fin:
            self._found.append(Message(self._at, self._sender, self._kind, b"".join(self._parts)))
            self._parts = []


def as_frame(message: Message, deflate: PerMessageDeflate | None = None) -> bytes:
    """What a server sends: one frame, packed where that was negotiated; a close with exactly its code and reason."""
    data = message.data if message.code is None else message.code.to_bytes(2) + message.data
    return Frame(_OPCODES[message.type], data).serialize(mask=False, extensions=[deflate] if deflate else [])
