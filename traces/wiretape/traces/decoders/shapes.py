"""An answer that only one API gives, where the request tells nothing: gateways put known dialects under paths of their own."""

from __future__ import annotations

from collections.abc import Callable

from wiretape.traces.decoders.requests import is_post
from wiretape.traces.decoders.sse import SseReader
from wiretape.traces.decoders.values import dicts, parse, several, string
from wiretape.traces.types import Json, Request

__all__ = ["api_of_answer"]

_LOOK = 65_536


def api_of_answer(request: Request, body: bytes) -> str | None:
    """The API, told by the first value of the answer to a POST; None where it could be anything."""
    if not is_post(request):
        return None
    value = _first(body)
    return next((name for name, fits in _SHAPES.items() if fits(value)), None) if isinstance(value, dict) else None


def _first(body: bytes) -> Json:
    """The first value of a stream or of several, or the only one."""
    if not body.lstrip().startswith((b"{", b"[")):
        events = SseReader().feed(body[:_LOOK])
        return _parsed(events[0].data) if events else None
    values = several(body, arrays=True)
    return values[0] if values else None


def _parsed(text: str) -> Json:
    try:
        return parse(text)
    except ValueError:
        return None


def _is_chat(value: dict[str, Json]) -> bool:
    choices = list(dicts(value.get("choices")))
    return any(isinstance(choice.get("message") or choice.get("delta"), dict) for choice in choices)


def _is_message(value: dict[str, Json]) -> bool:
    whole = value.get("type") == "message" and value.get("role") == "assistant" and isinstance(value.get("content"), list)
    return whole or (value.get("type") == "message_start" and isinstance(value.get("message"), dict))


def _is_response(value: dict[str, Json]) -> bool:
    whole = value.get("object") == "response" and isinstance(value.get("output"), list)
    return whole or (string(value.get("type")) == "response.created" and isinstance(value.get("response"), dict))


def _is_gemini(value: dict[str, Json]) -> bool:
    return any(isinstance(each.get("content"), dict) for each in dicts(value.get("candidates")))


def _is_ollama(value: dict[str, Json]) -> bool:
    said = isinstance(value.get("message"), dict) or isinstance(value.get("response"), str)
    return said and isinstance(value.get("done"), bool) and string(value.get("model")) is not None


_SHAPES: dict[str, Callable[[dict[str, Json]], bool]] = {
    "openai-chat": _is_chat,
    "anthropic-messages": _is_message,
    "openai-responses": _is_response,
    "gemini": _is_gemini,
    "ollama": _is_ollama,
}
