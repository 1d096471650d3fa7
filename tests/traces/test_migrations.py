"""The schema: numbered steps, applied once, a store whole or not there."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from wiretape.traces.migrations import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, create, upgrade


def pragma(path: Path, name: str) -> int:
    with contextlib.closing(sqlite3.connect(path)) as db:
        return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def test_it_makes_a_store_that_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    create(path)
    assert pragma(path, "application_id") == APPLICATION_ID
    assert pragma(path, "user_version") == SCHEMA_VERSION
    assert path.read_bytes()[68:72] == b"wtap"  # https://sqlite.org/fileformat2.html, offset 68
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_it_numbers_the_steps_without_a_gap() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        db = Database(connection)
        names = [step.name for step in MIGRATIONS.pending(db)]
        assert [int(name[1:4]) for name in names] == list(range(1, SCHEMA_VERSION + 1))
        for number, following in enumerate([*names[1:], None], start=1):
            MIGRATIONS.apply(db, stop_before=following)
            assert connection.execute("PRAGMA user_version").fetchone()[0] == number


def test_it_applies_each_step_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    create(path)
    before = path.read_bytes()
    upgrade(path)
    assert path.read_bytes() == before


def test_it_leaves_nothing_where_it_fails(tmp_path: Path) -> None:
    (tmp_path / "a.db").mkdir()
    with pytest.raises(OSError, match="directory"):
        create(tmp_path / "a.db")
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_it_does_not_take_over_the_log_of_a_store_that_was_deleted(tmp_path: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        (tmp_path / f"a.db{end}").write_bytes(b"of another")
    create(tmp_path / "a.db")
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]
