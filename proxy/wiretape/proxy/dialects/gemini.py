"""Gemini's generateContent (https://ai.google.dev/api/generate-content); the path says whether it streams."""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, event, no_results, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]


def _part(text: str, model: str, response_id: str, finish: str | None) -> dict[str, Json]:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    done = {"finishReason": finish} if finish else {}
    usage = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
    return {"candidates": [{**candidate, **done}], "usageMetadata": usage, "modelVersion": model, "responseId": response_id}


def _whole(text: str, model: str, response_id: str) -> Json:
    return _part(text, model, response_id, "STOP")


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    *first, last = words(text)
    for word in first:
        yield event(_part(word, model, response_id, None))
    yield event(_part(last, model, response_id, "STOP"))


def _error(kept: bytes, code: str, message: str) -> bytes:
    """https://cloud.google.com/apis/design/errors"""
    return event({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})


DIALECT = Dialect(_whole, _stream, _error, no_results, streams=lambda path, _: "stream" in path.rpartition(":")[2])
