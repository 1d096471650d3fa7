"""What is refused, in which words, and that it stays as it was to the byte."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest
from support.stores import child, opened, plain, put, read

from wiretape.traces.errors import StoreError, UsageError, WiretapeError
from wiretape.traces.guard import open_checked
from wiretape.traces.store import SCHEMA_VERSION, Store

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    path = tmp_path / "good.db"
    writer = opened(path)
    for seq in range(1, 40):
        put(writer, plain(seq, os.urandom(900)))
    writer.close()
    return path.read_bytes()


def damaged(good: bytes) -> dict[str, tuple[bytes, str]]:
    def flipped(at: int) -> bytes:
        return good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :]

    return {
        "a header alone": (good[:100], "damaged"),
        "half a file": (good[: len(good) // 2 // 4096 * 4096], "damaged"),
        "a flipped magic": (flipped(3), "another kind of file"),
        "a flipped page": (flipped(100), "damaged"),
        "flipped pages within": (good[:8192] + bytes(x ^ 0xFF for x in good[8192:20480]) + good[20480:], "damaged"),
        "text": (b"name: refund\nagent: {}\n" * 10, "another kind of file"),
        "a Git LFS pointer": (LFS, "git lfs pull"),
    }


KINDS = list(damaged(bytes(30000)))


@pytest.mark.parametrize("kind", KINDS)
def test_it_refuses_a_damaged_file_and_leaves_it_as_it_was(tmp_path: Path, good: bytes, kind: str) -> None:
    data, reason = damaged(good)[kind]
    path = tmp_path / "bad.db"
    path.write_bytes(data)
    for attempt in (lambda: Store.open(path).close(), lambda: opened(path).close()):
        with pytest.raises(StoreError, match=reason) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == data
    assert {each.name for each in tmp_path.iterdir()} == {"good.db", "bad.db"}


def test_it_refuses_an_empty_file_to_readers(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    with pytest.raises(StoreError, match="empty file"):
        Store.open(tmp_path / "a.db")


def test_it_refuses_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url)")
    before = path.read_bytes()
    for attempt in (lambda: Store.open(path).close(), lambda: opened(path).close()):
        with pytest.raises(StoreError, match="another program"):
            attempt()
        assert path.read_bytes() == before


def test_it_refuses_a_store_of_a_newer_version(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "good.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999999")
    before = path.read_bytes()
    for attempt in (lambda: Store.open(path).close(), lambda: opened(path).close()):
        with pytest.raises(StoreError, match=rf"version {SCHEMA_VERSION} or older, got version 999999.*upgrade"):
            attempt()
        assert path.read_bytes() == before


def test_it_refuses_to_write_to_a_read_only_store_and_reads_it(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "good.db"
    path.chmod(0o444)
    with pytest.raises(StoreError, match="read-only"):
        opened(path)
    assert len(read(path)) == 39
    assert path.read_bytes() == good
    assert [each.name for each in tmp_path.iterdir()] == ["good.db"]


@pytest.mark.parametrize(("name", "kind", "said"), [("no.db", UsageError, "no such file"), (".", UsageError, "folder")])
def test_it_refuses_what_is_no_file(tmp_path: Path, name: str, kind: type[WiretapeError], said: str) -> None:
    with pytest.raises(kind, match=said):
        Store.open(tmp_path / name)


def test_it_cannot_write_through_a_checked_connection(tmp_path: Path, good: bytes) -> None:
    with contextlib.closing(open_checked(tmp_path / "good.db")) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM exchanges")


def test_it_trusts_no_schema(tmp_path: Path, good: bytes) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "good.db")) as db:
        db.executescript(
            "DROP TABLE events; CREATE VIEW events AS SELECT 1 AS recording, 2 AS at, 'x' AS session, '{}' AS payload"
        )
    with Store.open(tmp_path / "good.db") as store, pytest.raises(StoreError, match="damaged"):
        store.events(store.choose()[0])


def test_it_names_the_exchange_whose_body_was_changed(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "good.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE bodies SET data = zeroblob(length(data)) WHERE id = (SELECT body FROM ends WHERE seq = 7)")
        db.commit()
    with Store.open(path) as store:
        info, _ = store.choose()
        assert store.exchange(info, 6).seq == 6
        with pytest.raises(StoreError, match="damaged in exchange 7"):
            store.exchange(info, 7)


CRASH = """
import os, signal
writer = opened(Path(sys.argv[1]))
put(writer, plain(1)); stream(writer, 2, b"data: 1\\n\\n")
writer.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_reads_what_a_crash_left_without_writing_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    child(CRASH, path).wait()
    files = [path, tmp_path / "a.db-wal"]
    before = [each.read_bytes() for each in files]
    assert [each.seq for each in read(path)] == [1, 2]
    assert [each.read_bytes() for each in files] == before


def test_it_refuses_a_file_in_mid_change(tmp_path: Path, good: bytes) -> None:
    path = tmp_path / "good.db"
    code = """
import os, signal, sqlite3
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN")
for _ in range(200):
    db.execute("UPDATE bodies SET data = randomblob(2000)")
    db.execute("INSERT INTO marker VALUES (hex(randomblob(500)))")
os.kill(os.getpid(), signal.SIGKILL)
"""
    child(code, path).wait()
    before = path.read_bytes()
    assert before != good
    for attempt in (lambda: Store.open(path).close(), lambda: opened(path).close()):
        with pytest.raises(StoreError, match=r"cut off.*sqlite3 .*quick_check"):
            attempt()
    assert path.read_bytes() == before
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA quick_check").fetchall()
    assert len(read(path)) == 39


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to read as somebody who may not write")
def test_it_reads_in_a_folder_that_cannot_be_written_to_or_says_why_not() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        closed, crashed = Path(folder) / "closed" / "a.db", Path(folder) / "crashed" / "a.db"
        for path in (closed, crashed):
            path.parent.mkdir()
        put(writer := opened(closed), plain(1))
        writer.close()
        with contextlib.closing(sqlite3.connect(closed)) as db:
            db.execute("PRAGMA journal_mode = WAL")  # as a reader that stayed leaves it
        child(CRASH, crashed).wait()
        (crashed.parent / "a.db-shm").unlink()
        assert read_as_nobody(closed) == "1"
        said = read_as_nobody(crashed)
    assert "-wal" in said
    assert "Copy both files" in said


def read_as_nobody(path: Path) -> str:
    code = """
import os
from wiretape.traces.errors import WiretapeError
os.setgid(65534); os.setuid(65534)
try:
    print(len(read(Path(sys.argv[1]))))
except WiretapeError as error:
    print(error)
"""
    said, _ = child(code, path).communicate()
    return said.strip()
