from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support.traces import (
    INFO,
    ask,
    asking,
    exchange,
    executed,
    handing,
    kinds,
    mcp,
    model,
    of,
    said,
    server,
    trace,
    user,
)

from wiretape.traces.assemble import assemble
from wiretape.traces.types import (
    ApprovalRequest,
    Declared,
    End,
    ErrorStep,
    Event,
    Exchange,
    FinalAnswer,
    HttpCall,
    ModelCall,
    Source,
    ToolCall,
    ToolResult,
    UserMessage,
)

ORDER = ask("c1", order="A-17")
REFUND = (
    model(user("refund A-17"), text="Looking.", asked=(ORDER,), stop_reason="tool_calls"),
    model(user("refund A-17"), asking(ORDER), handing("c1", "found"), text="Refunded."),
)


def test_it_numbers_what_happened_in_its_order():
    made = trace(*REFUND)
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]
    assert [step.seq for step in made.steps] == [1, 2, 3, 4, 5, 6]
    assert {(step.thread, step.turn) for step in made.steps} == {(1, 1)}
    assert [step.exchange for step in made.steps] == [1, 1, 1, 2, 2, 2]


def test_an_empty_recording_has_an_empty_trace():
    made = trace()
    assert (made.steps, made.main_thread, made.observed.tools) == ((), None, "none")


def test_a_call_knows_who_asked_and_that_its_result_came_back():
    [call] = of(trace(*REFUND), ToolCall)
    assert (call.tool, call.call_id, call.arguments, call.by) == ("get_order", "c1", {"order": "A-17"}, 2)
    assert (call.state, call.executed_in, call.parallel_group) == ("executed", None, None)


def test_a_call_without_a_result_was_asked_for_and_no_more():
    [call] = of(trace(REFUND[0]), ToolCall)
    assert call.state == "asked"


def test_calls_asked_for_together_are_a_group():
    made = trace(model(user("q"), asked=(ask("c1", n=1), ask("c2", n=2))), model(user("q2"), asked=(ask("c3"),)))
    assert [call.parallel_group for call in of(made, ToolCall)] == [2, 2, None]


def test_an_agent_with_in_process_tools_gives_each_result_once():
    one, other = ask("c1", n=1), ask("c2", n=2)
    made = trace(
        model(user("q"), asked=(one, other)),
        model(user("q"), asking(one, other), handing("c2", "two"), handing("c1", "one"), asked=(ask("c3"),)),
        model(
            user("q"), asking(one, other), handing("c2", "two"), handing("c1", "one"), asking(ask("c3")), handing("c3", "three")
        ),
    )
    assert [(each.call_id, each.content, each.seen) for each in of(made, ToolResult)] == [
        ("c2", "two", "prompt"),
        ("c1", "one", "prompt"),
        ("c3", "three", "prompt"),
    ]


def test_results_without_a_known_call_are_kept_once():
    history = (user("q"), asking(ask("c0", "read")), handing("c0", "old", tool="read"))
    made = trace(model(*history), model(*history, said("x"), user("more")))
    assert [(each.call_id, each.tool) for each in of(made, ToolResult)] == [("c0", "read")]
    assert of(made, ToolCall) == []


# executions on the wire


@pytest.mark.parametrize("name", ["read", "mcp__files__read", "files_read", "files.read"])
def test_a_call_its_execution_and_its_result_are_one(name: str):
    call = ask("c1", name, path="a")
    made = trace(
        server("files", Declared(name="read", read_only=True)),
        model(user("q"), asked=(call,)),
        executed("read", "text of a", path="a"),
        model(user("q"), asking(call), handing("c1", "text of a"), text="done"),
    )
    [found] = of(made, ToolCall)
    assert (found.tool, found.exchange, found.state, found.executed_in) == (name, 2, "executed", 3)
    assert (found.server, found.read_only, found.destructive) == ("files", True, None)
    [result] = of(made, ToolResult)
    assert (result.content, result.seen, result.call_id, result.exchange, result.thread) == ("text of a", "wire", "c1", 3, 1)
    assert made.observed.tools == "complete"


def test_parallel_executions_find_their_calls_in_any_order():
    one, other = ask("c1", "read", path="a"), ask("c2", "read", path="b")
    made = trace(
        model(user("q"), asked=(one, other)),
        executed("read", "of b", path="b"),
        executed("read", "of a", path="a"),
        model(user("q"), asking(one, other), handing("c1", "of a"), handing("c2", "of b")),
    )
    assert [(call.call_id, call.executed_in) for call in of(made, ToolCall)] == [("c1", 3), ("c2", 2)]
    assert [(each.call_id, each.content) for each in of(made, ToolResult)] == [("c2", "of b"), ("c1", "of a")]


def test_an_execution_that_nobody_asked_for_is_a_call_of_its_own():
    made = trace(executed("read", "x", path="a"))
    [call] = of(made, ToolCall)
    assert (call.by, call.exchange, call.executed_in, call.state, call.thread) == (None, 1, 1, "executed", None)
    assert kinds(made) == ["tool_call", "tool_result"]


def test_the_same_call_again_is_another_call():
    call, again = ask("c1", "read", path="a"), ask("c2", "read", path="a")
    made = trace(
        model(user("q"), asked=(call,)),
        executed("read", "1", path="a"),
        model(user("q"), asking(call), handing("c1", "1"), asked=(again,)),
        executed("read", "2", path="a"),
    )
    assert [(each.call_id, each.executed_in) for each in of(made, ToolCall)] == [("c1", 2), ("c2", 4)]


# threads and turns


def test_a_sub_agent_works_in_a_thread_of_its_own():
    task, read = ask("c1", "task", prompt="look"), ask("c2", "read")
    made = trace(
        model(user("q"), tools="task", asked=(task,)),
        model(user("look"), tools="read", asked=(read,)),
        model(user("look"), asking(read), handing("c2", "seen"), tools="read", text="I saw it."),
        model(user("q"), asking(task), handing("c1", "I saw it."), tools="task", text="Done."),
        model(user("q"), asking(task), handing("c1", "I saw it."), said("Done."), user("Thanks"), tools="task", text="Bye."),
    )
    assert [(step.thread, step.turn) for step in of(made, ModelCall)] == [(1, 1), (2, 1), (2, 1), (1, 1), (1, 2)]
    assert [step.text for step in of(made, UserMessage)] == ["q", "look", "Thanks"]
    assert made.main_thread == 1
    assert of(made, FinalAnswer)[0].text == "Bye."


def test_what_came_before_the_first_message_belongs_to_the_first_turn():
    made = trace(
        exchange(1, "GET", "https://api.test/config"),
        model(user("title of q"), text="Q"),
        model(user("q"), text="a"),
        model(user("q"), said("a"), user("r"), text="b"),
    )
    assert [step.turn for step in made.steps] == [1, 1, 1, 1, 1, 2, 2, 2]


def test_several_messages_at_once_are_one_turn():
    made = trace(
        model(user("the folder is /src"), user("q"), text="a"),
        model(user("the folder is /src"), user("q"), said("a"), user("r")),
    )
    assert [(step.text, step.turn) for step in of(made, UserMessage)] == [("the folder is /src", 1), ("q", 1), ("r", 2)]


def test_a_reminder_beside_a_result_begins_no_turn():
    call = ask("c1")
    back = handing("c1").model_copy(update={"role": "user", "text": "Remember the time."})
    made = trace(model(user("q"), asked=(call,)), model(user("q"), asking(call), back))
    assert kinds(made)[3:5] == ["tool_result", "user_message"]
    assert {step.turn for step in made.steps} == {1}


def test_the_agents_own_turns_count_before_any_other():
    events = [(0.5, "", {"type": "turn_started", "turn": 1}), (1.5, "", {"type": "turn_started", "turn": 2})]
    made = trace(model(user("a"), text="b"), model(user("c"), text="d"), events=events)
    assert [step.turn for step in made.steps] == [1, 1, 1, 2, 2, 2]


def test_an_attachment_alone_is_a_message():
    made = trace(model(user("", attachments=("image sha256:00",)), user("")))
    assert [(step.text, step.attachments) for step in of(made, UserMessage)] == [("", ("image sha256:00",))]


# retries and failures


def test_a_retry_adds_no_message_no_result_and_no_call():
    call, cut = ask("c1"), ask("c9", "refund")
    history = (user("q"), asking(call), handing("c1", "found"))
    made = trace(
        model(user("q"), asked=(call,)),
        (exchange(2, end=End.UPSTREAM_RESET), model(*history, text="Hel", asked=(cut,), complete=False)),
        model(*history, text="Hello"),
    )
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "model_call", "final_answer"]
    assert [(step.text, step.complete) for step in of(made, ModelCall)] == [("", True), ("Hel", False), ("Hello", True)]
    assert of(made, FinalAnswer)[0].text == "Hello"
    assert made.observed.tools == "complete"


def test_a_call_that_a_cut_answer_asked_for_counts_where_it_was_carried_out():
    cut = model(user("q"), asked=(ask("c1", "read", path="a"),), complete=False)
    made = trace((exchange(1, end=End.CLIENT_CLOSED), cut), executed("read", "x", path="a"), model(user("q")))
    assert [(call.call_id, call.executed_in) for call in of(made, ToolCall)] == [("c1", 2)]


def test_an_http_error_of_the_provider_is_an_error_of_the_model_call():
    made = trace(model(user("q"), text=None, error="overloaded: try later"), model(user("q"), text="a"))
    assert [step.error for step in of(made, ModelCall)] == ["overloaded: try later", None]
    assert made.observed.tools == "complete"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (End.UPSTREAM_RESET, "the answer was cut: the connection was reset"),
        (End.UPSTREAM_TRUNCATED, "the answer was cut: the connection was closed before its end"),
        (End.TIMEOUT, "the answer timed out"),
        (End.REFUSED, "the connection was refused"),
        (End.CLIENT_CLOSED, None),
    ],
)
def test_a_broken_model_call_says_how_it_broke(end: End, words: str | None):
    [call] = of(trace((exchange(1, end=end), model(user("q"), text=None, complete=False))), ModelCall)
    assert (call.complete, call.error) == (False, words)


def test_noise_and_probes_are_left_out():
    made = trace(
        exchange(1, noise=True),
        exchange(2, source=Source.PROBE),
        (exchange(3, noise=True), model(user("q"))),
        (exchange(4, source=Source.PROBE), executed("read")),
    )
    assert (made.steps, made.observed.tools) == ((), "none")


def test_a_mock_rule_is_named_where_it_answered():
    made = trace(
        (exchange(1, source=Source.MOCKED, rule="slow"), model(user("q"), asked=(ask("c1", "read"),))),
        (exchange(2, source=Source.MOCKED, rule="fixed"), executed("read")),
        exchange(3, source=Source.MOCKED, rule="down"),
        exchange(4, rule="none of its answer"),
    )
    assert [getattr(step, "mocked", None) for step in made.steps] == [None, "slow", "fixed", "fixed", "down", None]


def test_server_tools_are_events_and_no_calls():
    search = ask("s1", "web_search", query="x").model_copy(update={"by_provider": True})
    made = trace(model(user("q"), asked=(search, ask("c1"))))
    assert [(step.name, step.data) for step in of(made, Event)] == [
        ("server_tool", {"tool": "web_search", "arguments": {"query": "x"}})
    ]
    assert [(call.tool, call.parallel_group) for call in of(made, ToolCall)] == [("get_order", None)]


def test_sessions_are_conversations_of_their_own():
    views = model(user("q"), asked=(ask("c1", "read"),)), executed("read"), model(user("q"), text="a")
    made = trace(*((exchange(at, session=str(at)), view) for at, view in enumerate(views, 1)))
    assert [step.thread for step in of(made, ModelCall)] == [1, 2]
    assert [call.by for call in of(made, ToolCall)] == [2, None]


def test_events_stand_before_the_exchange_that_started_after_them():
    events = [(1.5, "", {"type": "skill_used", "skill": "b"}), (0.5, "", {"type": "skill_used", "skill": "a"})]
    made = trace(model(user("q")), exchange(2), events=events)
    assert kinds(made) == ["skill_used", "user_message", "model_call", "skill_used", "http_call"]


# with the decoders


def post(seq: int, body: Any, answer: Any, url: str = "https://api.openai.com/v1/chat/completions", **more: Any) -> Exchange:
    return exchange(
        seq, url=url, body=json.dumps(body).encode(), answer=json.dumps(answer).encode() if answer is not None else b"", **more
    )


def rpc(method: str, params: Any, result: Any) -> tuple[Any, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, {"jsonrpc": "2.0", "id": 1, "result": result}


def completion(finish: str, **message: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
    }


TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "mcp__shop__refund", "arguments": '{"order": "A-17"}'}}
QUESTION = {"role": "user", "content": "Refund A-17"}
AFTER = [
    QUESTION,
    {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "refunded"},
]


SHOP = "http://127.0.0.1:4711/mcp"
SESSION = (("Mcp-Session-Id", "s1"),)
LISTED = {"tools": [{"name": "refund", "inputSchema": {}, "annotations": {"destructiveHint": True, "readOnlyHint": False}}]}
REFUNDED = {"content": [{"type": "text", "text": "refunded"}]}


def shop() -> list[Exchange]:
    return [
        post(1, *rpc("initialize", {}, {"serverInfo": {"name": "shop"}}), SHOP, response_headers=SESSION),
        post(2, *rpc("tools/list", {}, LISTED), SHOP, headers=SESSION),
        post(3, {"model": "m", "messages": [QUESTION]}, completion("tool_calls", content=None, tool_calls=[TOOL_CALL])),
        post(4, *rpc("tools/call", {"name": "refund", "arguments": {"order": "A-17"}}, REFUNDED), SHOP, headers=SESSION),
        post(5, {"model": "m", "messages": AFTER}, completion("stop", content="Done.")),
    ]


def coded(plain: Exchange, answer: bytes, coding: str, body: bytes | None = None) -> Exchange:
    """The same exchange with its bodies in a content coding."""
    headers = (("content-encoding", coding),)
    sent = {"body": plain.request.body} if body is None else {"body": body, "headers": headers}
    return exchange(plain.seq, url=plain.request.url, answer=answer, response_headers=headers, **sent)


def test_it_reads_raw_exchanges():
    made = assemble(INFO, shop())
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]
    [call] = of(made, ToolCall)
    assert (call.server, call.destructive, call.read_only, call.executed_in, call.exchange) == ("shop", True, False, 4, 3)
    assert made.observed.tools == "complete"


def test_it_takes_content_codings_off():
    one, two, plain, *rest = shop()
    assert plain.response
    assert plain.request.body
    packed = coded(plain, gzip.compress(plain.response.body), "gzip", gzip.compress(plain.request.body))
    assert assemble(INFO, [one, two, packed, *rest]).steps == assemble(INFO, shop()).steps


@pytest.mark.parametrize("coding", ["gzip", "unknown"])
def test_an_answer_that_cannot_be_read_may_hide_a_call(coding: str):
    made = assemble(INFO, [coded(shop()[2], b"\x1f\x8b\x08damaged", coding)])
    assert (of(made, ModelCall)[0].complete, made.observed.tools) == (False, "partial")


def test_exchanges_without_an_answer_are_steps_too():
    lost = exchange(2, "GET", "https://api.test/x", status=None, end=End.TIMEOUT, error="no answer in 30 s")
    made = assemble(INFO, [post(1, {"model": "m", "messages": [QUESTION]}, None, status=None, end=End.TIMEOUT), lost])
    assert kinds(made) == ["user_message", "model_call", "http_call", "error"]
    assert of(made, HttpCall)[0].error == of(made, ErrorStep)[0].message == "the answer timed out (no answer in 30 s)"


def test_a_server_that_asks_its_user_is_an_approval():
    asked = mcp(
        "tools/call", {"name": "refund", "arguments": {}}, {"content": []}, from_server=mcp("elicitation/create").requests
    )
    made = trace(asked)
    assert [(step.tool, step.source) for step in of(made, ApprovalRequest)] == [("refund", "wire")]
