"""Anthropic Messages (https://docs.anthropic.com/en/api/messages-streaming)."""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, Result, blocks, event, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]

_USAGE = {"input_tokens": 0, "output_tokens": 0}


def _message(model: str, response_id: str, content: list[Json], stop: str | None) -> dict[str, Json]:
    return {
        "id": f"msg_{response_id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _whole(text: str, model: str, response_id: str) -> Json:
    return _message(model, response_id, [{"type": "text", "text": text}], "end_turn")


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    yield _event("message_start", message=_message(model, response_id, [], None))
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in words(text):
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield _event("content_block_stop", index=0)
    yield _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 0})
    yield _event("message_stop")


def _event(kind: str, **data: Json) -> bytes:
    return event({"type": kind, **data}, kind)


def _error(kept: bytes, code: str, message: str) -> bytes:
    kind = code if code.endswith("_error") else f"{code}_error"
    return _event("error", error={"type": kind, "message": message})


def _results(body: Json) -> Iterator[Result]:
    for outer, message in blocks(body, "messages"):
        for inner, block in blocks(message, "content"):
            if block.get("type") == "tool_result":
                yield Result(str(block.get("tool_use_id")), (*outer, *inner), block, "content", "is_error")


DIALECT = Dialect(_whole, _stream, _error, _results)
