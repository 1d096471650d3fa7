"""A tool call of MCP over streamable HTTP, and an answer that a server might have given: live id, JSON or event stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from wiretape.traces.decoders.requests import body_of, is_post
from wiretape.traces.types import Json, Request, Response, header

__all__ = ["McpCall", "called", "result_of", "tool_result"]


@dataclass(frozen=True, slots=True)
class McpCall:
    id: Json
    tool: str
    arguments: Json


def called(request: Request) -> McpCall | None:
    """The tools/call that a request is; None for anything else, a batch included. The body is without content coding."""
    message = body_of(request) if is_post(request) else None
    if not isinstance(message, dict) or message.get("method") != "tools/call" or "id" not in message:
        return None
    given = message.get("params")
    params = given if isinstance(given, dict) else {}
    return McpCall(message["id"], str(params.get("name", "")), params.get("arguments") or {})


def tool_result(request: Request, value: Json, *, is_error: bool = False) -> Response:
    """The value as a tool's result: its text, and `structuredContent` where it is an object."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    result: dict[str, Json] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if isinstance(value, Mapping):
        result["structuredContent"] = value
    call = called(request)
    message = json.dumps({"jsonrpc": "2.0", "id": call.id if call else None, "result": result}, ensure_ascii=False)
    if _takes_json(request):
        return Response(200, (("Content-Type", "application/json"),), message.encode())
    return Response(200, (("Content-Type", "text/event-stream"),), f"event: message\ndata: {message}\n\n".encode())


def _takes_json(request: Request) -> bool:
    accept = header(request.headers, "accept")
    return accept is None or any(kind in accept.lower() for kind in ("application/json", "*/*", "application/*"))


def result_of(body: bytes, call: McpCall) -> Json:
    """The value in a server's answer: structured content, else the JSON of its text, else the text. ValueError without."""
    for message in _messages(body):
        result = message.get("result") if message.get("id") == call.id else None
        if isinstance(result, dict):
            return result["structuredContent"] if "structuredContent" in result else _texts(result)
    raise ValueError("the answer holds no result of the tool")


def _messages(body: bytes) -> list[dict[str, Json]]:
    text = body.decode("utf-8", "replace")
    lines = [text] if text.lstrip().startswith("{") else [line[5:] for line in text.splitlines() if line.startswith("data:")]
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _texts(result: dict[str, Json]) -> Json:
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    text = "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
    try:
        return json.loads(text)
    except ValueError:
        return text
