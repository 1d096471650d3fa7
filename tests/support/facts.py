"""What is certain about a real exchange, compared with what a decoder read in it.

The names are those of the collection of real traffic: what is null there was not certain and is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wiretape.traces.types import McpView, ModelView, SocketView, View

__all__ = ["facts", "missed"]

type Fact = tuple[str, Any, Any]
"""(name, what is certain, what was read)"""


def missed(view: View | None, expected: dict[str, Any]) -> list[Fact]:
    return [fact for fact in facts(view, expected) if _text(fact[1]) != _text(fact[2])]


def facts(view: View | None, expected: dict[str, Any]) -> Iterator[Fact]:
    if isinstance(view, SocketView):
        yield from _socket(view, expected)
    elif isinstance(view, McpView):
        yield from _mcp(view, expected)
    elif isinstance(view, ModelView):
        yield from _model(view, expected)
    else:
        yield from ((name, value, None) for name, value in expected.items())


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _model(view: ModelView, expected: dict[str, Any]) -> Iterator[Fact]:
    read = {
        "model": view.model,
        "request_model": view.requested_model,
        "text": view.text or "",
        "finish_reason": view.stop_reason,
        "request_tool_result_ids": [result.call_id for said in view.said for result in said.handed],
    }
    yield from ((name, expected[name], got) for name, got in read.items() if expected.get(name) is not None)
    if "tool_calls" in expected:
        asked = [[call.tool, call.arguments] for call in view.asked if not call.by_provider]
        yield "tool_calls", [[call["name"], call["arguments"]] for call in expected["tool_calls"]], asked
    if "server_tools" in expected:  # OpenAI's items have no name but their type: `web_search_call`
        certain = [tool.removesuffix("_call") for tool in expected["server_tools"]]
        yield "server_tools", certain, [call.tool for call in view.asked if call.by_provider]
    if "error" in expected:
        yield "error", True, expected["error"]["message"] in (view.error or "")
    yield from _usage(view, expected.get("usage") or {})


def _usage(view: ModelView, usage: dict[str, Any]) -> Iterator[Fact]:
    for name, got in (("input_tokens", view.usage.input), ("output_tokens", view.usage.output)):
        if usage.get(name) is not None:
            yield name, usage[name], got


def _mcp(view: McpView, expected: dict[str, Any]) -> Iterator[Fact]:
    asked, result = view.requests[0] if view.requests else None, view.answers[0].result if view.answers else {}
    params = asked.params if asked and isinstance(asked.params, dict) else {}
    read = {
        "mcp_method": asked.method if asked else None,
        "tools": [tool.name for tool in view.declared],
        "tool": params.get("name"),
        "arguments": params.get("arguments"),
        "is_error": result.get("isError", False),
        "result_text": "".join(part["text"] for part in result.get("content", ())),
    }
    yield from ((name, expected[name], got) for name, got in read.items() if expected.get(name) is not None)


def _socket(view: SocketView, expected: dict[str, Any]) -> Iterator[Fact]:
    handed = [result.call_id for call in view.calls for said in call.said for result in said.handed]
    yield "tool_results", expected["tool_results"], handed
    if all("text" in each for each in expected["responses"]):
        yield "responses", len(expected["responses"]), len(view.calls)
        for call, each in zip(view.calls, expected["responses"], strict=False):
            yield "text", each["text"] or each["transcript"], call.text
            yield "status", each["status"], call.stop_reason
            yield from _usage(call, each["usage"])
    certain = [[tool["name"], tool["arguments"]] for each in expected["responses"] for tool in each["tool_calls"]]
    yield "socket_calls", certain, [[asked.tool, asked.arguments] for call in view.calls for asked in call.asked]
