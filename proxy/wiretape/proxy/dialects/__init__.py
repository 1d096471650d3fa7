"""How each provider's API says what a rule wants said: a text as a whole answer or as a stream, an error within a stream.

One API a file; keys are the names of `traces/decoders`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from wiretape.proxy.dialects import anthropic_messages, openai_chat, openai_responses
from wiretape.proxy.dialects.base import Dialect, Result, event
from wiretape.traces.decoders.requests import body_of
from wiretape.traces.types import Request, Response

__all__ = ["DIALECTS", "Dialect", "Result", "stream_error", "text_answer"]

DIALECTS: Mapping[str, Dialect] = {
    "openai-chat": openai_chat.DIALECT,
    "openai-responses": openai_responses.DIALECT,
    "anthropic-messages": anthropic_messages.DIALECT,
}


def text_answer(api: str, request: Request, text: str, response_id: str) -> Response:
    """The model says this text: as a stream where the request asks for one. Raises ValueError where that is not known."""
    if api not in DIALECTS:
        raise ValueError(f"expected one of {', '.join(DIALECTS)} for an answer in text, got {api}; answer with `json`")
    asked = body_of(request)
    body = asked if isinstance(asked, dict) else {}
    model = str(body.get("model") or "mock")
    if body.get("stream") is True:
        events = list(DIALECTS[api].stream(text, model, response_id))
        chunks = tuple((0, len(event)) for event in events)
        return Response(200, (("Content-Type", "text/event-stream"),), b"".join(events), chunks=chunks)
    whole = json.dumps(DIALECTS[api].whole(text, model, response_id), ensure_ascii=False)
    return Response(200, (("Content-Type", "application/json"),), whole.encode())


def stream_error(api: str | None, kept: bytes, code: str, message: str) -> bytes:
    """The event by which this API breaks a stream off; `kept` is what came before it. OpenAI's where the API is not known."""
    if api and api in DIALECTS:
        return DIALECTS[api].error(kept, code, message)
    return event({"error": {"message": message, "type": "server_error", "code": code}})
