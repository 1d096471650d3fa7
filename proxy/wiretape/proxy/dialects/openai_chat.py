"""OpenAI Chat Completions (https://platform.openai.com/docs/api-reference/chat-streaming)."""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, Result, blocks, event, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]

_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _head(kind: str, model: str, response_id: str) -> dict[str, Json]:
    return {"id": f"chatcmpl-{response_id}", "object": kind, "created": 0, "model": model}


def _whole(text: str, model: str, response_id: str) -> Json:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {**_head("chat.completion", model, response_id), "choices": [choice], "usage": _USAGE}


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    head = _head("chat.completion.chunk", model, response_id)
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words(text))]
    for delta in deltas:
        yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield b"data: [DONE]\n\n"


def _error(kept: bytes, code: str, message: str) -> bytes:
    return event({"error": {"message": message, "type": "server_error", "param": None, "code": code}})


def _results(body: Json) -> Iterator[Result]:
    for place, message in blocks(body, "messages"):
        if message.get("role") == "tool":
            yield Result(str(message.get("tool_call_id")), place, message, "content")


DIALECT = Dialect(_whole, _stream, _error, _results)
