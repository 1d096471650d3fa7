"""Events out of bytes cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.decoders.sse import SseEvent, SseReader

BLANKS = ["\n\n", "\n\r", "\n\r\n", "\r\r", "\r\r\n", "\r\n\n", "\r\n\r", "\r\n\r\n"]


def read(data: bytes, size: int | None = None) -> list[tuple[str, str]]:
    reader, found = SseReader(), []
    for start in range(0, len(data), size or max(1, len(data))):
        found += reader.feed(data[start : start + (size or len(data))])
    return [(event.name, event.data) for event in found]


def both(data: bytes) -> list[tuple[str, str]]:
    """Fed whole and byte by byte."""
    whole = read(data)
    assert read(data, 1) == whole
    return whole


def test_it_reads_name_and_data_of_an_event():
    assert both(b"event: ping\ndata: {}\n\n") == [("ping", "{}")]


def test_it_calls_an_event_without_a_name_a_message():
    assert both(b"data: 1\n\ndata:2\n\n") == [("message", "1"), ("message", "2")]


@pytest.mark.parametrize("blank", BLANKS)
def test_it_ends_an_event_at_any_blank_line(blank):
    assert both(f"data: a{blank}data: b{blank}".encode()) == [("message", "a"), ("message", "b")]


def test_it_survives_all_line_ends_in_one_stream():
    data = "".join(f"data: {number}{blank}" for number, blank in enumerate(BLANKS))
    assert [text for _, text in both(data.encode())] == [str(number) for number in range(len(BLANKS))]


def test_it_joins_data_lines_and_takes_one_space_off():
    assert both(b"data:  a\ndata:b\ndata\n\n") == [("message", " a\nb\n")]


def test_it_sets_comments_and_unknown_fields_aside():
    assert both(b": OPENROUTER PROCESSING\n\nid: 1\nretry: 10\nnonsense\ndata: a\n\n") == [("message", "a")]


def test_it_gives_a_priming_event_its_empty_data():
    assert both(b"id: s1:0\nretry: 1000\ndata:\n\n") == [("message", "")]


def test_it_forgets_the_name_of_an_event_without_data():
    assert both(b"event: ping\n\ndata: a\n\n") == [("message", "a")]


def test_it_sets_the_byte_order_mark_aside_at_the_start_alone():
    assert both("\ufeffdata: a\n\n\ufeffdata: b\n\n".encode()) == [("message", "a")]


def test_it_keeps_characters_whole_whose_bytes_are_cut():
    assert both("data: 北京 🌍\n\n".encode()) == [("message", "北京 🌍")]


def test_it_replaces_bytes_that_are_no_utf8():
    assert both(b"data: a\xffb\n\n") == [("message", "a\ufffdb")]


def test_it_tells_the_event_that_is_still_open():
    reader = SseReader()
    assert reader.feed(b"event: error\ndata: 1\nda") == []
    assert reader.pending() == SseEvent("error", "1")
    assert reader.feed(b"ta: 2") == []
    assert reader.pending() == SseEvent("error", "1\n2")
    assert reader.feed(b"\n\n") == [SseEvent("error", "1\n2")]
    assert reader.pending() is None


@given(
    st.lists(st.sampled_from([b"data: a", b"event: b", b":", b"data", b"\xef\xbb\xbf", b"\r", b"\n", b" "])), st.integers(1, 4)
)
def test_it_reads_the_same_however_the_bytes_are_cut(pieces, size):
    data = b"".join(pieces)
    assert read(data, size) == read(data)
