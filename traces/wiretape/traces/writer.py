"""The one writer of a store: calls from the hot path are queued and return at once; a thread redacts, batches and commits.

What passed is committed within a fifth of a second, response bodies piece by piece as the redactor lets go of them, so that
a killed recorder leaves every finished exchange and an exact prefix of the unfinished ones (write-ahead log, synchronous
NORMAL: a process may die at any point). After a failure to write (a full disk) traffic goes on, `failure` says why, and the
recording closes as incomplete. Closing leaves a single file.
"""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from wiretape.traces.errors import StoreError
from wiretape.traces.guard import open_checked, refuse_unwritable
from wiretape.traces.incoming import About, Incoming
from wiretape.traces.lock import Lock
from wiretape.traces.migrations import SCHEMA_VERSION, create, upgrade
from wiretape.traces.redact import Redactor
from wiretape.traces.types import (
    End,
    ExchangeKind,
    Headers,
    Json,
    Message,
    RecordingInfo,
    RecordingStatus,
    Request,
    Source,
    Timings,
)

__all__ = ["Writer"]

_BATCH_SECONDS = 0.2
_BATCH_BYTES = 8 << 20
"""Payload in memory at which a batch ends before its time."""

_PATIENCE = 10.0
"""Seconds that SQLite waits for another program's lock."""

_LAST_PATIENCE = 3.0
"""The same at closing, where only the log's end is at stake: a reader that stays leaves it beside the file."""

_FREE_PAGES = 8
"""Unused pages (4 KiB each) that are not worth writing the file anew for."""

type Call = tuple[Callable[..., None], tuple[Any, ...]]


class Writer:
    """Made by `open`; `close` ends the recording."""

    def __init__(self, path: Path, lock: Lock, db: sqlite3.Connection, info: RecordingInfo, redactor: Redactor) -> None:
        self.path = path
        self.id = info.id
        """Of the recording."""
        self.failure: str | None = None
        """Why the recording is incomplete, once it is."""
        self._lock = lock
        self._db = db
        self._info = info
        self._redactor = redactor
        self._broken = False
        """The file takes nothing more: what comes is passed over."""
        self._incoming = Incoming(db, _begun(db, info), redactor)
        self._calls: queue.SimpleQueue[Call | threading.Event] = queue.SimpleQueue()
        """What is to be done, in order; an event is set once everything before it is committed."""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="wiretape-writer", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        name: str,
        started_at: float,
        tool_version: str,
        redactor: Redactor,
        recording_id: str,
        labels: Mapping[str, str] | None = None,
    ) -> Writer:
        """Begin a recording in a new store, or one more in a finished one.

        StoreError where the file is no intact store of ours, cannot be written, or has another writer (with its pid); the
        file is then what it was, to the byte.
        """
        info = RecordingInfo(
            name=name,
            id=recording_id,
            started_at=started_at,
            status=RecordingStatus.RECORDING,
            labels={key: redactor.named(key, value) for key, value in (labels or {}).items()},
            tool_version=tool_version,
        )
        lock = Lock(path)
        try:
            with _told(path):
                db = _connected(path)
                try:
                    return cls(path, lock, db, info, redactor)
                except BaseException:
                    db.close()
                    raise
        except BaseException:
            lock.release()
            raise

    # the hot path: nothing here waits or raises

    def begin(  # noqa: PLR0913  # what is known of an exchange from its first moment
        self,
        seq: int,
        request: Request,
        *,
        started_at: float,
        session: str = "",
        kind: ExchangeKind = ExchangeKind.HTTP,
        source: Source = Source.LIVE,
        upstream: str | None = None,
        noise: bool = False,
        rule: str | None = None,
        match: str | None = None,
    ) -> None:
        """`request` is the head alone; its body comes by `request_chunk` and is there once `request_end` was called."""
        about = About(started_at, session, kind, source, upstream, noise, rule, match)
        self._calls.put((self._incoming.begin, (seq, request, about)))

    def touched(self, seq: int, rule: str) -> None:
        """A mock rule answers, or changes the answer: the exchange is `mocked`. To be said before `request_end`."""
        self._calls.put((self._incoming.touched, (seq, rule)))

    def request_chunk(self, seq: int, data: bytes) -> None:
        self._calls.put((self._incoming.request_chunk, (seq, data)))

    def request_end(self, seq: int, has_body: bool) -> None:
        """`has_body` tells an empty body from none."""
        self._calls.put((self._incoming.request_end, (seq, has_body)))

    def response(self, seq: int, status: int, reason: str, http_version: str, headers: Headers) -> None:
        self._calls.put((self._incoming.response, (seq, status, reason, http_version, headers)))

    def chunk(self, seq: int, at: int, data: bytes) -> None:
        """`at`: microseconds since the request started."""
        self._calls.put((self._incoming.chunk, (seq, at, data)))

    def trailers(self, seq: int, headers: Headers) -> None:
        self._calls.put((self._incoming.trailers, (seq, headers)))

    def message(self, seq: int, message: Message) -> None:
        self._calls.put((self._incoming.message, (seq, message)))

    def end(self, seq: int, end: End, error: str | None, timings: Timings) -> None:
        """A client that hung up after its API's terminal event has had everything: `complete`."""
        self._calls.put((self._incoming.end, (seq, end, error, timings)))

    def know(self, secrets: tuple[str, ...]) -> None:
        """Values that are to be replaced in whatever comes after."""
        self._calls.put((self._redactor.know, (secrets,)))

    def event(self, at: float, session: str, payload: Mapping[str, Json]) -> None:
        self._calls.put((self._incoming.event, (at, session, dict(payload))))

    @property
    def backlog(self) -> int:
        """How many calls wait for the thread."""
        return self._calls.qsize()

    def label(self, name: str, value: str) -> None:
        """What is known only at the end, kept when the recording is closed."""
        self._info = self._info.model_copy(update={"labels": {**self._info.labels, name: value}})

    # waiting for the thread

    def flush(self) -> None:
        """Return when everything queued so far is committed (or the recording has failed, or is closed)."""
        done = threading.Event()
        self._calls.put(done)
        while self._thread.is_alive() and not done.wait(0.1):
            pass

    def close(self) -> RecordingInfo:
        """End the recording: a single file with its marker. What is still open is ended as interrupted. Can be called again."""
        self._calls.put(self._closing)
        self._thread.join()
        return self._info

    # the thread

    def _work(self) -> None:
        try:
            while (ended_by := self._batch()) is not self._closing:
                if ended_by:
                    ended_by.set()
            self._finish(time.time())
            _leave_single_file(self._db)
        finally:
            self._lock.release()

    def _batch(self) -> threading.Event | None:
        """One transaction, from the first call to the end of its time; who waits for it, where that ended it."""
        call: Call | threading.Event | None = self._calls.get()
        deadline = time.monotonic() + _BATCH_SECONDS
        if not isinstance(call, threading.Event):
            self._apply(self._db.execute, ("BEGIN IMMEDIATE",))
        while isinstance(call, tuple):
            self._apply(*call)
            call = self._next(deadline)
        self._commit()
        return call

    def _next(self, deadline: float) -> Call | threading.Event | None:
        left = deadline - time.monotonic()
        if left <= 0 or self._incoming.held > _BATCH_BYTES:
            return None
        try:
            return self._calls.get(timeout=left)
        except queue.Empty:
            return None

    def _commit(self) -> None:
        for seq in self._incoming.seqs():
            self._apply(self._incoming.spill, (seq,))
        if self._db.in_transaction:
            self._apply(self._db.execute, ("COMMIT",))

    def _apply(self, call: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        if self._broken:
            return
        try:
            call(*arguments)
        except (sqlite3.Error, OSError) as error:
            self._broken = True
            self.failure = _why(self.path, error)
            with suppress(sqlite3.Error):
                self._db.rollback()
        except Exception as error:  # a decoder's or the redactor's fault costs one exchange, never the others
            self._lose(arguments[0] if arguments else None, error)

    def _lose(self, seq: object, error: Exception) -> None:
        """The type alone is told: the text of an error may hold what must not be written."""
        what = f"exchange {seq}" if isinstance(seq, int) else "something beside the exchanges"
        self.failure = f"{self.path}: {what} could not be kept ({type(error).__name__}). Please report this, and record again."
        if isinstance(seq, int):
            self._incoming.drop(seq)

    def _finish(self, ended_at: float) -> None:
        self._apply(self._db.execute, ("BEGIN IMMEDIATE",))
        for seq in self._incoming.seqs():
            self._apply(self._incoming.interrupt, (seq,))
        self._apply(self._settle, ())
        self._commit()
        if self._redactor.withheld and not self.failure:
            self.failure = _withheld(self.path, self._redactor.withheld)
        try:
            self._mark(RecordingStatus.INCOMPLETE if self.failure else RecordingStatus.COMPLETE, ended_at)
        except sqlite3.Error as error:
            self.failure = self.failure or _why(self.path, error)
        status = RecordingStatus.INCOMPLETE if self.failure else RecordingStatus.COMPLETE
        self._info = self._info.model_copy(update={"status": status, "ended_at": ended_at})

    def _settle(self) -> None:
        for seq, recording in self._incoming.unended():
            self._apply(self._incoming.settle, (seq, recording))

    def _mark(self, status: RecordingStatus, ended_at: float) -> None:
        with _transaction(self._db):
            self._db.execute(
                "UPDATE recordings SET status = ?, ended_at = ?, redactions = ?, labels = ? WHERE recording_id = ?",
                (status, ended_at, self._redactor.count, json.dumps(self._info.labels), self._info.id),
            )
            self._db.execute("INSERT INTO marker VALUES ('closed')")


def _connected(path: Path) -> sqlite3.Connection:
    """Of a store that was looked at before, or made. Whatever is refused here was not written to."""
    if not path.exists() or path.stat().st_size == 0:
        create(path)
    else:
        refuse_unwritable(path)
        with closing(open_checked(path)) as found:
            version = found.execute("PRAGMA user_version").fetchone()[0]
        if version < SCHEMA_VERSION:
            upgrade(path)
    db = sqlite3.connect(path, check_same_thread=False, timeout=_PATIENCE, isolation_level=None)
    db.setconfig(sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA, False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def _begun(db: sqlite3.Connection, info: RecordingInfo) -> int:
    """The row of a new recording. We hold the lock: others that claim to be recording were left by a recorder that died."""
    query = "INSERT INTO recordings (recording_id, name, started_at, status, labels, tool_version) VALUES (?, ?, ?, ?, ?, ?)"
    row = (info.id, info.name, info.started_at, info.status, json.dumps(info.labels), info.tool_version)
    with _transaction(db):
        interrupted = (RecordingStatus.INTERRUPTED, RecordingStatus.RECORDING)
        db.execute("UPDATE recordings SET status = ? WHERE status = ?", interrupted)
        db.execute("DELETE FROM marker")
        number = db.execute(query, row).lastrowid
    assert number is not None
    return number


def _leave_single_file(db: sqlite3.Connection) -> None:
    """Give back what folding freed, and take the log away. A reader that stays keeps the log there, empty where it can be."""
    db.execute(f"PRAGMA busy_timeout = {int(_LAST_PATIENCE * 1000)}")
    with suppress(sqlite3.Error):
        pages, free = (db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count"))
        if free > max(_FREE_PAGES, pages // 10):
            db.execute("VACUUM")
    with suppress(sqlite3.Error):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        db.execute("PRAGMA journal_mode = DELETE").fetchone()
    with suppress(sqlite3.Error):
        db.close()


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.rollback()
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What fails within as a sentence; a caller's own mistake (an id that is taken) as ValueError."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError(f"expected a new recording id: {error}") from None
    except (sqlite3.Error, OSError) as error:
        raise StoreError(_why(path, error)) from None


def _withheld(path: Path, count: int) -> str:
    return (
        f"{path}: {count} {'body was' if count == 1 else 'bodies were'} withheld, since no secret could be looked for: the"
        " bytes are not what their content coding says, or a secret stands in one that is unknown. Record again with a client"
        " that accepts gzip, br or zstd."
    )


def _why(path: Path, error: Exception) -> str:
    return f"{path}: the recording cannot be written ({error}). Free some space or choose another place, and record again."
