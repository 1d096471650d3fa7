"""OpenAI Responses (https://platform.openai.com/docs/api-reference/responses-streaming): numbered events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, Result, blocks, event, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]

_NUMBER = re.compile(rb'"sequence_number":\s*(\d+)')
_USAGE = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


def _item(text: str, response_id: str) -> dict[str, Json]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": f"msg_{response_id}", "type": "message", "status": "completed", "role": "assistant", "content": [part]}


def _response(model: str, response_id: str, status: str, output: list[Json]) -> dict[str, Json]:
    return {
        "id": f"resp_{response_id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _USAGE if status == "completed" else None,
    }


def _whole(text: str, model: str, response_id: str) -> Json:
    return _response(model, response_id, "completed", [_item(text, response_id)])


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    for number, (kind, data) in enumerate(_events(text, model, response_id)):
        yield event({"type": kind, "sequence_number": number, **data}, kind)


def _events(text: str, model: str, response_id: str) -> Iterator[tuple[str, dict[str, Json]]]:
    done = _item(text, response_id)
    begun = {"response": _response(model, response_id, "in_progress", [])}
    of_item = {"output_index": 0}
    of_part = {"item_id": done["id"], "output_index": 0, "content_index": 0}
    yield "response.created", begun
    yield "response.in_progress", begun
    yield "response.output_item.added", {**of_item, "item": {**done, "status": "in_progress", "content": []}}
    yield "response.content_part.added", {**of_part, "part": {**done["content"][0], "text": ""}}
    for word in words(text):
        yield "response.output_text.delta", {**of_part, "delta": word, "logprobs": []}
    yield "response.output_text.done", {**of_part, "text": text, "logprobs": []}
    yield "response.content_part.done", {**of_part, "part": done["content"][0]}
    yield "response.output_item.done", {**of_item, "item": done}
    yield "response.completed", {"response": _whole(text, model, response_id)}


def _error(kept: bytes, code: str, message: str) -> bytes:
    """Its number goes on from what was sent."""
    number = max((int(found) for found in _NUMBER.findall(kept)), default=-1) + 1
    return event({"type": "error", "sequence_number": number, "code": code, "message": message, "param": None}, "error")


def _results(body: Json) -> Iterator[Result]:
    for place, item in blocks(body, "input"):
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield Result(str(item.get("call_id")), place, item, "output")


DIALECT = Dialect(_whole, _stream, _error, _results)
