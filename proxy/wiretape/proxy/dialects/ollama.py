"""Ollama's chat (https://github.com/ollama/ollama/blob/main/docs/api.md): lines of JSON, streamed unless that is declined."""

from __future__ import annotations

import json
from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, no_results, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]

_CREATED = "1970-01-01T00:00:00Z"


def _said(text: str, model: str, *, done: bool) -> dict[str, Json]:
    end = {"done_reason": "stop"} if done else {}
    return {"model": model, "created_at": _CREATED, "message": {"role": "assistant", "content": text}, "done": done, **end}


def _whole(text: str, model: str, response_id: str) -> Json:
    return _said(text, model, done=True)


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    for word in words(text):
        yield _line(_said(word, model, done=False))
    yield _line(_said("", model, done=True))


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _error(kept: bytes, code: str, message: str) -> bytes:
    return _line({"error": message})


DIALECT = Dialect(
    _whole,
    _stream,
    _error,
    no_results,
    streams=lambda _, body: body.get("stream") is not False,
    stream_type="application/x-ndjson",
)
