"""Every decoder against real captures: what is certain in the bytes is met, however the bytes are split, and nothing raises."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.captures import Capture, captures

from wiretape.traces.decoders import DECODERS, decode, detect
from wiretape.traces.types import McpView, ModelView, Request, View

SHARED = Path(__file__).parents[4] / "shared" / "corpus"
DECODED = [each for each in captures() if detect(each.plain.request)]


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


def facts(view: View, expected: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """(fact, what is certain, what was read)."""
    if isinstance(view, McpView):
        calls = [request.params for request in view.requests if request.method == "tools/call"]
        said = calls[0] if calls else {}
        return (
            [("tool", [expected["tool"], expected.get("arguments")], [said.get("name"), said.get("arguments")])]
            if "tool" in expected
            else []
        )
    usage = expected.get("usage") or {}
    found = [
        ("model", expected.get("model"), view.model),
        ("request_model", expected.get("request_model"), view.requested_model),
        ("text", expected.get("text"), view.text or ""),
        ("finish_reason", expected.get("finish_reason"), view.stop_reason),
        ("input", usage.get("input_tokens"), view.usage.input),
        ("output", usage.get("output_tokens"), view.usage.output),
        ("error", "error" in expected or None, bool(view.error)),
    ]
    if "tool_calls" in expected:
        asked = [[call.tool, call.arguments] for call in view.asked if not call.by_provider]
        found.append(("tool_calls", [[call["name"], call["arguments"]] for call in expected["tool_calls"]], asked))
    return [fact for fact in found if fact[1] is not None]


def test_there_are_captures_of_every_decoder() -> None:
    assert {detect(each.plain.request) for each in DECODED} == set(DECODERS)


@pytest.mark.parametrize("capture", DECODED, ids=lambda each: each.name)
def test_it_reads_what_is_certain(capture: Capture) -> None:
    view = decode(capture.plain, capture.body)
    assert view is not None
    for fact, certain, got in facts(view, capture.expected):
        assert json.dumps(got, sort_keys=True) == json.dumps(certain, sort_keys=True), fact


@pytest.mark.parametrize("capture", DECODED, ids=lambda each: each.name)
def test_it_reads_the_same_however_the_bytes_are_split(capture: Capture) -> None:
    whole = read(capture)
    dice = random.Random(7)
    assert read(capture, lambda: dice.randint(1, 200)) == whole
    if len(capture.body) < 20_000:
        assert read(capture, lambda: 1) == whole


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
    path=st.sampled_from(["/v1/chat/completions", "/v1/messages", "/v1/responses", "/mcp"]),
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
    missed = [
        (capture.name, fact, certain, got)
        for capture in captures(SHARED)
        if (view := decode(capture.plain, capture.body)) is not None
        for fact, certain, got in facts(view, capture.expected)
        if json.dumps(got, sort_keys=True) != json.dumps(certain, sort_keys=True)
    ]
    assert missed == []
