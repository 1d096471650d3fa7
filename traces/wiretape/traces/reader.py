"""Reading a store: read-only and defensive, also while it is being recorded to and after a crash.

Every question is answered from one snapshot, so that what a writer does meanwhile is seen whole or not at all. A store may be
asked from several threads.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from wiretape.traces.bodies import DamagedBody
from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.fingerprint import VERSION, Fingerprint, fingerprint
from wiretape.traces.guard import has_log, open_checked
from wiretape.traces.lock import is_locked
from wiretape.traces.rows import Rows
from wiretape.traces.types import End, Exchange, ExchangeKind, Json, RecordingInfo, RecordingStatus, Source

__all__ = ["Key", "Store"]


@dataclass(frozen=True, slots=True)
class Key:
    """What the matcher needs of an exchange, without its bodies."""

    seq: int
    session: str
    fingerprint: Fingerprint
    end: End | None
    """None while it goes on."""
    noise: bool
    source: Source
    method: str
    url: str
    status: int | None
    kind: ExchangeKind = ExchangeKind.HTTP


class Store:
    """An open store; also a context manager. Whatever is found damaged later is a StoreError naming the exchange."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()
        self._rows = Rows(db)

    @classmethod
    def open(cls, path: Path) -> Store:
        """UsageError where there is no such file, StoreError where it cannot be read."""
        return cls(path, open_checked(path))

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # recordings

    @property
    def closed(self) -> bool:
        """The marker row is there and no log beside it: the file is whole by itself, and nothing was added since."""
        with self._snapshot():
            return self._rows.marked() and not has_log(self.path)

    def recordings(self) -> tuple[RecordingInfo, ...]:
        """In the order in which they were begun."""
        with self._snapshot():
            found = self._rows.recordings()
        if any(info.status is RecordingStatus.RECORDING for info in found) and not is_locked(self.path):
            return tuple(_interrupted(info) for info in found)
        return tuple(found)

    def choose(self, name: str | None = None) -> tuple[RecordingInfo, str | None]:
        """The recording that is meant, and the one session of it where a session was named (INTERFACE.md, fine print 8).

        Without a name: the newest complete one, else the newest. A name is a recording's name or id, else a session's.
        """
        newest = self.recordings()[::-1]
        if not newest:
            raise StoreError(f"{self.path}: expected a recording, but this store holds none yet. Record into it first.")
        ranked = sorted(newest, key=lambda info: info.status is not RecordingStatus.COMPLETE)
        if name is None:
            return ranked[0], None
        if named := next((info for info in ranked if name in (info.name, info.id)), None):
            return named, None
        if holder := next((info for info in ranked if name in self._sessions(info)), None):
            return holder, name
        known = {info.name for info in newest} | {each for info in newest for each in self._sessions(info) if each}
        raise UsageError(
            f"{self.path}: expected the name of a recording or session in it ({', '.join(sorted(known))}), got {name!r}."
        )

    def redactions(self, info: RecordingInfo) -> int | None:
        """How many secrets were replaced by placeholders; None where the recording was not closed."""
        with self._snapshot():
            return self._rows.redactions(info.id)

    def _sessions(self, info: RecordingInfo) -> set[str]:
        with self._snapshot():
            return self._rows.sessions(info.id)

    # exchanges

    def exchanges(self, info: RecordingInfo, session: str | None = None) -> Iterator[Exchange]:
        """Whole, in the order of their numbers, one at a time in memory; of one session where that is given."""
        with self._snapshot():
            numbers = self._rows.numbers(info.id, session)
        for seq in numbers:
            yield self.exchange(info, seq)

    def exchange(self, info: RecordingInfo, seq: int) -> Exchange:
        """LookupError where there is none of that number."""
        with self._snapshot(seq):
            found = self._rows.exchange(info.id, seq, self._unended(info))
        if found is None:
            raise LookupError(f"no exchange {seq} in the recording {info.name}")
        return found

    def keys(self, info: RecordingInfo) -> Iterator[Key]:
        """Of each exchange whose request was seen to its end. Fingerprints of another version are made anew."""
        with self._snapshot():
            rows = self._rows.keys(info.id)
        unended = self._unended(info)
        for seq, session, text, end, noise, source, method, url, status, kind in rows:
            with self._snapshot(seq):
                key = Fingerprint.parse(text)
                if key.version != VERSION:
                    key = fingerprint(self.exchange(info, seq).request)
                ended = End(end) if end else unended
                found = Key(seq, session, key, ended, bool(noise), Source(source), method, url, status, ExchangeKind(kind))
            yield found

    def events(self, info: RecordingInfo) -> tuple[tuple[float, str, dict[str, Json]], ...]:
        """An agent's own events in order: (seconds since the epoch, session, payload)."""
        with self._snapshot():
            return tuple(self._rows.events(info.id))

    def digest(self, info: RecordingInfo) -> str:
        """SHA-256 in hexadecimal over everything that a trace is made from, whatever pages it lies in.

        Bodies count by their own SHA-256, which reading them checks. Fingerprints are made from what is here, and are left out.
        """
        total = hashlib.sha256()
        with self._snapshot():
            for line in self._rows.lines(info.id, self._unended(info)):
                total.update(json.dumps(line).encode() + b"\n")
        return total.hexdigest()

    def _unended(self, info: RecordingInfo) -> End | None:
        """What an exchange without an end row has come to."""
        return None if info.status is RecordingStatus.RECORDING and is_locked(self.path) else End.INTERRUPTED

    @contextmanager
    def _snapshot(self, seq: int | None = None) -> Iterator[None]:
        """One state of the store for everything within; damage is told with the number of the exchange."""
        where = "" if seq is None else f" in exchange {seq}"
        with self._lock:
            try:
                outermost = not self._db.in_transaction
                if outermost:
                    self._db.execute("BEGIN")
                try:
                    yield
                finally:
                    if outermost:
                        self._db.execute("COMMIT")
            except (sqlite3.Error, DamagedBody, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
                why = " ".join(str(error).split())[:200]
                raise StoreError(
                    f"{self.path}: this recording is damaged{where} ({why}). Restore it from version control or a copy."
                ) from None


def _interrupted(info: RecordingInfo) -> RecordingInfo:
    if info.status is not RecordingStatus.RECORDING:
        return info
    return info.model_copy(update={"status": RecordingStatus.INTERRUPTED})
