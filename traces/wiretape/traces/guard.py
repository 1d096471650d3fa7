"""Whether a file is a store that can be read: looked at read-only, so that looking leaves it byte for byte as it was.

A recording is hostile input: connections trust no schema, run no trigger, and a file's own pages are checked first.

The file itself is opened by SQLite alone while it may be in use: closing a second descriptor of it would drop the locks
that SQLite holds for this process (<https://sqlite.org/howtocorrupt.html>, section 2.2). Its first bytes are read only once
SQLite has refused it, to say why.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.migrations import APPLICATION_ID, SCHEMA_VERSION

__all__ = ["has_log", "open_checked", "refuse_unwritable"]

_LFS = b"version https://git-lfs"
_PATIENCE = 10.0
"""Seconds that a reader waits for a lock of SQLite; in a write-ahead log there are hardly any."""

_RESTORE = "Restore it from version control or a copy."


def open_checked(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, to an intact store of this version or an older one; what a crash left is read too.

    UsageError where there is no such file, StoreError with the reason where it is not a store or cannot be read.
    """
    _refuse_missing(path)
    try:
        db = _connected(path)
        try:
            _refuse_foreign(path, db)
            _refuse_damaged(path, db)
        except BaseException:
            db.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(_why(path, error)) from None
    return db


def has_log(path: Path) -> bool:
    """Whether a write-ahead log with something in it lies beside the store: it is being recorded to, or a writer died."""
    return _filled(path, "-wal")


def _filled(path: Path, suffix: str) -> bool:
    try:
        return path.with_name(path.name + suffix).stat().st_size > 0
    except OSError:
        return False


def refuse_unwritable(path: Path) -> None:
    """StoreError where the file is marked read-only, also for those who may write anything."""
    if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
        raise StoreError(f"{path}: expected a store that can be written, but it is read-only. Record to another file.")


def _refuse_missing(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"{path}: expected a recording, but there is no such file. Make one with `replay record NAME -- CMD`.")
    if not path.is_file():
        raise UsageError(f"{path}: expected a recording's file, got a folder or a device. Name the .db file itself.")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path}: this file may not be read. Change its permissions.")
    if path.stat().st_size == 0:
        raise StoreError(f"{path}: expected a recording, got an empty file. {_RESTORE}")


def _connected(path: Path) -> sqlite3.Connection:
    """Read-only. In a folder that cannot be written to, SQLite cannot share a log: without one, nothing can change either.

    Not so with a rollback journal beside it: the file is then in mid-change, and only a writer can take the change back.
    """
    place = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        return _defensive(place)
    except sqlite3.OperationalError:
        if has_log(path) or _filled(path, "-journal"):
            raise
        return _defensive(f"{place}&immutable=1")


def _defensive(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=_PATIENCE, isolation_level=None)
    try:
        db.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        db.setconfig(sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA, False)
        db.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        db.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # what cannot be opened says so here
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(path: Path, db: sqlite3.Connection) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path}: expected a wiretape recording, got an SQLite file of another program. It was left alone.")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path}: expected a store of version {SCHEMA_VERSION} or older, got version {version}."
            " It was written by a newer wiretape: upgrade this one."
        )


def _refuse_damaged(path: Path, db: sqlite3.Connection) -> None:
    found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    if found != "ok":
        raise StoreError(f"{path}: this recording is damaged ({' '.join(found.split())}). {_RESTORE}")


def _why(path: Path, error: sqlite3.Error) -> str:
    start = _start(path)
    if start.startswith(_LFS):
        return f"{path}: expected a recording, got a Git LFS pointer to one. Fetch it with `git lfs pull`."
    if not start.startswith(b"SQLite format 3\0"):
        return f"{path}: expected a wiretape recording (an SQLite file), got another kind of file, or its start is damaged."
    if has_log(path) and isinstance(error, sqlite3.OperationalError):
        return (
            f"{path}: its recorder died or still runs, and SQLite cannot read its -wal here ({error})."
            " Copy both files to a folder that can be written to."
        )
    if _filled(path, "-journal") and isinstance(error, sqlite3.OperationalError):
        return (
            f"{path}: a change to it was cut off, and the -journal beside it says how to take it back."
            f" Let SQLite do so: sqlite3 {path} 'PRAGMA quick_check'"
        )
    return f"{path}: this recording is damaged ({error}). {_RESTORE}"


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError:
        return b""
