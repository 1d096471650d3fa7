from __future__ import annotations

import json
from typing import Any

from wiretape.traces.assemble import assemble
from wiretape.traces.decoders import decode_stdio
from wiretape.traces.types import (
    End,
    Exchange,
    ExchangeKind,
    Message,
    RecordingInfo,
    RecordingStatus,
    Request,
    Response,
    Step,
    ToolCall,
)

INFO = RecordingInfo(name="one", id="r1", started_at=0.0, status=RecordingStatus.COMPLETE, tool_version="0")


def message(at: int, sender: Any, **members: Any) -> Message:
    return Message(at, sender, "text", json.dumps({"jsonrpc": "2.0", **members}).encode())


def call(at: int, id: int, tool: str = "add") -> Message:
    return message(at, "client", id=id, method="tools/call", params={"name": tool, "arguments": {"a": 1}})


def result(at: int, id: int, text: str = "ok") -> Message:
    return message(at, "server", id=id, result={"content": [{"type": "text", "text": text}]})


def stdio(*messages: Message, end: End = End.COMPLETE, started_at: float = 100.0) -> Exchange:
    request = Request("STDIO", "stdio://files")
    return Exchange(1, request, kind=ExchangeKind.STDIO, started_at=started_at, messages=messages, end=end, upstream="files")


def steps(*exchanges: Exchange) -> tuple[Step, ...]:
    return assemble(INFO, exchanges).steps


def test_each_message_of_the_client_is_a_view_with_the_answer_that_came_to_it() -> None:
    views = decode_stdio([call(10, 1, "one"), call(20, 2, "two"), result(30, 2), result(40, 1)])
    assert [(at, view.requests[0].params["name"], [each.id for each in view.answers]) for at, view in views] == [
        (10, "one", ["1"]),
        (20, "two", ["2"]),
    ]


def test_an_id_that_is_used_again_is_another_request() -> None:
    views = decode_stdio([call(10, 1), result(20, 1, "a"), call(30, 1), result(40, 1, "b")])
    assert [view.answers[0].result["content"][0]["text"] for _, view in views] == ["a", "b"]


def test_what_the_server_asks_belongs_to_the_call_that_it_works_on() -> None:
    asks = message(20, "server", id=1, method="elicitation/create")
    (_, worked_on), (at, reply) = decode_stdio(
        [call(10, 1), asks, message(30, "client", id=1, result={"action": "accept"}), result(40, 1)]
    )
    assert [each.method for each in worked_on.from_server] == ["elicitation/create"]
    assert (at, reply.replies[0].result) == (30, {"action": "accept"})
    assert [each.id for each in worked_on.answers] == ["1"]


def test_what_is_no_json_rpc_is_passed_over() -> None:
    noise = [
        Message(1, "server", "text", b"Listening..."),
        Message(2, "server", "binary", b"\xff"),
        Message(3, "client", "close"),
    ]
    assert decode_stdio(noise) == []
    assert [at for at, _ in decode_stdio([*noise, call(10, 1)])] == [10]


def test_listed_tools_bring_their_hints() -> None:
    tools = [{"name": "rm", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}}]
    listed = [message(1, "client", id=1, method="tools/list"), message(2, "server", id=1, result={"tools": tools})]
    (step, _) = steps(stdio(*listed, call(10, 2, "rm"), result(20, 2)))
    assert isinstance(step, ToolCall)
    assert (step.server, step.destructive) == ("files", True)


def chat(seq: int, at: float, messages: list[Any], answer: dict[str, Any]) -> Exchange:
    body = {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": answer, "finish_reason": "stop"}],
    }
    request = Request(
        "POST", "https://api.test/v1/chat/completions", (), json.dumps({"model": "m", "messages": messages}).encode()
    )
    response = Response(200, (("Content-Type", "application/json"),), json.dumps(body).encode())
    return Exchange(seq, request, response, started_at=at, end=End.COMPLETE)


def test_a_call_stands_where_it_was_made_though_its_server_was_started_before() -> None:
    asked = {"id": "t1", "type": "function", "function": {"name": "files_add", "arguments": '{"a": 1}'}}
    wants = {"role": "assistant", "content": None, "tool_calls": [asked]}
    user, handed = {"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "t1", "content": "ok"}
    talk = stdio(call(1_500_000, 1), result(1_600_000, 1))
    first = chat(2, 101.0, [user], wants)
    second = chat(3, 102.0, [user, wants, handed], {"role": "assistant", "content": "done"})
    found = steps(talk, first, second)
    assert [step.kind for step in found] == [
        "user_message",
        "model_call",
        "tool_call",
        "tool_result",
        "model_call",
        "final_answer",
    ]
    (made,) = [step for step in found if isinstance(step, ToolCall)]
    assert (made.by, made.state, made.server, made.executed_in) == (found[1].seq, "executed", "files", 1)


def test_a_call_that_its_server_did_not_survive_is_an_error() -> None:
    found = steps(stdio(call(10, 1), result(20, 1), call(30, 2, "die"), end=End.UPSTREAM_TRUNCATED))
    assert [step.kind for step in found] == ["tool_call", "tool_result", "tool_call", "error"]


def test_a_conversation_that_is_no_mcp_is_one_call() -> None:
    (step,) = steps(stdio(Message(1, "client", "text", b"hello")))
    assert step.kind == "http_call"
