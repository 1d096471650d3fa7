"""Redaction of AWS event streams (`application/vnd.amazon.eventstream`): what the frames say, and the frames made anew.

https://smithy.io/2.0/aws/amazon-eventstream.html. Lengths and checksums of a frame agree with what it holds afterwards. What is
no sound frame is searched as it is written, once the stream ends.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections import deque
from dataclasses import dataclass

from wiretape.traces.codings import codings
from wiretape.traces.edits import Edit, edited, merged
from wiretape.traces.redact import Redactor
from wiretape.traces.streams import LONGEST_HELD, Pieces, StreamRedactor
from wiretape.traces.types import Headers, header

__all__ = ["FrameRedactor", "stream_redactor"]

_PRELUDE = struct.Struct(">III")
_NUMBER = struct.Struct(">I")


def stream_redactor(redactor: Redactor, headers: Headers) -> StreamRedactor | FrameRedactor:
    """For the body of a response with these headers."""
    kind = (header(headers, "content-type") or "").lower()
    if kind.startswith("application/vnd.amazon.eventstream") and not (redactor.off or codings(headers)):
        return FrameRedactor(redactor)
    return StreamRedactor(redactor, headers)


@dataclass(frozen=True, slots=True)
class _Frame:
    data: bytes
    said: bytes
    """Its payload, or what the payload's member `bytes` holds in base64 (InvokeModelWithResponseStream)."""
    coded: bytes
    """That base64; empty where there is none."""
    start: int
    """Where `said` stands in what all frames say."""

    def saying(self, said: bytes) -> bytes:
        begin = _PRELUDE.size + _NUMBER.unpack_from(self.data, 4)[0]
        payload = self.data[begin : -_NUMBER.size]
        payload = payload.replace(self.coded, base64.b64encode(said)) if self.coded else said
        prelude = _NUMBER.pack(begin + len(payload) + _NUMBER.size) + self.data[4:8]
        body = prelude + _NUMBER.pack(binascii.crc32(prelude)) + self.data[_PRELUDE.size : begin] + payload
        return body + _NUMBER.pack(binascii.crc32(body))


class FrameRedactor:
    """As StreamRedactor: pieces in, redacted pieces out, one for each."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._assembly = redactor.assembly()
        self.pieces = Pieces()
        self._rest = bytearray()
        """The frame that is not whole, or all from the first on that is none."""
        self._held: deque[_Frame] = deque()
        self._edits: list[Edit] = []

    def feed(self, data: bytes) -> list[bytes]:
        self.pieces.add(len(data))
        self._rest += data
        while (size := _size(self._rest)) and len(self._rest) >= size:
            self._take(bytes(self._rest[:size]))
            del self._rest[:size]
        if self._assembly.size - self._assembly.safe > LONGEST_HELD:
            self._edits += self._assembly.give_up()
        return self._release()

    def close(self) -> list[bytes]:
        self._edits += self._assembly.close()
        out = self._release()
        rest = bytes(self._rest)
        edits = self._redactor.edits(rest, ())
        self._redactor.tell(edits)
        return out + self.pieces.take(rest, edits) + self.pieces.rest()

    def _take(self, data: bytes) -> None:
        payload = data[_PRELUDE.size + _NUMBER.unpack_from(data, 4)[0] : -_NUMBER.size]
        coded, said = _inside(payload)
        self._held.append(_Frame(data, said, coded, self._assembly.size))
        self._edits += self._assembly.unit(said)

    def _release(self) -> list[bytes]:
        out: list[bytes] = []
        while self._held and self._held[0].start + len(self._held[0].said) <= self._assembly.safe:
            out += self.pieces.take(*self._redacted(self._held.popleft()))
        return out

    def _redacted(self, frame: _Frame) -> tuple[bytes, list[Edit]]:
        end = frame.start + len(frame.said)
        mine = [edit for edit in self._edits if frame.start <= edit[0] < end]
        self._edits = [edit for edit in self._edits if edit[0] >= end]
        edits = merged((first - frame.start, last - frame.start, new) for first, last, new in mine)
        self._redactor.tell(edits)
        made = frame.saying(b"".join(edited(frame.said, edits))) if edits else b""
        return frame.data, [(0, len(frame.data), made)] if made else []


def _size(data: bytearray) -> int | None:
    """Of the frame that begins here; None as long as its prelude is not whole, or where it is none."""
    if len(data) < _PRELUDE.size:
        return None
    total, headers, checksum = _PRELUDE.unpack_from(data)
    sound = binascii.crc32(data[:8]) == checksum and total >= _PRELUDE.size + headers + _NUMBER.size
    return int(total) if sound else None


def _inside(payload: bytes) -> tuple[bytes, bytes]:
    """(base64, what it holds), or nothing and the payload itself."""
    try:
        coded = json.loads(payload)["bytes"].encode()
        return coded, base64.b64decode(coded, validate=True)
    except (ValueError, KeyError, TypeError, AttributeError):
        return b"", payload
