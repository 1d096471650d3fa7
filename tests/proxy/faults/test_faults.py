"""Each fault on an answer of its own, and what it must leave as it was."""

from __future__ import annotations

import gzip
import json
import random
import statistics
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.proxy.faults import FAULTS, FaultEntry, Occasion, in_order
from wiretape.proxy.framing import Ending, Framing, Plan, answered, header_text, plan
from wiretape.traces.decoders import decode
from wiretape.traces.types import End, Exchange, Headers, Request, Response, header

EVENTS = [b"event: a\r\ndata: {}\r\n\r\n", b": ping\n\n", b"data: {}\n\n", b'data: {"x":\ndata: 1}\n\n', b"data: [DONE]\n\n"]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHAT = Request("POST", "https://api.openai.com/v1/chat/completions", (), b'{"messages": []}')
MCP = Request("POST", "http://x/mcp", (), b'{"jsonrpc": "2.0", "id": "k", "method": "tools/call", "params": {"name": "t"}}')


def fault(name: str, **settings: object):
    return FaultEntry.model_validate_json(json.dumps({name: settings})).fault


def occasion(api: str | None = "openai-chat", where: str = "model", request: Request = CHAT, seed: int = 0) -> Occasion:
    return Occasion("r", request, api, where, Random(seed), NOW)


def stream(*extra: tuple[str, str]) -> Plan:
    chunks = tuple((0, len(event)) for event in EVENTS)
    return answered(Response(200, (("Content-Type", "text/event-stream"), *extra), b"".join(EVENTS), chunks=chunks), CHAT)


def whole(body: bytes = b'{"a": 1}', *headers: tuple[str, str]) -> Plan:
    return answered(Response(200, (("Content-Type", "application/json"), *headers), body), CHAT)


def length(made: Plan) -> str | None:
    return header(made.headers, "content-length")


def test_they_are_applied_in_the_order_of_the_table_whatever_the_file_says() -> None:
    entries = [{"cut": {"after_bytes": 1}}, {"error": {}}, {"delay": {"ms": 1}}, {"body": {"kind": "empty"}}]
    given = tuple(FaultEntry.model_validate_json(json.dumps(each)) for each in entries)
    assert [type(each) for each in in_order(given)] == [FAULTS[name] for name in ("delay", "error", "body", "cut")]


def test_the_table_names_every_fault_that_an_entry_can_be() -> None:
    assert [field.alias or name for name, field in FaultEntry.model_fields.items()] == list(FAULTS)


def test_a_delay_waits_where_it_says() -> None:
    head = fault("delay", ms=100).apply(stream(), occasion())
    assert (head.wait, [wait for wait, _ in head.pieces]) == (0.1, [0.0] * 5)
    third = fault("delay", ms=100, phase="chunk", at=3).apply(stream(), occasion())
    assert (third.wait, [wait for wait, _ in third.pieces]) == (0.0, [0.0, 0.0, 0.1, 0.0, 0.0])
    assert fault("delay", ms=100, phase="chunk").apply(stream(), occasion()).pieces[4][0] == 0.1
    connect = fault("delay", ms=100, phase="connect")
    assert connect.before(occasion()) == 0.1
    assert connect.apply(stream(), occasion()) == stream()


def test_jitter_is_spread_around_the_delay_and_repeats_itself() -> None:
    slow = fault("delay", ms=1000, jitter_ms=400)
    waits = [slow.apply(whole(), occasion(seed=seed)).wait for seed in range(200)]
    assert waits == [slow.apply(whole(), occasion(seed=seed)).wait for seed in range(200)]
    assert min(waits) >= 0.6
    assert max(waits) <= 1.4
    assert 0.95 < statistics.mean(waits) < 1.05
    assert fault("delay", ms=0, jitter_ms=9).apply(whole(), occasion(seed=random.randrange(99))).wait >= 0


@pytest.mark.parametrize(
    ("api", "request_", "said"),
    [
        (
            "openai-chat",
            CHAT,
            lambda body: (body["error"]["message"], body["error"]["code"]) == ("slow down", "rate_limit_exceeded"),
        ),
        ("anthropic-messages", CHAT, lambda body: body["error"] == {"type": "rate_limit_error", "message": "slow down"}),
        ("mcp", MCP, lambda body: (body["id"], body["error"]["message"]) == ("k", "slow down")),
        (None, CHAT, lambda body: body["error"]["message"] == "slow down"),
    ],
)
def test_an_error_speaks_as_the_provider_does(api, request_, said) -> None:
    error = fault("error", status=429, message="slow down", retry_after=1.5, headers={"x-a": "b"})
    made = error.apply(whole(), occasion(api, "http", request_))
    assert (made.status, header(made.headers, "retry-after"), header(made.headers, "x-a")) == (429, "1.5", "b")
    assert said(json.loads(made.body))
    assert length(made) == str(len(made.body))
    assert made.failure == "injected by the rule r: error 429"


def test_an_error_of_a_tool_is_a_result_that_says_so() -> None:
    made = fault("error", status=503, message="no").apply(whole(), occasion("mcp", "mcp", MCP))
    result = json.loads(made.body)["result"]
    assert (made.status, result["isError"], result["content"]) == (200, True, [{"type": "text", "text": "no"}])


def test_retry_after_can_be_a_date() -> None:
    made = fault("error", retry_after=90, retry_after_as="date").apply(whole(), occasion())
    assert (parsedate_to_datetime(header(made.headers, "retry-after") or "") - NOW).total_seconds() == 90


def test_an_error_comes_as_late_as_a_delay_says() -> None:
    made = whole()
    for each in (fault("delay", ms=50), fault("error")):
        made = each.apply(made, occasion())
    assert (made.wait, made.status) == (0.05, 500)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("truncated-json", b'{"a"'),
        ("empty", b""),
        ("wrong-type", b'"unexpected"'),
        ("duplicate-events", b'{"a": 1}{"a": 1}'),
    ],
)
def test_another_body_has_a_length_of_its_own(kind, body) -> None:
    made = fault("body", kind=kind).apply(whole(), occasion())
    assert (made.body, length(made), made.ending, made.status) == (body, str(len(body)), Ending.WHOLE, 200)


def test_a_page_of_html_says_what_it_is() -> None:
    made = fault("body", kind="html").apply(whole(), occasion())
    assert (header(made.headers, "content-type"), made.body[:9]) == ("text/html", b"<!DOCTYPE")


def test_an_oversized_body_reads_as_before() -> None:
    made = fault("body", kind="oversized", bytes=5000).apply(whole(), occasion())
    assert (len(made.body), json.loads(made.body)) == (5000, {"a": 1})


def test_events_are_doubled_swapped_and_broken() -> None:
    def bodies(kind: str) -> list[bytes]:
        return [piece for _, piece in fault("body", kind=kind).apply(stream(), occasion()).pieces]

    assert bodies("duplicate-events") == [event for event in EVENTS for _ in range(2)]
    assert bodies("reordered-events") == [EVENTS[1], EVENTS[0], EVENTS[3], EVENTS[2], EVENTS[4]]
    broken = bodies("malformed-sse")
    assert (broken[:2], broken[3:]) == (EVENTS[:2], EVENTS[3:])
    assert broken[2] == EVENTS[2][:5] + b"\n\n"


PATHS = [
    "v1/chat/completions",
    "v1/responses",
    "v1/messages",
    "v1/models/g:streamGenerateContent",
    "model/m/converse-stream",
    "x",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_fails_after_good_events_and_ends(path) -> None:
    request = Request("POST", f"https://x/{path}", (), CHAT.body)
    made = fault("stream-error", after_events=2, message="lab says no").apply(stream(), occasion(request=request))
    pieces = [piece for _, piece in made.pieces]
    assert pieces[:-1] == EVENTS[:3]
    assert b"lab says no" in pieces[-1]
    assert (made.framing, made.ending) == (Framing.CHUNKED, Ending.WHOLE)


@pytest.mark.parametrize(
    ("path", "api"),
    [("chat/completions", "openai-chat"), ("responses", "openai-responses"), ("messages", "anthropic-messages")],
)
def test_our_own_decoders_read_the_error(path, api) -> None:
    request = Request("POST", f"https://x/v1/{path}", (), b'{"model": "m", "messages": [], "stream": true}')
    made = fault("stream-error", after_events=0, code="overloaded", message="no").apply(stream(), occasion(request=request))
    view = decode(Exchange(1, request, Response(200, made.headers)), made.body)
    assert view is not None
    assert "no" in (view.error or "")


def test_a_stream_error_leaves_an_answer_that_is_no_stream_and_says_so() -> None:
    made = fault("stream-error", after_events=1).apply(whole(), occasion())
    assert made.body == whole().body
    assert "no stream" in (made.failure or "")


@pytest.mark.parametrize("size", [0, 1, 30, 10_000])
@pytest.mark.parametrize("how", ["eof", "reset", "stall", "h2-error", "h2-goaway"])
def test_a_cut_leaves_the_head_and_exactly_so_much_body(size, how) -> None:
    for before in (stream(), whole()):
        made = fault("cut", after_bytes=size, how=how).apply(before, occasion())
        assert (made.headers, made.status, made.body) == (before.headers, before.status, before.body[:size])
        assert made.ending is not Ending.WHOLE


def test_a_cut_after_events_does_not_count_comments() -> None:
    made = fault("cut", after_events=2).apply(stream(), occasion())
    assert made.body == b"".join(EVENTS[:3])


def test_a_bad_chunk_needs_chunks_and_a_wrong_length_a_length() -> None:
    chunked = fault("cut", after_bytes=2, how="bad-chunk").apply(whole(), occasion())
    assert (chunked.framing, length(chunked), chunked.ending) == (Framing.CHUNKED, None, Ending.BAD_CHUNK)
    counted = fault("cut", after_bytes=2, how="wrong-length").apply(stream(), occasion())
    assert (counted.framing, header(counted.headers, "transfer-encoding")) == (Framing.LENGTH, None)
    assert int(length(counted) or 0) == len(stream().body) + 1


def test_faults_look_at_what_the_client_reads_whatever_its_coding() -> None:
    coded = gzip.compress(b"".join(EVENTS))
    headers: Headers = (
        ("Content-Type", "text/event-stream"),
        ("Content-Encoding", "gzip"),
        ("Content-Length", str(len(coded))),
    )
    asked = Request("POST", CHAT.url, (("Accept-Encoding", "gzip"),), CHAT.body)
    before = plan(Exchange(1, asked, end=End.COMPLETE), Response(200, headers, coded, chunks=((0, len(coded)),)), asked, 0.0)
    made = fault("cut", after_events=1).apply(before, occasion(request=asked))
    assert (made.body, header(made.headers, "content-encoding")) == (EVENTS[0], None)
    raw = fault("cut", after_bytes=10).apply(before, occasion(request=asked))
    assert (raw.body, header(raw.headers, "content-encoding")) == (coded[:10], "gzip")


ANY_FAULT = [
    {"delay": {"ms": 1, "phase": "chunk"}},
    {"error": {}},
    *({"body": {"kind": kind}} for kind in get_args(FAULTS["body"].model_fields["kind"].annotation)),
    {"stream-error": {"after_events": 2}},
    *({"cut": {"after_events": 1, "how": how}} for how in get_args(FAULTS["cut"].model_fields["how"].annotation)),
]
KINDS = ["text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream", "application/json", None]


@given(
    st.sampled_from(ANY_FAULT), st.sampled_from(KINDS), st.binary(max_size=60), st.sampled_from(["GET", "HEAD"]), st.booleans()
)
def test_it_takes_any_answer_and_keeps_its_framing_true(entry, kind, body, method, in_chunks) -> None:
    headers = (("Content-Type", kind),) if kind else ()
    response = Response(200, headers, body, chunks=((0, len(body)),) if in_chunks and body else ())
    made = answered(response, Request(method, "http://x"))
    applied = FaultEntry.model_validate_json(json.dumps(entry)).fault.apply(made, occasion(request=Request(method, "http://x")))
    if method == "HEAD":
        assert applied.body == b""
    elif applied.framing is Framing.LENGTH and applied.ending is Ending.WHOLE:
        assert length(applied) == str(len(applied.body))
    assert length(applied) is None or header(applied.headers, "transfer-encoding") is None


@pytest.mark.parametrize(("given_", "sent"), [("a\r\nX: b", "a  X: b"), ("ü", "ü"), ("日本", "??"), (" x ", "x"), (5, "5")])
def test_a_header_is_one_line_that_can_be_sent(given_, sent) -> None:
    assert header_text(given_) == sent
