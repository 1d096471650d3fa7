"""Bodies by their content: each is kept once, under its SHA-256, however often it passes.

`form` says how `data` holds a body: `plain` as it is, `zstd` compressed (RFC 8878), `parts` as the ids of other bodies that it
is joined from. Parts are never in parts themselves, so no chain has to be followed. They serve two ends: an agent's history,
resent on every call, costs its new elements only (interning.py); and an answer of any length is put away with a bounded memory.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

import orjson

from wiretape.traces.interning import History, split

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["PART", "Bodies", "DamagedBody", "pack", "unpack"]

PART = 1 << 20
"""Bytes of a part: a longer body is cut, so that hashing and compressing it takes no more memory than this."""

_WORTH_IT = 64
"""Bytes below which compression only adds."""


class DamagedBody(Exception):
    """What is stored is not what its digest says, or is not there."""


class Bodies:
    """The table `bodies` of an open store. Errors of SQLite pass through."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._history = History()

    def put(self, data: bytes) -> int:
        """Keep a body, or find it kept; its id."""
        digest = hashlib.sha256(data).digest()
        found = self._id(digest)
        if found is None and len(data) > PART:
            return self._put_parts(digest, len(data), [self._put_leaf(part) for part in _cut(data)])
        return self._put_whole(digest, data) if found is None else found

    def put_request(self, data: bytes) -> int:
        """As `put`; where most of a JSON body stood in earlier ones, only its new elements are added."""
        parts = split(data)
        digests = [hashlib.sha256(part).digest() for part in parts]
        if not self._history.mostly_known(digests, parts):
            return self.put(data)
        digest = hashlib.sha256(data).digest()
        found = self._id(digest)
        if found is not None:
            return found
        ids = [each for key, part in zip(digests, parts, strict=True) for each in self._put_element(key, part)]
        return self._put_parts(digest, len(data), ids)

    def put_pieces(self, pieces: Iterable[bytes]) -> int:
        """A body that comes in pieces, such as those of a long stream: never whole in memory."""
        whole, size, ids = hashlib.sha256(), 0, []
        for part in _regrouped(pieces):
            whole.update(part)
            size += len(part)
            if size == len(part) < PART:  # the first and last one: no parts at all
                return self.put(part)
            ids.append(self._put_leaf(part))
        found = self._id(whole.digest())
        return self._put_parts(whole.digest(), size, ids) if found is None else found

    def get(self, number: int) -> bytes:
        """The body of that id. DamagedBody where it is not what was put away."""
        row = self._db.execute("SELECT digest, size, form, data FROM bodies WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise DamagedBody(f"body {number} is missing")
        digest, size, form, data = row
        body = self._joined(number, data) if form == "parts" else _unpacked(number, size, form, data)
        if hashlib.sha256(body).digest() != digest:
            raise DamagedBody(f"body {number} does not have its SHA-256")
        return body

    def digest(self, number: int) -> str:
        """SHA-256 of a body in hexadecimal, without reading the body."""
        row = self._db.execute("SELECT digest FROM bodies WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise DamagedBody(f"body {number} is missing")
        return bytes(row[0]).hex()

    def _id(self, digest: bytes) -> int | None:
        row = self._db.execute("SELECT id FROM bodies WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else int(row[0])

    def _put_element(self, digest: bytes, part: bytes) -> list[int]:
        known = self._history.ids(digest)
        if not known:
            known = [self._put_leaf(piece) for piece in _cut(part)]
            self._history.keep(digest, known)
        return known

    def _put_leaf(self, data: bytes) -> int:
        """Keep what is to be a part. A whole body of the same content may be in parts itself: then it is so no longer."""
        number = self.put(data)
        if self._db.execute("SELECT form FROM bodies WHERE id = ?", (number,)).fetchone()[0] == "parts":
            self._db.execute("UPDATE bodies SET form = ?, data = ? WHERE id = ?", (*_packed(data), number))
        return number

    def _put_parts(self, digest: bytes, size: int, ids: Sequence[int]) -> int:
        return self._insert(digest, size, "parts", pack(ids))

    def _put_whole(self, digest: bytes, data: bytes) -> int:
        return self._insert(digest, len(data), *_packed(data))

    def _insert(self, digest: bytes, size: int, form: str, data: bytes) -> int:
        row = (digest, size, form, data)
        number = self._db.execute("INSERT INTO bodies (digest, size, form, data) VALUES (?, ?, ?, ?)", row).lastrowid
        assert number is not None
        return number

    def _joined(self, number: int, data: bytes) -> bytes:
        try:
            (ids,) = unpack(data)
            query = "SELECT id, size, form, data FROM bodies WHERE id IN (SELECT value FROM json_each(?))"
            found = {row[0]: _unpacked(*row) for row in self._db.execute(query, (orjson.dumps(ids).decode(),))}
            return b"".join([found[each] for each in ids])
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedBody(f"body {number} lacks a part ({type(error).__name__})") from None


def _packed(data: bytes) -> tuple[str, bytes]:
    packed = zstd.compress(data) if len(data) >= _WORTH_IT else data
    return ("zstd", packed) if len(packed) < len(data) else ("plain", data)


def _unpacked(number: int, size: int, form: str, data: bytes) -> bytes:
    if form == "plain":
        return bytes(data)
    if form != "zstd":
        raise DamagedBody(f"body {number} has the form {form!r}, which is not known here")
    try:
        return zstd.ZstdDecompressor().decompress(data, size)  # never more than it says: no decompression bomb
    except zstd.ZstdError:
        raise DamagedBody(f"body {number} cannot be unpacked") from None


def _cut(data: bytes) -> Iterator[bytes]:
    if len(data) <= PART:
        yield data
        return
    for start in range(0, len(data), PART):
        yield data[start : start + PART]


def _regrouped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of any size as pieces of PART bytes; the last, which may be empty, as long as what is left."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= PART:
            yield bytes(held[:PART])
            del held[:PART]
    yield bytes(held)


def pack(*columns: Sequence[int]) -> bytes:
    """Columns of integers (times and lengths of chunks, ids of parts): differences as JSON, compressed."""
    return zstd.compress(orjson.dumps([[b - a for a, b in pairwise((0, *column))] for column in columns]))


def unpack(data: bytes) -> list[list[int]]:
    """The columns again. ValueError where the data is damaged."""
    try:
        return [list(accumulate(column)) for column in orjson.loads(zstd.decompress(data))]
    except (zstd.ZstdError, TypeError) as error:
        raise ValueError(f"expected packed integers, got {type(error).__name__}") from None
