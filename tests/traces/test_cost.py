"""What a call costs is what the user's prices say of what the provider counted; anything less is not known."""

from __future__ import annotations

from decimal import Decimal

import pytest

from wiretape.traces.cost import cost, is_billed, total
from wiretape.traces.settings import Price
from wiretape.traces.types import ModelCall, RecordingInfo, Step, ToolCall, Trace, Usage

PLAIN = Price(input=2, output=8)
APART = Price(input=2, output=8, cached=0.5, reasoning=16)


def call(
    input: int | None = 1000,
    output: int | None = 100,
    cached: int | None = None,
    reasoning: int | None = None,
    *,
    api: str = "chat",
    **more: object,
) -> ModelCall:
    usage = Usage(input=input, output=output, cached=cached, reasoning=reasoning)
    return ModelCall(**{"provider": "p", "api": api, "requested_model": "m", "text": "", "usage": usage, **more})


@pytest.mark.parametrize(
    ("asked", "price", "millionths"),
    [
        (call(), PLAIN, "2800"),
        (call(cached=400, reasoning=60), PLAIN, "2800"),
        (call(cached=400), APART, "2200"),
        (call(reasoning=60), APART, "3280"),
        (call(cached=400, reasoning=60), APART, "2680"),
        (call(600, cached=400, api="messages"), APART, "2200"),
        (call(600, cached=400, api="messages"), PLAIN, "2800"),
        (call(0, 0), PLAIN, "0"),
        (call(), Price(input=0, output=0), "0"),
        (call(10, 1, cached=40, reasoning=60), APART, "36"),
        (call(reasoning=60, api="generateContent"), APART, "3760"),
        (call(reasoning=60, api="generateContent"), PLAIN, "3280"),
        (call(output=None, api="embeddings"), PLAIN, "2000"),
    ],
)
def test_it_counts_each_kind_of_token_at_its_price(asked: ModelCall, price: Price, millionths: str) -> None:
    assert cost(asked, {"m": price}) == Decimal(millionths) / 1_000_000


@pytest.mark.parametrize("asked", [call(None), call(output=None), call(None, None), call(requested_model="other")])
def test_it_is_not_known_without_a_price_and_both_counts(asked: ModelCall) -> None:
    assert cost(asked, {"m": PLAIN}) is None


def test_it_is_exact_to_the_last_digit() -> None:
    assert cost(call(3, 0), {"m": Price(input=0.1, output=1)}) == Decimal("0.0000003")


@pytest.mark.parametrize(
    ("answered", "asked", "patterns", "taken"),
    [
        ("gpt-5-mini-2025", "gpt-5-mini", ("gpt-5*", "gpt-5-mini*"), "gpt-5-mini*"),
        ("gpt-5-mini-2025", "gpt-5-mini", ("gpt-5-mini*", "gpt-5-mini-2025", "gpt-*-mini-2025*"), "gpt-5-mini-2025"),
        ("gpt-5-mini-2025", "gpt-5-mini", ("gpt-5-mini",), "gpt-5-mini"),
        ("gpt-5-mini-2025", "gpt-5-mini", ("*", "gpt-5-mini"), "gpt-5-mini"),
        (None, "gpt-5-mini", ("gpt-5*",), "gpt-5*"),
        ("m[1]", None, ("m[1]",), "m[1]"),
        ("GPT-5", None, ("gpt-5",), None),
    ],
)
def test_it_takes_the_closest_pattern_of_the_model_that_answered_or_was_asked(answered, asked, patterns, taken) -> None:
    prices = {pattern: Price(input=number, output=0) for number, pattern in enumerate(patterns, 1)}
    found = cost(call(1_000_000, 0, model=answered, requested_model=asked), prices)
    assert found == (None if taken is None else patterns.index(taken) + 1)


def trace(*steps: Step) -> Trace:
    info = RecordingInfo(name="r", id="i", started_at=1, status="complete", tool_version="0")
    return Trace(recording=info, steps=steps)


def test_a_recording_costs_what_its_calls_cost() -> None:
    assert total(trace(call(), ToolCall(tool="t"), call()), {"m": PLAIN}) == Decimal("0.0056")


def test_a_recording_with_a_call_that_cannot_be_priced_has_no_cost() -> None:
    assert total(trace(call(), call(requested_model="other")), {"m": PLAIN}) is None
    assert total(trace(call()), {}) is None


def test_a_count_of_tokens_costs_nothing() -> None:
    assert total(trace(call(api="count_tokens", output=None), call()), {"m": PLAIN}) == Decimal("0.0028")


def test_a_call_that_had_no_answer_is_not_billed() -> None:
    refused = call(None, None, error="429: slow down", text=None)
    assert not is_billed(refused)
    assert total(trace(refused, call()), {"m": PLAIN}) == Decimal("0.0028")


def test_a_call_that_was_cut_is_billed_and_its_cost_not_known() -> None:
    cut = call(None, None, error="it was cut", text="Hal")
    assert is_billed(cut)
    assert total(trace(cut), {"m": PLAIN}) is None
