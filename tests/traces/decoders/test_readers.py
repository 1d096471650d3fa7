"""The shape of an answer is told by its bytes, and any bytes are survived."""

import pytest
from support.wire import JSON_TYPE, SSE_TYPE, events, post, seen

from wiretape.traces.decoders import DECODERS

ASK = post("https://a.test/v1/chat/completions", {"model": "m", "messages": [], "stream": True})
CHUNKS = events({"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}, "data: [DONE]\n\n")
WHOLE = b'{"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize("content_type", [None, "text/plain", JSON_TYPE, SSE_TYPE, "text/event-stream; charset=utf-8"])
@pytest.mark.parametrize(
    ("body", "streamed"),
    [
        (CHUNKS, True),
        (WHOLE, False),
        (b"\n         \n   " + WHOLE, False),
        (b"\xef\xbb\xbf" + WHOLE, False),
        (b"\r\n" + CHUNKS, True),
        (b"\xef\xbb\xbf" + CHUNKS, True),
        (b": comment\n\n" + CHUNKS, True),
    ],
)
def test_it_reads_what_came_whatever_was_asked_for_and_announced(content_type, body, streamed):
    view = seen(ASK, body, content_type=content_type)
    assert (view.text, view.streamed, view.complete, view.error) == ("Hello", streamed, True, None)


@pytest.mark.parametrize("body", [b"", b" \n\n", b"\xef\xbb\xbf", b": ping\n\n", b"data:\n\n"])
def test_it_says_nothing_where_nothing_came(body):
    view = seen(ASK, body)
    assert (view.text, view.error, view.complete, view.unknown_events) == (None, None, False, 0)


def test_it_has_no_answer_in_json_that_was_cut():
    view = seen(ASK, WHOLE[:-5])
    assert (view.text, view.complete, view.unknown_events) == (None, False, 1)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (
            503,
            b'{"error": {"message": "no capacity", "type": "server_error", "code": "overloaded"}}',
            "overloaded: no capacity",
        ),
        (401, b'{"message": "Unauthorized"}', "Unauthorized"),
        (502, b"<html><h1>Bad Gateway</h1></html>", "<html><h1>Bad Gateway</h1></html>"),
        (429, events({"error": {"message": "slow down"}}), "slow down"),
        (500, b"", "HTTP 500"),
        (400, b'{"a": 1}', '{"a": 1}'),
        (400, b"x" * 5000, "x" * 2000),
    ],
)
def test_it_has_an_error_and_no_text_for_an_error_status(status, body, error):
    view = seen(ASK, body, status)
    assert (view.text, view.error) == (None, error)


def test_it_counts_an_event_whose_last_blank_line_is_missing():
    view = seen(ASK, CHUNKS.removesuffix(b"\n\n"))
    assert (view.text, view.complete) == ("Hello", True)


def test_it_leaves_out_an_event_that_was_cut():
    first = events({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
    view = seen(ASK, first + first[:-8])
    assert (view.text, view.complete, view.unknown_events) == ("Hel", False, 0)


def test_it_can_be_looked_at_between_two_pieces():
    reader = DECODERS["openai-chat"].reader(ASK, 200, None)
    texts = []
    for piece in (CHUNKS[:20], CHUNKS[20:-14], CHUNKS[-14:]):
        reader.feed(piece)
        texts.append(reader.view().text)
    assert texts == [None, "Hello", "Hello"]


def test_it_looks_at_json_again_when_more_came():
    reader = DECODERS["openai-chat"].reader(ASK, 200, None)
    seen_complete = []
    for piece in (WHOLE[:9], WHOLE[9:]):
        reader.feed(piece)
        seen_complete.append(reader.complete)
    assert seen_complete == [False, True]


def test_it_takes_a_stray_done_for_no_unknown_event():
    ask = post("https://a.test/v1/responses", {"model": "m", "input": "Hi"})
    view = seen(ask, events({"type": "response.created", "response": {"id": "r"}}, "data: [DONE]\n\n", "data: later\n\n"))
    assert (view.unknown_events, view.complete) == (1, False)
