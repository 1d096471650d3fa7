"""What a model call is in the words of OpenTelemetry's conventions for generative AI.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self
from urllib.parse import urlsplit

from wiretape.traces.cost import input_tokens
from wiretape.traces.types import End, Exchange, ExchangeKind, Json, ModelCall

__all__ = ["Attributes", "Seen", "chat", "provider"]

type Attributes = dict[str, bool | int | float | str | list[str] | None]
"""None is an attribute that is not there."""

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Ours → the conventions' well-known name, where they differ."""

_PARAMETERS: dict[str, tuple[Callable[[Any], float], tuple[str, ...]]] = {
    "gen_ai.request.choice.count": (int, ("n",)),
    "gen_ai.request.frequency_penalty": (float, ("frequency_penalty",)),
    "gen_ai.request.max_tokens": (int, ("max_tokens", "max_completion_tokens", "max_output_tokens")),
    "gen_ai.request.presence_penalty": (float, ("presence_penalty",)),
    "gen_ai.request.seed": (int, ("seed",)),
    "gen_ai.request.temperature": (float, ("temperature",)),
    "gen_ai.request.top_k": (int, ("top_k",)),
    "gen_ai.request.top_p": (float, ("top_p",)),
}
"""Attribute → its type, and the names under which requests say it."""


_LAST_SECOND = 1 << 34
"""Of what fits into 64 bits of nanoseconds (the year 2514)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a span needs of an exchange; times in nanoseconds since the epoch."""

    start: int
    end: int
    host: str | None
    port: int | None
    status: int | None
    ended: End | None
    shared: bool
    """It is a conversation over stdio: how long it took says nothing of one call in it."""

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        start, times = round(min(max(exchange.started_at, 0), _LAST_SECOND) * 1e6) * 1000, exchange.timings
        last = max(each or 0 for each in (times.connected, times.request_sent, times.first_byte, times.ended))
        if exchange.response and exchange.response.chunks:
            last = max(last, exchange.response.chunks[-1][0])
        status = exchange.response.status if exchange.response else None
        shared = exchange.kind is ExchangeKind.STDIO
        return cls(start, start + last * 1000, *_address(exchange.request.url), status, exchange.end, shared)


def _address(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or (443 if parts.scheme in ("https", "wss") else 80)
    except ValueError:
        return None, None


def chat(call: ModelCall, seen: Seen, money: Decimal | None) -> Attributes:
    first, reason = call.first_token_ms, call.stop_reason or (call.error and "error")
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider(call),
        "gen_ai.request.model": call.requested_model,
        "gen_ai.response.model": call.model,
        "gen_ai.request.stream": call.streamed or None,
        **_parameters(call.parameters),
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "gen_ai.response.time_to_first_chunk": first / 1000 if call.streamed and first is not None else None,
        "gen_ai.usage.input_tokens": input_tokens(call),
        "gen_ai.usage.output_tokens": call.usage.output,
        "gen_ai.usage.cache_read.input_tokens": call.usage.cached,
        "gen_ai.usage.reasoning.output_tokens": call.usage.reasoning,
        "server.address": seen.host,
        "server.port": seen.port,
        "error.type": _error_type(seen) if call.error else None,
        "wiretape.cost": None if money is None else float(money),
        "wiretape.exchange": call.exchange,
        "wiretape.mocked": call.mocked,
    }


def provider(call: ModelCall) -> str:
    return _PROVIDERS.get(call.provider, call.provider)


def _parameters(given: dict[str, Json]) -> Attributes:
    """Those of the type that the conventions ask for."""
    found: Attributes = {}
    for attribute, (kind, names) in _PARAMETERS.items():
        value = next((given[name] for name in names if name in given), None)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63:
            found[attribute] = kind(value)
    stop = given.get("stop", given.get("stop_sequences"))
    stops = [stop] if isinstance(stop, str) else stop
    if isinstance(stops, list) and stops and all(isinstance(each, str) for each in stops):
        found["gen_ai.request.stop_sequences"] = stops
    return found


def _error_type(seen: Seen) -> str:
    if seen.status is not None and seen.status >= 400:
        return str(seen.status)
    return str(seen.ended) if seen.ended not in (End.COMPLETE, None) else "_OTHER"
