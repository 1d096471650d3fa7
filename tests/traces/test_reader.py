"""Which recording is meant, what is in it, and its digest."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import opened, plain, put, read, stream

from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.fingerprint import Fingerprint, fingerprint
from wiretape.traces.store import Key, Store
from wiretape.traces.types import End, Exchange, Message, Source


def made(path: Path, *exchanges: Exchange, name: str = "refund") -> str:
    """The digest of a recording of these."""
    writer = opened(path, name=name)
    for exchange in exchanges:
        put(writer, exchange)
    writer.event(3.0, "", {"type": "skill_used", "skill": "refunds"})
    writer.close()
    return digest(path, name)


def digest(path: Path, name: str = "refund") -> str:
    with Store.open(path) as store:
        return store.digest(store.choose(name)[0])


def chosen(path: Path, name: str | None = None) -> tuple[str, str | None]:
    with Store.open(path) as store:
        info, session = store.choose(name)
        return info.name, session


def set_status(path: Path, name: str, status: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE recordings SET status = ? WHERE name = ?", (status, name))
        db.commit()


def test_it_chooses_the_newest_complete_recording_else_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for name in ("first", "second", "third"):
        made(path, plain(1, session=f"of {name}"), name=name)
    assert chosen(path) == ("third", None)
    set_status(path, "third", "interrupted")
    assert chosen(path) == ("second", None)
    for name in ("first", "second"):
        set_status(path, name, "incomplete")
    assert chosen(path) == ("third", None)


def test_it_chooses_by_the_name_of_a_recording_its_id_or_a_session(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, plain(1, session="run-1"), plain(2, session="run-2"), name="first")
    made(path, plain(1, session="run-2"), plain(2, session="first"), name="second")
    assert chosen(path, "first") == ("first", None)
    assert chosen(path, "run-1") == ("first", "run-1")
    assert chosen(path, "run-2") == ("second", "run-2")
    assert [each.seq for each in read(path, "run-1")] == [1]
    with Store.open(path) as store:
        for info in store.recordings():
            assert store.choose(info.id) == (info, None)
        with pytest.raises(UsageError, match=r"\(first, run-1, run-2, second\), got 'run-3'"):
            store.choose("run-3")


def test_it_says_that_a_store_holds_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM recordings")
        db.commit()
    with Store.open(path) as store, pytest.raises(StoreError, match="holds none"):
        store.choose()


def test_it_gives_one_exchange_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, plain(1), plain(2, b"two"))
    with Store.open(path) as store:
        info, _ = store.choose()
        found = store.exchange(info, 2)
        assert found.response is not None
        assert found.response.body == b"two"
        with pytest.raises(LookupError, match="no exchange 3"):
            store.exchange(info, 3)


def test_it_gives_keys_without_loading_bodies(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, plain(1, session="s"), replace(plain(2), noise=True, source=Source.MOCKED, rule="r", response=None))
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE bodies SET data = x'00'")
        db.commit()
    first = fingerprint(plain(1).request)
    with Store.open(path) as store:
        keys = list(store.keys(store.choose()[0]))
    assert keys[0] == Key(1, "s", first, End.COMPLETE, False, Source.LIVE, "GET", "http://api.test/1", 200)
    assert (keys[1].noise, keys[1].source, keys[1].status) == (True, Source.MOCKED, None)


def test_it_makes_keys_of_another_fingerprint_version_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, plain(1))
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE exchanges SET fingerprint = ?", (str(Fingerprint(0, "old", "older")),))
        db.commit()
    with Store.open(path) as store:
        (key,) = store.keys(store.choose()[0])
    assert key.fingerprint == fingerprint(plain(1).request)


def test_it_gives_an_agents_own_events_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    events = (
        (2.5, "s", {"type": "custom", "name": "ü", "data": {"n": [1, 2.5, None, 2**70]}}),
        (1.5, "", {"type": "run_ended", "as": "ok"}),
    )
    writer = opened(path)
    for event in events:
        writer.event(*event)
    writer.close()
    with Store.open(path) as store:
        assert store.events(store.choose()[0]) == events


def test_its_digest_is_that_of_the_content(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "b.db"
    exchanges = [plain(1, b"x" * 5000, request=b"q"), replace(plain(2), messages=(Message(1, "client", "text", b"hi"),))]
    first = made(path, *exchanges)
    assert len(first) == 64
    assert digest(path) == first
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA page_size = 8192")
        db.execute("VACUUM")
    shutil.copy(path, copy)
    assert digest(copy) == first
    assert made(tmp_path / "c.db", *exchanges) == first
    made(path, plain(1), name="another")
    assert digest(path) == first


base = plain(1, b"answer", request=b"asked")
response = base.response
assert response is not None
CHANGED = {
    "a request header's case": replace(base, request=replace(base.request, headers=(("accept", "*/*"),))),
    "the request's body": replace(base, request=replace(base.request, body=b"asker")),
    "no request body": replace(base, request=replace(base.request, body=None)),
    "the response's body": replace(base, response=replace(response, body=b"answer!", chunks=((5, 7),))),
    "other chunks": replace(base, response=replace(response, chunks=((5, 3), (6, 3)))),
    "a time": replace(base, response=replace(response, chunks=((6, 6),))),
    "the status": replace(base, response=replace(response, status=201)),
    "no response": replace(base, response=None),
    "trailers": replace(base, response=replace(response, trailers=(("a", "b"),))),
    "a message": replace(base, messages=(Message(1, "client", "text", b"hi"),)),
    "the end": replace(base, end=End.TIMEOUT),
    "the error": replace(base, error="broken"),
    "the session": replace(base, session="s"),
    "noise": replace(base, noise=True),
    "the start": replace(base, started_at=1001.000001),
    "the rule": replace(base, source=Source.MOCKED, rule="r"),
    "the number": replace(base, seq=2),
}


@pytest.mark.parametrize("what", CHANGED)
def test_its_digest_changes_with(what: str, tmp_path: Path) -> None:
    assert made(tmp_path / "a.db", base) != made(tmp_path / "b.db", CHANGED[what])


def test_its_digest_covers_events(tmp_path: Path) -> None:
    first = made(tmp_path / "a.db", base)
    writer = opened(tmp_path / "b.db")
    put(writer, base)
    writer.event(3.0, "", {"type": "skill_used", "skill": "returns"})
    writer.close()
    assert digest(tmp_path / "b.db") != first


def test_it_counts_redactions_of_a_closed_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    put(writer, replace(plain(1), request=replace(plain(1).request, headers=(("Authorization", "Bearer abcdefgh12345678"),))))
    with Store.open(path) as store:
        assert store.redactions(store.choose()[0]) is None
    writer.close()
    with Store.open(path) as store:
        assert store.redactions(store.choose()[0]) == 1


def test_it_may_be_read_while_an_iteration_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    for seq in range(1, 6):
        put(writer, plain(seq))
    stream(writer, 6, b"1")
    writer.flush()
    with Store.open(path) as store:
        info, _ = store.choose()
        seen = []
        for exchange in store.exchanges(info):
            assert store.exchange(info, 3).seq == 3
            writer.chunk(6, exchange.seq, b"more")
            writer.flush()
            seen.append(exchange.seq)
    assert seen == [1, 2, 3, 4, 5, 6]
    writer.close()


CELLS = [
    "UPDATE responses SET status = 'x'",
    "UPDATE responses SET status = 99999",
    "UPDATE responses SET headers = '[[1, 2]]'",
    "UPDATE exchanges SET seq = x'0102'",
    "UPDATE exchanges SET method = x'ff'",
    "UPDATE exchanges SET rule = x'ff'",
    "UPDATE exchanges SET kind = 'pigeon'",
    "UPDATE exchanges SET source = 'rumour'",
    "UPDATE exchanges SET started_at = 1e300",
    "UPDATE exchanges SET headers = '{'",
    "UPDATE exchanges SET fingerprint = 'odd'",
    "UPDATE ends SET \"end\" = 'odd'",
    "UPDATE ends SET first_byte = 'x'",
    "UPDATE ends SET chunks = 'x'",
    "UPDATE recordings SET started_at = 1e300",
    "UPDATE recordings SET status = 'odd'",
    "UPDATE recordings SET labels = '[]'",
    "UPDATE recordings SET name = x'ff'",
    "UPDATE events SET payload = '[]'",
    "UPDATE events SET at = 'x'",
    "UPDATE messages SET sender = 'x'",
    "UPDATE messages SET data = 'x'",
]


@pytest.mark.parametrize("statement", CELLS)
def test_a_cell_that_cannot_mean_anything_is_damage(statement: str, tmp_path: Path) -> None:
    """SQLite takes any value in any column."""
    path = tmp_path / "a.db"
    writer = opened(path)
    put(writer, replace(base, messages=(Message(1, "client", "text", b"hi"),)))
    writer.event(3.0, "", {"type": "skill_used", "skill": "returns"})
    writer.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    with pytest.raises(StoreError, match="damaged"):
        read_all(path)


def read_all(path: Path) -> None:
    with Store.open(path) as store:
        info, _ = store.choose()
        list(store.keys(info))
        list(store.exchanges(info))
        store.events(info)
