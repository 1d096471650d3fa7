from __future__ import annotations

from typing import Any

import pytest
from support.traces import MCP_URL, ask, asking, exchange, executed, handing, kinds, mcp, model, of, server, texts, trace, user

from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    Declared,
    End,
    ErrorStep,
    Event,
    McpAnswer,
    McpRequest,
    McpView,
    ToolCall,
    ToolResult,
)


@pytest.mark.parametrize("method", ["initialize", "notifications/initialized", "ping", "tools/list", "server/discover"])
def test_what_is_no_behaviour_is_no_step(method: str):
    assert trace(mcp(method, result={})).steps == ()


def test_a_listening_stream_that_the_server_refuses_is_no_step():
    assert trace((exchange(1, "GET", MCP_URL, status=405), McpView(error="method not allowed"))).steps == ()


def test_what_is_read_and_prompted_is_an_event():
    made = trace(
        server("files"),
        mcp("resources/read", {"uri": "file:///a"}, {}),
        mcp("prompts/get", {"name": "p", "arguments": {"x": 1}, "_meta": {}}),
    )
    assert [(step.name, step.data) for step in of(made, Event)] == [
        ("resources/read", {"server": "files", "uri": "file:///a"}),
        ("prompts/get", {"server": "files", "name": "p", "arguments": {"x": 1}}),
    ]


@pytest.mark.parametrize(
    ("answer", "content", "is_error"),
    [
        (texts("a"), "a", False),
        (texts("a", "b"), "a\nb", False),
        (texts("a", isError=True), "a", True),
        (texts("5", structuredContent={"result": 5}), "5", False),
        ({"content": [], "structuredContent": {"result": 5}}, {"result": 5}, False),
        ({"content": [{"type": "image", "data": "AA=="}]}, [{"type": "image", "data": "AA=="}], False),
        ({"content": []}, [], False),
        ({}, None, False),
    ],
)
def test_a_result_is_its_text_where_it_is_text_alone(answer: Any, content: Any, is_error: bool):
    made = trace(mcp("tools/call", {"name": "read"}, answer))
    assert [(step.content, step.is_error, step.seen) for step in of(made, ToolResult)] == [(content, is_error, "wire")]


def test_an_error_of_the_protocol_is_an_error_of_the_tool():
    made = trace(mcp("tools/call", {"name": "read"}, error={"code": -32602, "message": "unknown tool"}))
    assert [(step.content, step.is_error) for step in of(made, ToolResult)] == [
        ({"code": -32602, "message": "unknown tool"}, True)
    ]


def test_a_call_id_beside_the_arguments_links():
    one, other = ask("toolu_1", "read", path="a"), ask("toolu_2", "read", path="a")
    made = trace(model(user("q"), asked=(one, other)), executed("read", meta={"claudecode/toolUseId": "toolu_2"}, path="a"))
    assert [call.executed_in for call in of(made, ToolCall)] == [None, 2]


# servers


def test_servers_are_told_apart_by_their_sessions():
    def seen(seq: int, view: McpView, session: str) -> Any:
        return exchange(seq, url=MCP_URL), view.model_copy(update={"session": session})

    made = trace(
        seen(1, server("files", Declared(name="read", read_only=True)), "s1"),
        seen(2, server("mail", Declared(name="read", read_only=False, destructive=True)), "s2"),
        seen(3, executed("read"), "s1"),
        seen(4, executed("read"), "s2"),
    )
    assert [(call.server, call.read_only, call.destructive) for call in of(made, ToolCall)] == [
        ("files", True, None),
        ("mail", False, True),
    ]


def test_the_session_that_initialize_hands_out_is_the_servers():
    headers = (("mcp-session-id", "s1"),)
    first = exchange(1, url="http://tools.test/a", response_headers=headers), mcp("initialize", result={}, server="files")
    call = exchange(2, url="http://tools.test/b"), executed("read").model_copy(update={"session": "s1"})
    assert [each.server for each in of(trace(first, call), ToolCall)] == ["files"]


def test_a_server_that_gave_no_name_goes_by_its_gateways():
    made = trace(
        model(user("q"), asked=(ask("c1", "disk_read"),)), (exchange(2, url=MCP_URL, upstream="disk"), executed("read"))
    )
    assert [(call.server, call.executed_in) for call in of(made, ToolCall)] == [("disk", 2)]


def test_hints_reach_a_call_that_was_never_carried_out():
    made = trace(
        server("shop", Declared(name="refund", destructive=True)), model(user("q"), asked=(ask("c1", "mcp__shop__refund"),))
    )
    assert [(call.state, call.destructive) for call in of(made, ToolCall)] == [("asked", True)]


# answers that come another way, or not


def test_the_older_transport_answers_on_its_listening_stream():
    listening = exchange(1, "GET", "http://tools.test/sse"), McpView(answers=(McpAnswer(id="7", result=texts("x")),))
    asked = exchange(2, url="http://tools.test/messages?id=1"), executed("read", None, id_="7")
    made = trace(listening, asked)
    assert [(step.content, step.exchange) for step in of(made, ToolResult)] == [("x", 2)]


def test_a_stream_that_was_resumed_brings_the_answer():
    cut = exchange(1, url=MCP_URL), executed("read", None, id_="7")
    resumed = exchange(2, "GET", MCP_URL), McpView(answers=(McpAnswer(id="7", result=texts("x")),))
    made = trace(cut, resumed)
    assert [(step.content, step.exchange) for step in of(made, ToolResult)] == [("x", 2)]
    assert of(made, ErrorStep) == []


def test_messages_of_a_batch_are_answered_in_any_order():
    requests = tuple(McpRequest(id=id_, method="tools/call", params={"name": id_}) for id_ in ("1", "2"))
    answers = (McpAnswer(id="2", result=texts("of 2")), McpAnswer(id="1", result=texts("of 1")))
    made = trace(McpView(requests=requests, answers=answers))
    assert [(step.tool, step.content) for step in of(made, ToolResult)] == [("1", "of 1"), ("2", "of 2")]


LOST = exchange(2, url=MCP_URL, status=404), executed("read", None).model_copy(update={"error": "session not found"})


def test_a_call_that_the_server_refused_was_not_carried_out():
    made = trace(model(user("q"), asked=(ask("c1", "read"),)), LOST)
    assert [(call.state, call.executed_in) for call in of(made, ToolCall)] == [("asked", None)]
    assert [(step.message, step.where) for step in of(made, ErrorStep)] == [
        ("session not found", "tools/call read of an MCP server")
    ]


@pytest.mark.parametrize("before", [model(user("q"), asked=(ask("c1", "read"),)), None])
def test_a_call_made_again_in_a_new_session_is_one_call(before: Any):
    made = trace(*filter(None, [before]), LOST, mcp("initialize", result={}), executed("read", "x"))
    assert [call.state for call in of(made, ToolCall)] == ["executed"]
    assert [step.content for step in of(made, ToolResult)] == ["x"]


def test_an_error_status_with_an_answer_to_nobody_is_a_refusal():
    view = executed("read", None).model_copy(
        update={"answers": (McpAnswer(id=None, error={"code": 1, "message": "no session"}),)}
    )
    made = trace((exchange(1, url=MCP_URL, status=400), view))
    assert [step.message for step in of(made, ErrorStep)] == ["no session"]


def test_a_call_that_broke_may_have_been_carried_out():
    made = trace((exchange(1, url=MCP_URL, end=End.TIMEOUT, status=None), executed("read", None)))
    assert [call.state for call in of(made, ToolCall)] == ["executed"]
    assert [step.message for step in of(made, ErrorStep)] == ["the answer timed out"]


# approvals


@pytest.mark.parametrize(
    ("reply", "approved"),
    [
        ({"action": "accept"}, True),
        ({"action": "accept", "content": {"confirm": True}}, True),
        ({"action": "accept", "content": {"confirm": False}}, False),
        ({"action": "decline"}, False),
        ({"action": "cancel"}, False),
    ],
)
def test_a_server_that_asks_its_user_is_an_approval(reply: Any, approved: bool):
    call = ask("c1", "refund")
    asked = executed("refund", "done").model_copy(update={"from_server": (McpRequest(id="e1", method="elicitation/create"),)})
    made = trace(
        model(user("q"), asked=(call,)),
        asked,
        McpView(replies=(McpAnswer(id="e1", result=reply),)),
        model(user("q"), asking(call), handing("c1", "done")),
    )
    assert kinds(made)[2:6] == ["tool_call", "approval_request", "approval_decision", "tool_result"]
    assert [(step.tool, step.call_id, step.source) for step in of(made, ApprovalRequest)] == [("refund", "c1", "wire")]
    assert [(step.tool, step.call_id, step.approved) for step in of(made, ApprovalDecision)] == [("refund", "c1", approved)]


def test_a_reply_to_something_else_decides_nothing():
    assert trace(McpView(replies=(McpAnswer(id="s1", result={"action": "accept"}),))).steps == ()


def test_other_requests_of_a_server_are_no_approvals():
    view = executed("read").model_copy(update={"from_server": (McpRequest(id="1", method="sampling/createMessage"),)})
    assert of(trace(view), ApprovalRequest) == []
