"""How each provider's API says what a rule wants said: a text as a whole answer or as a stream, an error within a stream.

One API a file. Those that have a decoder go by its name; the others are told by their path and body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from wiretape.proxy.dialects import anthropic_messages, bedrock, gemini, ollama, openai_chat, openai_responses
from wiretape.proxy.dialects.base import Dialect, Result, event
from wiretape.traces.decoders import detect
from wiretape.traces.decoders.requests import body_of, is_post, path_of
from wiretape.traces.types import Request, Response

__all__ = ["DIALECTS", "Dialect", "Result", "dialect_of", "model_of", "stream_error", "text_answer"]

DIALECTS: Mapping[str, Dialect] = {
    "openai-chat": openai_chat.DIALECT,
    "openai-responses": openai_responses.DIALECT,
    "anthropic-messages": anthropic_messages.DIALECT,
    "gemini": gemini.DIALECT,
    "bedrock": bedrock.DIALECT,
    "ollama": ollama.DIALECT,
}

_PATHS: Mapping[str, re.Pattern[str]] = {
    "gemini": re.compile(r"/models/([^/:]+):(stream)?generatecontent$"),
    "bedrock": re.compile(r"/model/([^/]+)/converse(-stream)?$"),
    "ollama": re.compile(r"/api/chat$"),
}
"""Of lower-case paths; a group is the model's name."""


def dialect_of(request: Request) -> str | None:
    """The API that a request to a model speaks."""
    name, body = detect(request), body_of(request)
    if name in DIALECTS:
        return name
    if not (is_post(request) and isinstance(body, dict) and ("messages" in body or "contents" in body)):
        return None
    return next((name for name, pattern in _PATHS.items() if pattern.search(path_of(request))), None)


def model_of(request: Request) -> str | None:
    """The model that is asked for, in the body or in the path."""
    body = body_of(request)
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        return str(body["model"])
    found = (pattern.search(path_of(request)) for pattern in _PATHS.values())
    return next((match[1] for match in found if match and match.re.groups), None)


def text_answer(request: Request, text: str, response_id: str) -> Response:
    """The model says this text: as a stream where the request asks for one. Raises ValueError where that is not known."""
    name, given = dialect_of(request), body_of(request)
    if name is None:
        raise ValueError(f"a text can be said in {', '.join(DIALECTS)}, and this is none of them; answer with `json`")
    dialect, body, model = DIALECTS[name], given if isinstance(given, dict) else {}, model_of(request) or "mock"
    if dialect.streams(path_of(request), body):
        events = list(dialect.stream(text, model, response_id))
        chunks = tuple((0, len(event)) for event in events)
        return Response(200, (("Content-Type", dialect.stream_type),), b"".join(events), chunks=chunks)
    whole = json.dumps(dialect.whole(text, model, response_id), ensure_ascii=False)
    return Response(200, (("Content-Type", "application/json"),), whole.encode())


def stream_error(request: Request, kept: bytes, code: str, message: str) -> bytes:
    """The event by which this API breaks a stream off; `kept` is what came before it. OpenAI's where the API is not known."""
    name = dialect_of(request)
    if name:
        return DIALECTS[name].error(kept, code, message)
    return event({"error": {"message": message, "type": "server_error", "code": code}})
