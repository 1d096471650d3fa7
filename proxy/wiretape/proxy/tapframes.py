"""What a tap and its sidecar tell each other: frames of a kind, a time and a payload. Bytes in, frames out.

A tap greets first. Recording, it then reports what passed; replaying, it hands on what the client says, and the sidecar answers
with what the server said. Either side's last frame is the end.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pydantic import BaseModel, ConfigDict

__all__ = ["Ended", "Frame", "FrameReader", "Hello", "Kind", "LineReader"]

_HEAD = struct.Struct(">cQI")
"""Kind, microseconds since the tap began, bytes of the payload."""


class Kind(Enum):
    HELLO = b"h"
    """`Hello` as JSON."""
    CLIENT = b"c"
    """A line of the client without its line feed."""
    SERVER = b"s"
    """The same of the server."""
    LEFT = b"l"
    """The client closed its side."""
    END = b"e"
    """`Ended` as JSON."""


class Hello(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    started_at: float
    """Seconds since the epoch."""
    secrets: tuple[str, ...] = ()
    """Of the server's own environment, which the sidecar does not know: never to be kept."""


class Ended(BaseModel):
    model_config = ConfigDict(frozen=True)

    exit_code: int
    """Of the server, as a shell tells it: 128 + n where signal n ended it."""


@dataclass(frozen=True, slots=True)
class Frame:
    kind: Kind
    at: int
    payload: bytes = b""

    def __bytes__(self) -> bytes:
        return _HEAD.pack(self.kind.value, self.at, len(self.payload)) + self.payload


class FrameReader:
    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. ValueError for what is no frame."""
        self._held += data
        while len(self._held) >= _HEAD.size:
            mark, at, length = _HEAD.unpack_from(self._held)
            kind, end = Kind(mark), _HEAD.size + length
            if len(self._held) < end:
                return
            payload = bytes(self._held[_HEAD.size : end])
            del self._held[:end]
            yield Frame(kind, at, payload)


class LineReader:
    """One direction: bytes in, whole lines out, without their line feed."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._parts, whole[0]])
            self._parts = []
        if rest:
            self._parts.append(rest)
        return whole

    def close(self) -> list[bytes]:
        """What is left without a line feed."""
        rest, self._parts = b"".join(self._parts), []
        return [rest] if rest else []
