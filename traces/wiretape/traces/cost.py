"""What model calls cost at the prices that a user set. What cannot be known is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fnmatch import fnmatchcase

from wiretape.traces.settings import Price
from wiretape.traces.types import ModelCall, Trace

__all__ = ["Prices", "cost", "input_tokens", "is_billed", "total"]

type Prices = Mapping[str, Price]
"""A model's name, or a pattern with `*` → its price."""

_CACHED_BESIDE = frozenset({"messages", "converse"})
"""APIs whose input leaves cached tokens out; elsewhere they are a part of it.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
"""

_REASONING_BESIDE = frozenset({"generateContent", "interactions", "live"})
"""APIs whose output leaves reasoning out (https://ai.google.dev/api/generate-content#UsageMetadata)."""

_WITHOUT_OUTPUT = frozenset({"embeddings", "moderations", "rerank"})
_FREE = frozenset({"count_tokens"})


def total(trace: Trace, prices: Prices) -> Decimal | None:
    """Of all calls that were billed; None where one of them has no price, or its usage is not known."""
    costs = [cost(step, prices) for step in trace.steps if isinstance(step, ModelCall) and is_billed(step)]
    known = [each for each in costs if each is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def is_billed(call: ModelCall) -> bool:
    """Not so a count of tokens, nor a call that failed before it had any answer."""
    return call.api not in _FREE and (call.error is None or call.text is not None)


def cost(call: ModelCall, prices: Prices) -> Decimal | None:
    price, sent, told = _price(call, prices), input_tokens(call), _output_tokens(call)
    if price is None or sent is None or told is None:
        return None
    cached, (said, reasoning) = call.usage.cached or 0, told
    parts = (
        (max(sent - cached, 0), price.input),
        (cached, price.input if price.cached is None else price.cached),
        (said, price.output),
        (reasoning, price.output if price.reasoning is None else price.reasoning),
    )
    return sum((tokens * Decimal(str(each)) for tokens, each in parts), Decimal(0)) / 1_000_000


def input_tokens(call: ModelCall) -> int | None:
    """All of them, with those that came from a cache."""
    usage = call.usage
    beside = (usage.cached or 0) if call.api in _CACHED_BESIDE else 0
    return None if usage.input is None else usage.input + beside


def _output_tokens(call: ModelCall) -> tuple[int, int] | None:
    """(those that were said, those of the reasoning before); None where they are not known."""
    output = 0 if call.usage.output is None and call.api in _WITHOUT_OUTPUT else call.usage.output
    reasoning = call.usage.reasoning or 0
    if output is None:
        return None
    return (output, reasoning) if call.api in _REASONING_BESIDE else (max(output - reasoning, 0), min(reasoning, output))


def _price(call: ModelCall, prices: Prices) -> Price | None:
    """By the model that answered or the one that was asked for: a name before a pattern, a longer pattern before a shorter."""
    names = [name for name in (call.model, call.requested_model) if name]
    fitting = [each for each in prices if each in names or any(fnmatchcase(name, each) for name in names)]
    return prices[max(fitting, key=lambda each: (each in names, len(each)))] if fitting else None
