"""Content codings (RFC 9110 §8.4) taken off and put on again, with a bound on what comes out.

Bodies are stored with their content coding on; whoever reads them asks here. Nothing here raises on bytes from outside:
an unknown coding, damage, or more than `limit` bytes inside is None. Sources: gzip RFC 1952, deflate RFC 9110 §8.4.1.2
(zlib, and the raw form that some servers send instead), br RFC 7932, zstd RFC 8878.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]  # it has no stubs

from wiretape.traces.types import Headers

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["LIMIT", "codings", "is_cut", "is_known", "redo", "undo"]

LIMIT = 32 * 2**20
"""Bytes that one body may unpack to: 32 MiB is far above any model's answer, far below a decompression bomb's aim."""

_MOST_CODINGS = 4
"""More layers than anybody stacks; each costs up to `limit` bytes of work."""

_PIECE = 256 * 2**10


class _Damaged(Exception):
    """The bytes are not what the coding's name says, or there is more inside than asked for."""


class _Cut(_Damaged):
    """They are, as far as they go."""


class _Output:
    """What came out so far; full at `limit`."""

    def __init__(self, limit: int) -> None:
        self.data, self.limit = bytearray(), limit
        self.whole = False
        """The coding's own end was reached, with nothing after it."""
        self.damaged = False
        """What came out is not all that is inside the bytes that are there."""

    def room(self) -> int:
        """How much to ask for next: one byte more than allowed shows that there is too much."""
        return min(_PIECE, self.limit + 1 - len(self.data))

    def add(self, piece: bytes) -> None:
        self.data += piece
        if len(self.data) > self.limit:
            del self.data[self.limit :]
            raise _Damaged("more inside than the limit")


def codings(headers: Headers) -> tuple[str, ...]:
    """Names in the order in which they were applied, lower case, `identity` left out."""
    fields = [value for name, value in headers if name.lower() == "content-encoding"]
    names = [name.strip().lower() for name in ",".join(fields).split(",")]
    return tuple(name for name in names if name and name != "identity")


def undo(body: bytes, headers: Headers, *, limit: int = LIMIT, partial: bool = False) -> bytes | None:
    """The body without its codings; the body itself where there are none.

    None where a coding is unknown, the bytes are damaged or cut, or one layer holds more than `limit` bytes. With
    `partial` a body that is damaged, cut or too large gives what can be read of its beginning instead.
    """
    names = codings(headers)
    if len(names) > _MOST_CODINGS or any(name not in _UNDO for name in names):
        return None
    for name in reversed(names):
        read = _undo_one(name, body, limit)
        if not read.whole and not partial:
            return None
        body = bytes(read.data)
    return body


def is_known(headers: Headers) -> bool:
    """Whether every coding is one that can be taken off."""
    return all(name in _UNDO for name in codings(headers))


def is_cut(body: bytes, headers: Headers, *, limit: int = LIMIT) -> bool:
    """Whether the body has one known coding and lacks nothing but its end: `partial` then reads all that is there."""
    names = codings(headers)
    if len(names) != 1 or names[0] not in _UNDO:
        return False
    read = _undo_one(names[0], body, limit)
    return not read.whole and not read.damaged


def redo(body: bytes, headers: Headers, *, whole: bool = True) -> bytes:
    """The codings that the headers name, put on. Not `whole`: left without an end, as a body that was cut has none.

    Raises ValueError for a coding that `undo` would not have taken off.
    """
    for name in codings(headers):
        if name not in _REDO:
            raise ValueError(f"no coding {name!r}: one of {', '.join(sorted(_REDO))}")
        body = _REDO[name](body, whole)
    return body


def _undo_one(name: str, body: bytes, limit: int) -> _Output:
    output = _Output(limit)
    if not body:  # the answer to HEAD, a 304: a label and nothing under it
        output.whole = True
        return output
    try:
        _UNDO[name](body, output)
    except (_Cut, EOFError):
        output.whole = False
    except (_Damaged, zlib.error, zstd.ZstdError, brotli.error):
        output.whole, output.damaged = False, True
    return output


def _inflate(body: bytes, output: _Output, wbits: int) -> bytes:
    """One zlib stream into output; returns what follows it."""
    stream = zlib.decompressobj(wbits)
    while not stream.eof:
        piece = stream.decompress(body, output.room())
        body = stream.unconsumed_tail
        output.add(piece)
        if not piece and not body and not stream.eof:
            raise _Cut("cut")
    return stream.unused_data


def _gunzip(body: bytes, output: _Output) -> None:
    """Members one after another (RFC 1952 §2.2), and zero padding after the last, as gzip itself takes it."""
    while body:
        body = _inflate(body, output, 31).lstrip(b"\0")
    output.whole = True


def _undeflate(body: bytes, output: _Output) -> None:
    try:
        output.whole = not _inflate(body, output, 15)
    except zlib.error:
        if output.data:
            raise
        output.whole = not _inflate(body, output, -15)


def _unbrotli(body: bytes, output: _Output) -> None:
    stream = brotli.Decompressor()
    for start in range(0, len(body), _PIECE):
        piece = stream.process(body[start : start + _PIECE], output_buffer_limit=output.room())
        while piece or not stream.can_accept_more_data():  # it can say that it takes more and still hold some back
            output.add(piece)
            piece = stream.process(b"", output_buffer_limit=output.room())
    output.whole = stream.is_finished()


def _unzstd(body: bytes, output: _Output) -> None:
    """Frames one after another (RFC 8878 §3.1)."""
    while body:
        stream = zstd.ZstdDecompressor()
        output.add(stream.decompress(body, output.room()))
        while not stream.eof:
            if stream.needs_input:
                raise _Cut("cut")
            output.add(stream.decompress(b"", output.room()))
        body = stream.unused_data
    output.whole = True


def _gzip(body: bytes, whole: bool) -> bytes:
    return gzip.compress(body, mtime=0) if whole else _deflate_open(body, 31)


def _deflate(body: bytes, whole: bool) -> bytes:
    return zlib.compress(body) if whole else _deflate_open(body, 15)


def _deflate_open(body: bytes, wbits: int) -> bytes:
    stream = zlib.compressobj(wbits=wbits)
    return stream.compress(body) + stream.flush(zlib.Z_SYNC_FLUSH)


def _brotli(body: bytes, whole: bool) -> bytes:
    if whole:
        return bytes(brotli.compress(body, quality=5))
    stream = brotli.Compressor(quality=5)
    return bytes(stream.process(body) + stream.flush())


def _zstd(body: bytes, whole: bool) -> bytes:
    if whole:
        return zstd.compress(body)
    stream = zstd.ZstdCompressor()
    return stream.compress(body, zstd.ZstdCompressor.FLUSH_BLOCK)


_UNDO: dict[str, Callable[[bytes, _Output], None]] = {
    "br": _unbrotli,
    "deflate": _undeflate,
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "zstd": _unzstd,
}

_REDO: dict[str, Callable[[bytes, bool], bytes]] = {
    "br": _brotli,
    "deflate": _deflate,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "zstd": _zstd,
}
