"""Real exchanges of tests/wire, and readings of an answer that is fed whole, byte by byte and cut at random places."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretape.traces.decoders import DECODERS, detect
from wiretape.traces.types import End, Exchange, Headers, McpView, ModelView, Request, Response, View

__all__ = ["CAPTURES", "JSON_TYPE", "SSE_TYPE", "Capture", "events", "facts_met", "post", "seen"]

WIRE = Path(__file__).parents[1] / "wire"
JSON_TYPE, SSE_TYPE = "application/json", "text/event-stream"


@dataclass(frozen=True)
class Capture:
    api: str
    name: str
    request: Request
    response: Response
    facts: dict[str, Any]

    @property
    def exchange(self) -> Exchange:
        return Exchange(1, self.request, self.response, end=End.COMPLETE)


def _capture(entry: dict[str, Any]) -> Capture:
    folder = WIRE / entry["api"]
    headers = tuple((name, value) for name, value in entry["headers"])
    request = Request("POST", entry["url"], headers, (folder / f"{entry['name']}.request").read_bytes())
    kind: Headers = (("Content-Type", entry["content_type"]),) if entry["content_type"] else ()
    response = Response(entry["status"], kind, (folder / f"{entry['name']}.response").read_bytes())
    return Capture(entry["api"], entry["name"], request, response, entry["facts"])


_LINES = (WIRE / "captures.jsonl").read_bytes().splitlines()
CAPTURES = {f"{c.api}/{c.name}": c for c in map(_capture, map(json.loads, _LINES))}


def post(url: str, body: Any = None, *headers: tuple[str, str], method: str = "POST") -> Request:
    """A request to `url`; `body`: JSON to be, or bytes."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    return Request(method, url, headers, data)


def events(*values: Any) -> bytes:
    """An event stream: JSON as data, (name, JSON) as a named event, text as it stands."""
    return b"".join(_event(value) for value in values)


def _event(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    name, data = value if isinstance(value, tuple) else (None, value)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def cuts(size: int, rng: random.Random) -> Iterator[Sequence[int]]:
    """Places to cut: nowhere, everywhere, three times at random ones."""
    yield ()
    if size <= 20_000:
        yield range(1, size)
    for _ in range(3):
        yield sorted(rng.sample(range(size), min(size, 12)))


def seen(request: Request, body: bytes, status: int = 200, content_type: str | None = None) -> Any:
    """What the decoder of a request reads in an answer: the same, however it is cut."""
    api = detect(request, content_type)
    assert api is not None, f"nobody claims {request}"
    views = []
    for places in cuts(len(body), random.Random(1)):
        reader = DECODERS[api].reader(request, status, content_type)
        for start, end in zip((0, *places), (*places, len(body)), strict=True):
            reader.feed(body[start:end])
        views.append((reader.view(), reader.complete))
    assert all(view == views[0] for view in views)
    views[0][0].model_dump_json()
    return views[0][0]


def facts_met(view: View | None, facts: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Each fact that a view does not meet: name → (expected, got)."""
    read = _model(view, facts) if isinstance(view, ModelView) else _mcp(view) if isinstance(view, McpView) else {}
    wanted = {name: _wanted(name, value) for name, value in facts.items() if name != "usage_raw"}
    return {name: (value, read.get(name)) for name, value in wanted.items() if read.get(name) != value}


def _wanted(name: str, value: Any) -> Any:
    if name == "tool_calls":
        return [(call["name"], call["arguments"]) for call in value]
    if name == "server_tools":  # OpenAI's items have no name but their type: `web_search_call`
        return [tool.removesuffix("_call") for tool in value]
    if name == "usage":
        return {count: value.get(count) for count in ("input_tokens", "output_tokens")}
    return value["message"] if name == "error" else value


def _model(view: ModelView, facts: dict[str, Any]) -> dict[str, Any]:
    message = facts.get("error", {}).get("message", "")
    return {
        "model": view.model,
        "request_model": view.requested_model,
        "text": view.text or "",
        "finish_reason": view.stop_reason,
        "tool_calls": [(call.tool, call.arguments) for call in view.asked if not call.by_provider],
        "server_tools": [call.tool for call in view.asked if call.by_provider],
        "usage": {"input_tokens": view.usage.input, "output_tokens": view.usage.output},
        "request_tool_result_ids": [result.call_id for said in view.said for result in said.handed],
        "error": message if message in (view.error or "") else view.error,
    }


def _mcp(view: McpView) -> dict[str, Any]:
    [asked], result = view.requests, view.answers[0].result if view.answers else {}
    params = asked.params or {}
    return {
        "mcp_method": asked.method,
        "tools": [tool.name for tool in view.declared],
        "tool": params.get("name"),
        "arguments": params.get("arguments"),
        "is_error": result.get("isError"),
        "result_text": "".join(part["text"] for part in result.get("content", ())),
    }
