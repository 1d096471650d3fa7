from __future__ import annotations

import gzip
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.replay.bindings import NONE, Binding
from wiretape.replay.putback import put_back, put_into_messages, put_into_request, put_into_text
from wiretape.traces.types import Message, Request, Response

A, B = "3f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11", "b8a1f3c2-77aa-4c0e-8d11-5e2c9f60d4e9"
BINDINGS = NONE.plus(
    (
        Binding("uuid", A, B),
        Binding("path", "/tmp/a17", "/var/folders/ab/cd/T/x91"),
        Binding("date", "2026-03-05", "2026-04-06"),
        Binding("port", "4000", "51234"),
        Binding("time", "1772721021", "1775466612"),
    )
)
SAID = f'Run {A} on 2026-03-05 ("March 5, 2026"): /tmp/a17/out.txt at http://localhost:4000/x. Not /tmp/a170, not 4000. ✓'
MEANT = (
    f'Run {B} on 2026-04-06 ("April 6, 2026"): /var/folders/ab/cd/T/x91/out.txt at http://localhost:51234/x.'
    " Not /tmp/a170, not 4000. ✓"
)
SSE = (("Content-Type", "text/event-stream"),)


def answer(body: bytes, headers: tuple[tuple[str, str], ...] = SSE, size: int = 0) -> Response:
    size = size or len(body)
    chunks = tuple((at, len(body[at : at + size])) for at in range(0, len(body), size))
    return put_back(Response(200, headers, body, chunks=chunks), BINDINGS)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(ends)]


def stream(events: list[Any], *, ascii_only: bool = False) -> bytes:
    return b"".join(f"data: {json.dumps(event, ensure_ascii=ascii_only)}\n\n".encode() for event in events)


def events(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]


def test_it_reaches_json_texts_and_json_in_texts() -> None:
    said = {"text": SAID, "arguments": json.dumps({"q": SAID, "at": 1772721021}), "at": 1772721021, A: [A], "signature": A}
    body = json.loads(answer(json.dumps(said).encode(), (("Content-Type", "application/json"),)).body)
    assert (body["text"], json.loads(body["arguments"])) == (MEANT, {"q": MEANT, "at": 1775466612})
    assert (body["at"], body[B], body["signature"]) == (1775466612, [B], A)


@given(st.lists(st.integers(0, 10_000), max_size=30), st.booleans(), st.integers(1, 200))
def test_a_value_that_deltas_split_anywhere_is_put_back(places: list[int], ascii_only: bool, size: int) -> None:
    arguments = json.dumps({"q": SAID, "id": A})
    said = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in cut(SAID, places)]
    asked = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": piece}}]}}]}
        for piece in cut(arguments, places)
    ]
    mixed = [event for pair in zip(said, asked, strict=False) for event in pair] + said[len(asked) :] + asked[len(said) :]
    made = answer(stream(mixed, ascii_only=ascii_only), size=size)
    deltas = [event["choices"][0]["delta"] for event in events(made.body)]
    assert "".join(each.get("content", "") for each in deltas) == MEANT
    parts = [each["tool_calls"][0]["function"]["arguments"] for each in deltas if "tool_calls" in each]
    assert json.loads("".join(parts)) == {"q": MEANT, "id": B}
    assert len(deltas) == len(mixed)
    assert sum(length for _, length in made.chunks) == len(made.body)


@given(st.lists(st.integers(0, 10_000), max_size=20))
def test_what_is_not_bound_stays_byte_for_byte(places: list[int]) -> None:
    text = f"{A}0 x{A} 2026-03-06 /tmp/a171/b :4000 17727210210 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{A} /home/tmp/a17"
    body = stream([{"type": "content_block_delta", "index": 0, "delta": {"text": piece}} for piece in cut(text, places)])
    assert answer(body, size=7) == Response(200, SSE, body, chunks=answer(body, size=7).chunks)


def test_a_body_that_only_begins_like_json_is_a_text() -> None:
    assert answer(f"[note] run {A}".encode(), ()).body == f"[note] run {B}".encode()
    assert answer(f'{{"cut": "run {A}'.encode(), ()).body == f'{{"cut": "run {B}'.encode()


PIECES = (
    *(A, B, "/tmp/a17", "/x", "2026-03-05", "March 5, 2026", "1772721021", "localhost:4000", "signature", "null", "eyJ"),
    *("{", "}", "[", "]", '"', "\\", ",", ":", " ", "\n", "data: ", "data:;base64,", "\\u00e9", "é", "T", "1"),
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.sampled_from(["", "text/event-stream", "application/jsonl"])
)
def test_it_is_total_on_anything(text: str, kind: str) -> None:
    made = answer(text.encode(), (("Content-Type", kind),), size=9)
    assert bool(made.body.decode()) == bool(text)
    assert sum(length for _, length in made.chunks) == len(made.body)


def test_two_parts_of_one_answer_are_two_texts() -> None:
    said = [{"index": at, "delta": {"text": piece}} for piece in (A[:9], A[9:]) for at in (0, 1)]
    made = events(answer(stream(said)).body)
    assert ["".join(each["delta"]["text"] for each in made if each["index"] == at) for at in (0, 1)] == [B, B]


def test_values_that_every_event_repeats_are_whole() -> None:
    made = events(answer(stream([{"id": A, "delta": {"content": "x"}}] * 3)).body)
    assert [each["id"] for each in made] == [B] * 3


def test_a_coded_body_is_coded_again_and_its_digest_dropped() -> None:
    headers = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"), ("ETag", '"x"'))
    made = answer(gzip.compress(json.dumps(SAID).encode()), headers)
    assert json.loads(gzip.decompress(made.body)) == MEANT
    assert "ETag" not in dict(made.headers)


def test_a_redirect_leads_to_the_live_port() -> None:
    assert dict(answer(b"x", (("Location", f"http://localhost:4000/{A}"),)).headers) == {
        "Location": f"http://localhost:51234/{B}"
    }


@pytest.mark.parametrize("kind", ["image/png", "application/vnd.amazon.eventstream"])
def test_what_is_no_text_stays_as_it_is(kind: str) -> None:
    assert answer(A.encode(), (("Content-Type", kind),)).body == A.encode()


@given(st.lists(st.integers(0, 10_000), max_size=20))
def test_messages_of_a_socket_go_on_with_one_text(places: list[int]) -> None:
    said = [
        Message(0, "server", "text", json.dumps({"type": "t.delta", "delta": piece}).encode()) for piece in cut(SAID, places)
    ]
    ends = [Message(1, "server", "close", b"bye", 1000)]
    made = put_into_messages([*said, *ends], BINDINGS)
    assert "".join(json.loads(each.data)["delta"] for each in made[:-1]) == MEANT
    assert made[-1:] == ends


def test_there_and_back_is_the_same() -> None:
    text = json.dumps({"a": SAID, "b": [A]})
    assert put_into_text(put_into_text(text, BINDINGS), BINDINGS.inverse()) == text


def test_a_request_is_rewritten_too() -> None:
    assert json.loads(
        put_into_request(Request("POST", "http://x/", (), json.dumps([SAID]).encode()), BINDINGS).body or b""
    ) == [MEANT]
