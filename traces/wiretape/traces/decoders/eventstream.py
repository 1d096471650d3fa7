"""Frames of AWS event streams (`application/vnd.amazon.eventstream`), incremental and total: bytes cut anywhere in, frames out.

https://smithy.io/2.0/aws/amazon-eventstream.html. A frame is: total length, length of the headers, CRC-32 of these eight bytes,
headers, payload, CRC-32 of all before it; numbers are big-endian. A frame whose checksums do not hold ends the reading, as it
does for every client: what follows cannot be trusted to begin where a frame begins.
"""

from __future__ import annotations

import binascii
import struct
from dataclasses import dataclass, field

__all__ = ["Frame", "FrameReader"]

_PRELUDE = struct.Struct(">III")
_LARGEST = 16 * 1024 * 1024 + 1024
"""Payloads have at most 16 MB: a larger length is a broken frame, not one to wait for."""
_CRC = 4
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Header types of a fixed size; 6 (bytes) and 7 (text) say their own in two bytes."""
_TEXT = 7


@dataclass(frozen=True, slots=True)
class Frame:
    headers: dict[str, str] = field(default_factory=dict)
    """Those that hold text, names as sent: `:message-type`, `:event-type`, `:exception-type`."""
    payload: bytes = b""


class FrameReader:
    """Time and memory are linear in what was fed; what is kept is the open frame alone."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self.broken: str | None = None
        """Why reading ended; None as long as every frame was sound."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        if self.broken:
            return []
        self._rest += data
        frames, start = [], 0
        while not self.broken and (size := self._size(start)) and len(self._rest) - start >= size:
            frame = self._frame(bytes(self._rest[start : start + size]))
            start += size
            if frame:
                frames.append(frame)
        del self._rest[:start]
        return frames

    @property
    def open(self) -> bool:
        """Bytes of a frame that never ended are left."""
        return bool(self._rest) and not self.broken

    def _size(self, start: int) -> int | None:
        """Of the frame that begins here; None as long as its prelude is not whole, or where it is broken."""
        if len(self._rest) - start < _PRELUDE.size:
            return None
        total, headers, checksum = _PRELUDE.unpack_from(self._rest, start)
        if binascii.crc32(self._rest[start : start + 8]) != checksum:
            self.broken = "corrupt frame: the checksum of its prelude does not hold"
        elif not _PRELUDE.size + headers + _CRC <= total <= _LARGEST:
            self.broken = f"corrupt frame: a length of {total} bytes with {headers} bytes of headers"
        return None if self.broken else int(total)

    def _frame(self, data: bytes) -> Frame | None:
        (checksum,) = struct.unpack(">I", data[-_CRC:])
        if binascii.crc32(data[:-_CRC]) != checksum:
            self.broken = "corrupt frame: its checksum does not hold"
            return None
        end = _PRELUDE.size + struct.unpack_from(">I", data, 4)[0]
        return Frame(_headers(data[_PRELUDE.size : end]), data[end:-_CRC])


def _headers(data: bytes) -> dict[str, str]:
    """The headers that hold text; what cannot be read ends the list."""
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        if name_end >= len(data):
            break
        kind, start = data[name_end], name_end + 1
        if kind in (6, _TEXT):
            size = int.from_bytes(data[start : start + 2], "big")
            start += 2
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            break
        if kind == _TEXT:
            found[data[at + 1 : name_end].decode("utf-8", "replace")] = data[start : start + size].decode("utf-8", "replace")
        at = start + size
    return found
