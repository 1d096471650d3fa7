"""Every decoder against real captures: what is certain in the bytes is met, however the bytes are split, and nothing raises."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.captures import Capture, captures
from support.facts import missed

from wiretape.traces.decoders import DECODERS, decode, detect
from wiretape.traces.types import ModelView, Request, View

SHARED = Path(__file__).parents[4] / "shared" / "corpus"
KNOWN = [each for each in captures() if decode(each.plain, each.body)]
DECODED = [each for each in KNOWN if detect(each.plain.request)]


def read(capture: Capture, sizes: Callable[[], int] | None = None) -> View:
    """The view of the answer, fed whole or in pieces of these sizes."""
    name = detect(capture.plain.request)
    assert name is not None
    assert capture.plain.response is not None
    reader = DECODERS[name].reader(capture.plain.request, capture.plain.response.status, None)
    at = 0
    while at < len(capture.body):
        size = sizes() if sizes else len(capture.body)
        reader.feed(capture.body[at : at + size])
        at += size
    return reader.view()


def test_there_are_captures_of_every_decoder() -> None:
    """But of A2A: no public recording of it was found, its tests are made by the specification."""
    assert {detect(each.plain.request) for each in DECODED} == set(DECODERS) - {"a2a"}


@pytest.mark.parametrize("capture", KNOWN, ids=lambda each: each.name)
def test_it_reads_what_is_certain(capture: Capture) -> None:
    assert missed(decode(capture.plain, capture.body), capture.expected) == []


@pytest.mark.parametrize("capture", DECODED, ids=lambda each: each.name)
def test_it_reads_the_same_however_the_bytes_are_split(capture: Capture) -> None:
    whole = read(capture)
    dice = random.Random(7)
    assert read(capture, lambda: dice.randint(1, 200)) == whole
    if len(capture.body) < 20_000:
        assert read(capture, lambda: 1) == whole


PATHS = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/mcp",
    "/v1beta/models/g:streamGenerateContent",
    "/v1beta/interactions",
    "/model/m/converse-stream",
    "/model/m/invoke-with-response-stream",
    "/agents/a/agentAliases/b/sessions/c/text",
    "/v2/chat",
    "/v1/chat",
    "/api/chat",
    "/v1/completions",
    "/v1/embeddings",
]
STREAMS = sorted((each for each in DECODED if isinstance(read(each), ModelView)), key=lambda each: len(each.body))[:12]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_survives_mutated_streams(data: st.DataObject) -> None:
    capture = data.draw(st.sampled_from(STREAMS))
    body = bytearray(capture.body[:4000])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=12))
        if not body:
            body = bytearray(b"{")
    name = detect(capture.plain.request)
    assert name is not None
    whole, split = (DECODERS[name].reader(capture.plain.request, 200, None) for _ in range(2))
    whole.feed(bytes(body))
    cut = data.draw(st.integers(0, len(body)))
    split.feed(bytes(body[:cut]))
    split.feed(bytes(body[cut:]))
    assert whole.view() == split.view()


@given(
    body=st.binary(max_size=300),
    path=st.sampled_from(PATHS),
    answer=st.binary(max_size=600),
)
def test_it_survives_any_request_and_any_answer(body: bytes, path: str, answer: bytes) -> None:
    request = Request("POST", f"http://x.test{path}", (), body)
    for name, decoder in DECODERS.items():
        assert decoder.claims(request, None) in (True, False), name
        reader = decoder.reader(request, 200, None)
        reader.feed(answer)
        assert reader.complete in (True, False)
        reader.view()


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the corpus of real traffic is not beside the project")
def test_it_meets_every_fact_of_the_corpus() -> None:
    wrong = [
        (capture.name, fact)
        for capture in captures(SHARED)
        for fact in missed(decode(capture.plain, capture.body), capture.expected)
    ]
    assert wrong == []
