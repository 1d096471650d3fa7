"""Short words for views, exchanges and the traces that are built of them, as the tests of the trace's rooms need them."""

from __future__ import annotations

import json
from typing import Any

from wiretape.traces.assemble import build
from wiretape.traces.settings import TraceSettings
from wiretape.traces.types import (
    Asked,
    Declared,
    End,
    Exchange,
    Handed,
    McpAnswer,
    McpRequest,
    McpView,
    ModelView,
    RecordingInfo,
    RecordingStatus,
    Request,
    Response,
    Said,
    Step,
    Trace,
    View,
)

INFO = RecordingInfo(name="refund", id="r1", started_at=0.0, status=RecordingStatus.COMPLETE, tool_version="0.1.0")
MCP_URL = "http://tools.test/mcp"


# histories


def user(text: str, **more: Any) -> Said:
    return Said(role="user", digest=f"user {text}", text=text, **more)


def said(text: str) -> Said:
    return Said(role="assistant", digest=f"assistant {text}", text=text)


def asking(*calls: Asked) -> Said:
    """What the agent resends of an answer that asked for these."""
    return Said(role="assistant", digest=f"asking {[(call.call_id, call.tool) for call in calls]}", asked=calls)


def handing(call_id: str | None, content: Any = "ok", *, tool: str | None = None, is_error: bool = False) -> Said:
    handed = Handed(call_id=call_id, tool=tool, content=content, is_error=is_error)
    return Said(role="tool", digest=f"result {call_id} {json.dumps(content)}", handed=(handed,))


# views


def ask(call_id: str | None, tool: str = "get_order", /, **arguments: Any) -> Asked:
    return Asked(tool=tool, call_id=call_id, arguments=arguments, arguments_text=json.dumps(arguments))


def model(*history: Said, text: str | None = "", asked: tuple[Asked, ...] = (), tools: str = "", **more: Any) -> ModelView:
    """A complete answer; `tools` are names with spaces between."""
    declared = tuple(Declared(name=name, digest=f"sha256:{name}") for name in tools.split())
    facts: dict[str, Any] = {"provider": "openai", "api": "chat", "complete": True, "stop_reason": "stop"} | more
    return ModelView(said=history, text=text, asked=asked, tools=declared, **facts)


def mcp(method: str, params: Any = None, result: Any = None, *, id_: str = "1", error: Any = None, **more: Any) -> McpView:
    """One request, answered where there is a result or an error."""
    answered = result is not None or error is not None
    answers = (McpAnswer(id=id_, result=result, error=error),) if answered else ()
    return McpView(**{"requests": (McpRequest(id=id_, method=method, params=params),), "answers": answers} | more)


def texts(*parts: str, **more: Any) -> dict[str, Any]:
    """The result of a tools/call."""
    return {"content": [{"type": "text", "text": part} for part in parts], **more}


def executed(tool: str, answer: Any = "ok", /, *, id_: str = "1", meta: Any = None, **arguments: Any) -> McpView:
    """A tools/call with its answer; None leaves it out."""
    params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return mcp("tools/call", params, texts(answer) if isinstance(answer, str) else answer, id_=id_)


def server(name: str, *tools: Declared) -> McpView:
    """What initialize and tools/list tell, in one exchange."""
    return mcp("tools/list", result={"tools": []}, server=name, declared=tools)


# exchanges


def exchange(seq: int, method: str = "POST", url: str = "https://api.test/v1", **more: Any) -> Exchange:
    body, status, headers = more.pop("body", None), more.pop("status", 200), more.pop("headers", ())
    answered, answer = more.pop("response_headers", ()), more.pop("answer", b"")
    response = Response(status, answered, answer) if status else None
    facts: dict[str, Any] = {"started_at": float(seq), "end": End.COMPLETE, "response": response} | more
    return Exchange(seq, Request(method, url, headers, body), **facts)


def trace(*seen: View | Exchange | tuple[Exchange, View] | None, events: Any = (), info: Any = None, **settings: Any) -> Trace:
    """Of these in their order: a view in an exchange that ended well, an exchange of plain HTTP, or both given."""
    pairs = [_pair(seq, each) for seq, each in enumerate(seen, 1)]
    told = INFO.model_copy(update=info or {})
    return build(told, pairs, events, TraceSettings.model_validate(settings))


def _pair(seq: int, each: View | Exchange | tuple[Exchange, View] | None) -> tuple[Exchange, View | None]:
    if isinstance(each, tuple):
        return each
    if isinstance(each, Exchange):
        return each, None
    return exchange(seq, url=MCP_URL if isinstance(each, McpView) else "https://api.test/v1"), each


# what came out


def kinds(made: Trace) -> list[str]:
    return [step.kind for step in made.steps]


def of[S: Step](made: Trace, kind: type[S]) -> list[S]:
    return [step for step in made.steps if isinstance(step, kind)]
