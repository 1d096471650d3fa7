"""The table of bodies: each once, small, whole, and never read if it is not what was put away."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.bodies import PART, Bodies, DamagedBody, pack, unpack
from wiretape.traces.migrations import create


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create(tmp_path / "a.db")
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    connection.execute("BEGIN")
    yield connection
    connection.close()


def forms(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("SELECT form FROM bodies ORDER BY id")]


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("body", [b"", b"x", b"ab" * 5000, noise(1, 5000), noise(2, PART), noise(3, 2 * PART + 7)])
def test_it_gives_back_what_was_put_away(db: sqlite3.Connection, body: bytes) -> None:
    bodies = Bodies(db)
    assert bodies.get(bodies.put(body)) == body
    assert bodies.put(body) == bodies.put(body) == bodies.put_pieces([body])


def test_it_keeps_a_body_once_however_it_came(db: sqlite3.Connection) -> None:
    body = noise(4, 3 * PART + 5)
    bodies = Bodies(db)
    number = bodies.put_pieces(body[start : start + 7777] for start in range(0, len(body), 7777))
    rows = len(forms(db))
    assert bodies.put(body) == bodies.put_request(body) == number
    assert len(forms(db)) == rows
    assert bodies.get(number) == body


def test_it_compresses_only_what_becomes_smaller(db: sqlite3.Connection) -> None:
    bodies = Bodies(db)
    for body in (b"short", b"long " * 1000, noise(5, 1000)):
        bodies.put(body)
    assert forms(db) == ["plain", "zstd", "plain"]


def conversation(turns: int) -> list[bytes]:
    said = [{"role": "user", "content": noise(turn, 300).hex()} for turn in range(turns)]
    tools = [{"name": f"tool{i}", "description": noise(100 + i, 100).hex()} for i in range(5)]
    return [json.dumps({"model": "m", "messages": said[: n + 1], "tools": tools}).encode() for n in range(turns)]


def test_it_keeps_a_growing_history_in_the_size_of_its_elements(db: sqlite3.Connection) -> None:
    bodies, sent = Bodies(db), conversation(60)
    numbers = [bodies.put_request(body) for body in sent]
    assert [bodies.get(number) for number in numbers] == sent
    kept = db.execute("SELECT sum(length(data)) FROM bodies").fetchone()[0]
    assert kept < sum(map(len, sent)) / 10
    assert forms(db).count("parts") == 59  # the first stands alone


def test_it_leaves_single_requests_in_one_piece(db: sqlite3.Connection) -> None:
    Bodies(db).put_request(conversation(1)[0])
    assert forms(db) == ["zstd"]


def test_it_never_puts_parts_into_parts(db: sqlite3.Connection) -> None:
    bodies = Bodies(db)
    element = conversation(2)
    for each in element:
        bodies.put_request(each)
    outer = [b'{"input":[' + element[1] + b',{"n":%d}]}' % n for n in range(2)]
    numbers = [bodies.put_request(each) for each in outer]
    assert [bodies.get(number) for number in numbers] == outer
    assert bodies.get(bodies.put(element[1])) == element[1]


@pytest.mark.parametrize("change", ["data = x'00'", "data = zeroblob(20)", "form = 'xz'", "size = 3", "digest = zeroblob(32)"])
def test_it_refuses_a_damaged_body(db: sqlite3.Connection, change: str) -> None:
    bodies = Bodies(db)
    number = bodies.put(b"words " * 100)
    db.execute(f"UPDATE bodies SET {change}")
    with pytest.raises(DamagedBody):
        bodies.get(number)


def test_it_refuses_parts_that_lead_in_a_circle(db: sqlite3.Connection) -> None:
    bodies = Bodies(db)
    number = bodies.put(noise(7, PART + 1))
    db.execute("UPDATE bodies SET data = ? WHERE id = ?", (pack([number]), number))
    with pytest.raises(DamagedBody):
        bodies.get(number)


def test_it_refuses_a_body_that_is_missing(db: sqlite3.Connection) -> None:
    for ask in (Bodies(db).get, Bodies(db).digest):
        with pytest.raises(DamagedBody):
            ask(7)


@given(st.lists(st.lists(st.integers(0, 2**40), max_size=50), max_size=3))
def test_it_packs_integers(columns: list[list[int]]) -> None:
    assert unpack(pack(*columns)) == columns


@pytest.mark.parametrize("data", [b"", b"no zstd at all", pack([1])[:-2]])
def test_it_says_that_packed_integers_are_damaged(data: bytes) -> None:
    with pytest.raises(ValueError, match="expected packed integers"):
        unpack(data)
