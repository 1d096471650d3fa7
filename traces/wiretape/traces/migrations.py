"""The schema of a store, as numbered steps forward. A released step is never edited: a change is a new one.

`application_id` says that a SQLite file is a wiretape store (`wtap`, see
<https://sqlite.org/pragma.html#pragma_application_id>), `user_version` how many steps it has seen. Each step sets
`user_version` within its own transaction, so that a store is never between two versions. A store always appears whole: the
first layout happens under another name and is moved into place.

What a row means (all times in microseconds since the start of the request, but for `started_at` and `at` of events, which
are seconds since the epoch):

- `exchanges`, `responses`, `ends`: what was known when a request had come, an answer began, it was over. Rows are only added,
  so a crash leaves a true prefix. An exchange without an `ends` row is not complete.
- `pieces`: what has arrived of answers that are not over, one row an exchange a batch. `arrived` holds times and lengths of the
  chunks that came, `released` the lengths of those that the redactor let go, `data` their bytes. The nth released is the nth
  that arrived, perhaps in an earlier row.
- `bodies`: content by its SHA-256. `form` says how `data` holds it: see bodies.py.
- `marker`: one row once the writer has closed the file; none while it is recorded to, or after a crash.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.db import Table
from sqlite_utils.migrations import Migrations

__all__ = ["APPLICATION_ID", "MIGRATIONS", "SCHEMA_VERSION", "create", "upgrade"]

APPLICATION_ID = int.from_bytes(b"wtap")

MIGRATIONS = Migrations("wiretape")


@MIGRATIONS()
def m001_exchanges(db: Database) -> None:
    _recordings(db)
    _exchanges(db)
    _answers(db)
    _beside(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")


SCHEMA_VERSION = 1
"""The newest step: what `user_version` is after all of them."""


def create(path: Path) -> None:
    """Put an empty store at `path`, whole or not at all; the caller holds the lock. OSError and sqlite3.Error pass through."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        upgrade(fresh)
        for left in ("-wal", "-shm", "-journal"):  # of a store that was deleted: SQLite would play them into this one
            path.with_name(path.name + left).unlink(missing_ok=True)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def upgrade(path: Path) -> None:
    """Apply the steps that `path` has not seen. sqlite3.Error passes through, and the store stays at the step before."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        MIGRATIONS.apply(Database(connection, execute_plugins=False))


def _table(db: Database, name: str, columns: dict[str, type], **how: object) -> Table:
    optional = how.pop("optional", ())
    assert isinstance(optional, tuple)
    required = {column for column in columns if column not in optional}
    return db.table(name).create(columns, not_null=required, **how)  # type: ignore[arg-type]


def _recordings(db: Database) -> None:
    columns = {"id": int, "recording_id": str, "name": str, "started_at": float, "ended_at": float}
    columns |= {"status": str, "labels": str, "tool_version": str, "redactions": int}
    _table(db, "recordings", columns, pk="id", optional=("ended_at", "redactions")).create_index(["recording_id"], unique=True)


def _exchanges(db: Database) -> None:
    columns = {"recording": int, "seq": int, "session": str, "kind": str, "source": str, "started_at": float, "noise": int}
    columns |= {"upstream": str, "rule": str, "match": str, "method": str, "url": str, "http_version": str}
    columns |= {"headers": str, "body": int, "fingerprint": str}
    optional = ("upstream", "rule", "match", "body", "fingerprint")
    _table(db, "exchanges", columns, pk=("recording", "seq"), optional=optional)


def _answers(db: Database) -> None:
    key = ("recording", "seq")
    columns = {"recording": int, "seq": int, "status": int, "reason": str, "http_version": str, "headers": str}
    _table(db, "responses", columns, pk=key)
    columns = {"recording": int, "seq": int, "end": str, "error": str, "body": int, "chunks": bytes, "trailers": str}
    times = {"connected": int, "request_sent": int, "first_byte": int, "ended": int}
    _table(db, "ends", columns | times, pk=key, optional=("error", "body", "chunks", "trailers", *times))
    columns = {"id": int, "recording": int, "seq": int, "arrived": bytes, "released": bytes, "data": bytes}
    _table(db, "pieces", columns, pk="id").create_index(key)


def _beside(db: Database) -> None:
    columns = {"id": int, "recording": int, "seq": int, "at": int, "sender": str, "type": str, "data": bytes, "code": int}
    _table(db, "messages", columns, pk="id", optional=("code",)).create_index(["recording", "seq"])
    columns = {"id": int, "recording": int, "at": float, "session": str, "payload": str}
    _table(db, "events", columns, pk="id").create_index(["recording"])
    columns = {"id": int, "digest": bytes, "size": int, "form": str, "data": bytes}
    _table(db, "bodies", columns, pk="id").create_index(["digest"], unique=True)
    _table(db, "marker", {"state": str}, pk="state")
