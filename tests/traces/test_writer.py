"""The writer: what was said is stored exactly, a kill leaves a prefix, a full disk never costs the traffic."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.stores import child, opened, plain, put, read, stream, until

from wiretape.traces.bodies import PART
from wiretape.traces.errors import StoreError
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import End, RecordingStatus, Request, Timings


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def test_it_leaves_one_closed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path, labels={"ci": "no"})
    for seq in (1, 2, 3):
        put(writer, plain(seq))
    info = writer.close()
    assert (info.status, info.name, info.labels, writer.failure) == (RecordingStatus.COMPLETE, "refund", {"ci": "no"}, None)
    assert info.ended_at is not None
    assert files(path) == ["a.db"]
    assert path.read_bytes()[18:20] == b"\x01\x01"  # no write-ahead log: https://sqlite.org/fileformat2.html, offset 18
    with Store.open(path) as store:
        assert store.closed
        assert store.recordings() == (info,)
    assert writer.close() == info


def test_it_has_no_rows_left_over_once_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    stream(writer, 1, b"a", b"b")
    writer.flush()
    stream(writer, 2, b"c")
    writer.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM pieces").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM ends").fetchone() == (2,)
        assert db.execute("PRAGMA freelist_count").fetchone()[0] <= 8


def test_it_tells_an_empty_body_from_none(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    for seq, has_body in ((1, False), (2, True)):
        writer.begin(seq, Request("POST", "http://api.test/"), started_at=1.0)
        writer.request_end(seq, has_body)
        writer.end(seq, End.REFUSED, "refused", Timings())
    writer.close()
    first, second = read(path)
    assert (first.request.body, second.request.body) == (None, b"")
    assert (first.response, first.error, first.end) == (None, "refused", End.REFUSED)


def test_it_adds_a_recording_to_a_finished_store(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for name, seqs in (("first", (1, 2)), ("second", (1,))):
        writer = opened(path, name=name)
        with Store.open(path) as store:
            assert not store.closed
        for seq in seqs:
            put(writer, plain(seq, name.encode()))
        writer.close()
    assert [(each.seq, each.response and each.response.body) for each in read(path)] == [(1, b"second")]
    assert [each.seq for each in read(path, "first")] == [1, 2]
    assert files(path) == ["a.db"]


def test_it_refuses_a_second_writer_with_the_pid_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    code = "writer = opened(Path(sys.argv[1]))\nprint('open', flush=True)\nsys.stdin.read()\nwriter.close()"
    first = child(code, path)
    assert first.stdout is not None
    assert first.stdout.readline() == "open\n"
    with pytest.raises(StoreError, match=f"process {first.pid} is recording"):
        opened(path)
    first.communicate("")
    assert first.returncode == 0
    opened(path).close()
    with Store.open(path) as store:
        assert len(store.recordings()) == 2


def test_it_lets_one_of_many_lay_out_a_fresh_store(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    code = """
from wiretape.traces.errors import StoreError
print("here", flush=True); sys.stdin.readline()
try:
    writer = opened(Path(sys.argv[1]))
    print("writes", flush=True); sys.stdin.readline(); writer.close()
except StoreError as error:
    print(error, flush=True)
"""
    processes = [child(code, path) for _ in range(4)]
    pipes = [(each.stdin, each.stdout) for each in processes if each.stdin and each.stdout]
    assert [out.readline() for _, out in pipes] == ["here\n"] * 4
    for to, _ in pipes:
        to.write("\n")
        to.flush()
    said = [out.readline() for _, out in pipes]
    winner = processes[said.index("writes\n")]
    assert sum(f"process {winner.pid} is recording" in each for each in said) == 3, said
    for each in processes:
        each.communicate("\n")
    with Store.open(path) as store:
        assert len(store.recordings()) == 1


def test_it_refuses_an_id_that_is_taken(tmp_path: Path) -> None:

    def again() -> Writer:
        redactor = Redactor(RedactSettings())
        return Writer.open(tmp_path / "a.db", name="a", started_at=1.0, tool_version="1", redactor=redactor, recording_id="x")

    again().close()
    with pytest.raises(ValueError, match="new recording id"):
        again()
    assert read_names(tmp_path / "a.db") == ["a"]


def read_names(path: Path) -> list[str]:
    with Store.open(path) as store:
        return [info.name for info in store.recordings()]


KILLED = """
writer = opened(Path(sys.argv[1]))
for seq in range(1, 6):
    put(writer, plain(seq, b"finished %d" % seq))
stream(writer, 6, b"data: one\\n\\n", b"data: two\\n\\n", b"data: thr")
writer.begin(7, Request("POST", "http://api.test/7"), started_at=2.0)
writer.request_chunk(7, b"half a bo")
print("said", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store whose writer was killed in mid-stream, once a reader in this process had seen what it said."""
    path = tmp_path / "a.db"
    writer = child("from wiretape.traces.types import Request\n" + KILLED, path)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "said\n"
    until(lambda: len(read(path)) == 7, "all seven in the store, without a flush")
    with Store.open(path) as store:
        info, _ = store.choose()
        assert info.status is RecordingStatus.RECORDING
        assert [each.end for each in store.exchanges(info)] == [End.COMPLETE] * 5 + [None, None]
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    return path


def assert_prefix(path: Path, name: str | None = None) -> None:
    *finished, streamed, asked = read(path, name)
    assert [(each.response and each.response.body, each.end) for each in finished] == [
        (b"finished %d" % seq, End.COMPLETE) for seq in range(1, 6)
    ]
    assert streamed.response is not None
    assert (streamed.end, streamed.response.body) == (End.INTERRUPTED, b"data: one\n\ndata: two\n\n")
    assert streamed.response.chunks == ((0, 11), (1, 11))
    assert (asked.end, asked.request.body, asked.response, asked.fingerprint) == (End.INTERRUPTED, None, None, None)


def test_it_leaves_an_exact_prefix_when_it_is_killed(killed: Path) -> None:
    assert_prefix(killed)
    with Store.open(killed) as store:
        (info,) = store.recordings()
        assert (info.status, info.ended_at, store.closed) == (RecordingStatus.INTERRUPTED, None, False)
        assert [key.seq for key in store.keys(info)] == [1, 2, 3, 4, 5, 6]


def test_it_takes_over_what_a_killed_writer_left(killed: Path) -> None:
    with Store.open(killed) as store:
        (before,) = store.recordings()
        digest = store.digest(before)
    writer = opened(killed, name="next")
    put(writer, plain(1))
    writer.close()
    assert files(killed) == ["a.db"]
    assert_prefix(killed, "refund")
    with Store.open(killed) as store:
        assert store.closed
        assert [info.status for info in store.recordings()] == [RecordingStatus.INTERRUPTED, RecordingStatus.COMPLETE]
        assert store.choose()[0].name == "next"
        assert store.digest(before) == digest


def test_it_closes_although_a_killed_writer_left_damage(killed: Path) -> None:
    with closing(sqlite3.connect(killed)) as db:
        db.execute("UPDATE pieces SET released = x'00'")
        db.commit()
    writer = opened(killed, name="next")
    put(writer, plain(1))
    assert writer.close().status is RecordingStatus.INCOMPLETE
    assert "exchange 6 could not be kept (ValueError)" in str(writer.failure)
    assert [each.seq for each in read(killed, "next")] == [1]
    opened(killed, name="later").close()


FULL = """
import os, resource
writer = opened(Path(sys.argv[1]))
for seq in range(1, 11):
    put(writer, plain(seq, b"early %d" % seq))
writer.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
for seq in range(11, 500):
    put(writer, plain(seq, os.urandom(5000)))
    if seq % 50 == 0:
        writer.flush()
stream(writer, 500, b"data: 1\\n\\n")
info = writer.close()
print(info.status, writer.failure, sep="\\n", flush=True)
"""


@pytest.mark.parametrize("limit", [200_000, 1_000_000])
def test_it_lets_traffic_go_on_when_the_disk_is_full(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "a.db"
    writer = child(FULL, path, limit)
    said, _ = writer.communicate()
    status, failure = said.splitlines()
    assert (writer.returncode, status) == (0, "incomplete")
    assert failure.startswith(f"{path}: the recording cannot be written")
    assert "Free some space" in failure
    kept = read(path)
    assert [each.seq for each in kept] == list(range(1, len(kept) + 1))
    assert 10 <= len(kept) < 499
    assert all(each.end is End.COMPLETE for each in kept)
    with Store.open(path) as store:
        (info,) = store.recordings()
        assert info.status in (RecordingStatus.INCOMPLETE, RecordingStatus.INTERRUPTED)


class Faulty:
    """A redactor that fails on one request, with a secret in its text."""

    count = 0

    def __getattr__(self, name: str) -> object:

        return getattr(Redactor(RedactSettings()), name)

    def request(self, request: Request) -> Request:
        if "/2" in request.url:
            raise RuntimeError("sk-secret")
        return request


def test_it_loses_only_the_exchange_that_it_cannot_keep(tmp_path: Path) -> None:

    path = tmp_path / "a.db"
    faulty: Any = Faulty()
    writer = Writer.open(path, name="a", started_at=1.0, tool_version="1", redactor=faulty, recording_id="x")
    for seq in (1, 2, 3):
        put(writer, plain(seq))
    stream(writer, 22, b"1")
    info = writer.close()
    assert info.status is RecordingStatus.INCOMPLETE
    assert writer.failure is not None
    assert "could not be kept (RuntimeError)" in writer.failure
    assert "sk-secret" not in writer.failure
    assert [each.seq for each in read(path)] == [1, 3]


def test_it_takes_calls_from_several_threads(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    start = threading.Barrier(8)

    def record(first: int) -> None:
        start.wait()
        for seq in range(first, first + 40):
            put(writer, plain(seq, b"%d" % seq * seq, session=f"s{first}", request=b"q%d" % seq))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(1, 321, 40)))
    writer.close()
    found = read(path)
    assert [each.seq for each in found] == list(range(1, 321))
    assert all(each.response and each.response.body == b"%d" % each.seq * each.seq for each in found)
    assert [each.request.body for each in read(path, "s41")] == [b"q%d" % seq for seq in range(41, 81)]


def test_it_is_read_beside_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    stream(writer, 1, b"data: 1\n\n")
    writer.flush()
    code = "found = read(Path(sys.argv[1]))\nprint(*[(e.seq, e.response.body, e.end) for e in found], sep='\\n')"
    said, _ = child(code, path).communicate()
    assert said.splitlines() == ["(1, b'data: 1\\n\\n', None)"]
    with Store.open(path) as store:
        info, _ = store.choose()
        for at in range(2, 40):
            writer.chunk(1, at, b"data: %d\n\n" % at)
            writer.flush()
            (seen,) = store.exchanges(info)
            assert seen.response is not None
            assert seen.response.body.endswith(b"data: %d\n\n" % at)
            assert sum(length for _, length in seen.response.chunks) == len(seen.response.body)
        writer.end(1, End.COMPLETE, None, Timings())
        writer.flush()
        assert next(store.exchanges(info)).end is End.COMPLETE
    writer.close()


def test_it_closes_although_a_reader_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    put(writer, plain(1))
    writer.flush()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM exchanges").fetchone()
        put(writer, plain(2))
        assert writer.close().status is RecordingStatus.COMPLETE
        with Store.open(path) as store:
            assert not store.closed
    assert [each.seq for each in read(path)] == [1, 2]
    opened(path, name="later").close()
    assert files(path) == ["a.db"]


LONG = """
import resource, os
from support.stores import EVENTS
from wiretape.traces.types import End, Timings, Request
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
def run(writer, seq, chunks):
    stream(writer, seq)
    for at in range(chunks):
        writer.chunk(seq, at, b"data: %06d %s\\n\\n" % (at, os.urandom(500).hex().encode()))
        if at % 500 == 0:
            writer.flush()
    writer.end(seq, End.COMPLETE, None, Timings())
    writer.flush()
writer = opened(Path(sys.argv[1]))
run(writer, 1, 2000)
before = peak()
run(writer, 2, 50_000)
print(peak() - before, writer.close().status)
"""


def test_it_stores_a_stream_of_fifty_thousand_chunks_in_flat_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    said, _ = child(LONG, path).communicate()
    grown, status = said.split()
    assert status == "complete"
    assert int(grown) < 25, f"{grown} MiB more for 50 MB of stream"
    (_, found) = read(path)
    assert found.response is not None
    assert len(found.response.chunks) == 50_000
    assert found.response.chunks[-1] == (49_999, 1015)
    assert len(found.response.body) == 50_000 * 1015 > 48 * PART
    assert found.response.body[-1015:].startswith(b"data: 049999 ")
