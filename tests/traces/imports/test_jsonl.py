"""What the jsonl export wrote comes back as it was: byte for byte, chunk for chunk, message for message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.captures import captures
from support.stores import opened, put
from support.stores import read as stored
from support.varied import EVENTS, EXCHANGES

from wiretape.scenarios.evidence import load
from wiretape.traces.errors import InvalidFile
from wiretape.traces.exports import EXPORTS
from wiretape.traces.exports.jsonl import export
from wiretape.traces.imports.jsonl import values as read
from wiretape.traces.types import End, Exchange, RecordingInfo, Request, Response

INFO = RecordingInfo(name="rück", id="i", started_at=1.5, status="complete", labels={"k": "ü"}, tool_version="0.1.0")


@dataclass
class Held:
    """A recording in memory."""

    info: RecordingInfo
    held: tuple[Exchange, ...]

    def exchanges(self) -> Iterator[Exchange]:
        return iter(self.held)

    def events(self):
        return EVENTS


def lines(*exchanges: Exchange) -> list[bytes]:
    return list(export(Held(INFO, exchanges), {}))


def test_it_gives_back_the_same_values() -> None:
    assert list(read(lines(*EXCHANGES), "x")) == [INFO, *EXCHANGES, *EVENTS]


def test_it_gives_back_real_captures() -> None:
    exchanges = [replace(each.exchange, seq=seq) for seq, each in enumerate(captures(), 1)]
    assert len(exchanges) > 50
    assert list(read(lines(*exchanges), "x"))[1:-1] == exchanges


def test_it_gives_back_half_characters_and_what_has_not_ended() -> None:
    odd = Exchange(1, Request("GET", "http://a/\udc80"), Response(200, (("x", "\ud83d"),), b"", "\udcff"), end=None)
    assert list(read(lines(odd), "x"))[1] == odd


def test_it_is_in_the_store_what_it_was_in_the_first_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    write(first, EXCHANGES, EVENTS)
    _, *values = exported(first)
    write(second, [each for each in values if isinstance(each, Exchange)], [each for each in values if isinstance(each, tuple)])
    assert stored(second) == stored(first)
    with load(str(first)) as one, load(str(second)) as two:
        assert two.events() == one.events() == list(EVENTS)
        assert two.digest() == one.digest()
    assert [value for value in exported(second) if not isinstance(value, RecordingInfo)] == values


@pytest.mark.parametrize("name", ["report", "repository", "screenshot", "sums"])
def test_it_keeps_a_golden_recording(name: str, tmp_path: Path) -> None:
    golden = Path(__file__).parents[3] / "recordings" / f"{name}.db"
    info, *values = exported(golden)
    write(tmp_path / "again.db", [each for each in values if isinstance(each, Exchange)], ())
    with load(str(golden)) as before, load(str(tmp_path / "again.db")) as after:
        assert info == before.info
        assert list(after.exchanges()) == list(before.exchanges()) == values
        assert after.digest() == before.digest()
        assert after.trace().steps == before.trace().steps


def write(path: Path, exchanges, events) -> None:
    writer = opened(path)
    for exchange in exchanges:
        put(writer, exchange)
    for event in events:
        writer.event(*event)
    writer.close()
    assert writer.failure is None


def exported(path: Path) -> list[object]:
    with load(str(path)) as evidence:
        return list(read(EXPORTS["jsonl"](evidence, {}), str(path)))


def changed(number: int, **values: object) -> list[bytes]:
    """The lines of a recording, one of them changed; `None` takes a field away."""
    found = lines(EXCHANGES[0], EXCHANGES[3])
    line = json.loads(found[number]) | values
    found[number] = json.dumps({key: value for key, value in line.items() if value is not ...}).encode()
    return found


HEAD, FIRST, SOCKET, EVENT = range(4)


@pytest.mark.parametrize(
    ("written", "line", "words"),
    [
        ([], None, "an empty file"),
        ([b"{}"], 1, "type `recording`"),
        ([b"[1]"], 1, "type `recording`"),
        ([b'{"type": "recor'], 1, "not a whole line"),
        ([b"\xff"], 1, "not a whole line"),
        ([b"[" * 100_000], 1, "form"),
        (changed(HEAD, wiretape=2), 1, "expected format 1, got 2"),
        (changed(HEAD, status="lost"), 1, "status"),
        (changed(HEAD, type="exchange"), 1, "type `recording`"),
        (changed(FIRST, type="recording"), 2, "type `recording`"),
        (changed(FIRST, type="step"), 2, "'step'"),
        (changed(FIRST, url=...), 2, "'url'"),
        (changed(FIRST, method=5), 2, "method"),
        (changed(FIRST, end="never"), 2, "end"),
        (changed(FIRST, chunks=[[1, 9]]), 2, "add up"),
        (changed(FIRST, request_body_base64="é"), 2, "base64"),
        (changed(FIRST, request_body_base64="a"), 2, "base64"),
        (changed(FIRST, request_headers=[["a"]]), 2, "headers"),
        (changed(FIRST, messages=[7]), 2, "form"),
        (changed(SOCKET, seq=1), 3, "above 1, got 1"),
        (changed(SOCKET, messages=[{"at": 1}]), 3, "data_base64"),
        (changed(EVENT, at="now"), 4, "valid number"),
        ([*lines(EXCHANGES[0])[:1], lines(EXCHANGES[0])[1][:-20]], 2, "not a whole line"),
    ],
)
def test_it_says_which_line_does_not_fit(written: list[bytes], line: int | None, words: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        list(read(written, "a.jsonl"))
    assert (caught.value.path, caught.value.line) == ("a.jsonl", line)
    assert words in caught.value.problem
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from([HEAD, FIRST, SOCKET, EVENT]), st.data())
def test_it_reads_or_refuses_whatever_stands_in_a_field(number: int, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(json.loads(changed(number)[number]))))
    try:
        assert len(list(read(changed(number, **{name: data.draw(JSON)}), "a.jsonl"))) == 4
    except InvalidFile as error:
        assert error.line  # noqa: PT017  # either way is right


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=3))
def test_it_refuses_other_bytes(written: list[bytes]) -> None:
    with pytest.raises(InvalidFile):
        list(read(written, "a.jsonl"))


def test_it_gives_what_stands_before_the_line_that_does_not_fit() -> None:
    found = read(changed(SOCKET, seq=0), "a.jsonl")
    assert [next(found), next(found)] == [INFO, EXCHANGES[0]]
    with pytest.raises(InvalidFile):
        next(found)


def test_an_exchange_that_a_crash_left_comes_back_without_its_end() -> None:
    open_ = replace(EXCHANGES[0], end=End.INTERRUPTED, fingerprint=None)
    assert list(read(lines(open_), "x"))[1].end is End.INTERRUPTED
