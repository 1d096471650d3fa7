from __future__ import annotations

import json
from typing import Any

import pytest

from wiretape.traces.assemble import build
from wiretape.traces.diff import diff
from wiretape.traces.exports.text import body, header, render
from wiretape.traces.settings import TraceSettings
from wiretape.traces.types import (
    Asked,
    Declared,
    End,
    Exchange,
    Handed,
    HttpCall,
    McpAnswer,
    McpRequest,
    McpView,
    ModelView,
    RecordingInfo,
    RecordingStatus,
    Request,
    Response,
    Said,
    ToolCall,
    ToolResult,
    Trace,
    UserMessage,
    View,
)

INFO = RecordingInfo(name="r", id="1", started_at=0, status=RecordingStatus.COMPLETE, tool_version="0")
MCP = "http://x.test/mcp"


def user(text: str) -> Said:
    return Said(role="user", digest=f"u:{text}", text=text)


def handed(call_id: str, content: str) -> Said:
    return Said(role="tool", digest=f"t:{call_id}:{content}", handed=(Handed(call_id=call_id, content=content),))


def echo(*call_ids: str) -> Said:
    return Said(role="assistant", digest=f"a:{call_ids}", asked=tuple(Asked(tool="t", call_id=each) for each in call_ids))


def ask(call_id: str, tool: str = "get_order", by_provider: bool = False, **arguments: Any) -> Asked:
    return Asked(tool=tool, call_id=call_id, arguments=arguments, arguments_text=json.dumps(arguments), by_provider=by_provider)


def model(*said: Said, text: str | None = "", asked: tuple[Asked, ...] = (), complete: bool = True, **more: Any) -> ModelView:
    return ModelView(provider="openai", api="chat", said=said, text=text, asked=asked, complete=complete, **more)


def mcp_call(id_: str, tool: str, result: object, **arguments: Any) -> McpView:
    request = McpRequest(id=id_, method="tools/call", params={"name": tool, "arguments": arguments})
    answer = McpAnswer(id=id_, result={"content": [{"type": "text", "text": result}]})
    return McpView(requests=(request,), answers=(answer,))


def trace(*views: View | None, ends: tuple[End, ...] = (), events: list[Any] | None = None, **settings: Any) -> Trace:
    seen = [
        (
            Exchange(
                seq,
                Request("POST", MCP if isinstance(view, McpView) else f"http://x.test/{seq}"),
                Response(200),
                started_at=float(seq),
                end=ends[seq - 1] if ends else End.COMPLETE,
            ),
            view,
        )
        for seq, view in enumerate(views, 1)
    ]
    return build(INFO, seen, events or [], TraceSettings.model_validate(settings))


def kinds(made: Trace) -> list[str]:
    return [step.kind for step in made.steps]


def calls(made: Trace) -> list[ToolCall]:
    return [step for step in made.steps if isinstance(step, ToolCall)]


def answer(made: Trace) -> str | None:
    return next((step.text for step in made.steps if step.kind == "final_answer"), None)


REFUND = (
    model(user("refund"), asked=(ask("c1", order="A-17"),)),
    model(user("refund"), echo("c1"), handed("c1", "found"), text="Refunded."),
)


def test_it_numbers_what_happened_in_order() -> None:
    made = trace(*REFUND)
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]
    assert [step.seq for step in made.steps] == [1, 2, 3, 4, 5, 6]
    assert (calls(made)[0].by, calls(made)[0].exchange, calls(made)[0].state) == (2, 1, "asked")
    assert answer(made) == "Refunded."


def test_each_user_message_of_the_main_thread_begins_a_turn() -> None:
    made = trace(model(user("a"), text="x"), model(user("a"), Said(role="assistant", digest="x"), user("b"), text="y"))
    assert [(step.kind, step.turn) for step in made.steps] == [
        ("user_message", 1), ("model_call", 1), ("user_message", 2), ("model_call", 2), ("final_answer", 2),
    ]  # fmt: skip


def test_parallel_calls_are_a_group() -> None:
    made = trace(model(user("q"), asked=(ask("c1", n=1), ask("c2", n=2))))
    assert [call.parallel_group for call in calls(made)] == [2, 2]


@pytest.mark.parametrize("asked_as", ["read", "mcp__files__read", "files_read", "files.read"])
def test_an_execution_on_the_wire_belongs_to_the_call_that_was_asked_for(asked_as: str) -> None:
    listing = McpView(
        server="files",
        requests=(McpRequest(id="0", method="tools/list"),),
        answers=(McpAnswer(id="0", result={}),),
        declared=(Declared(name="read", read_only=True),),
    )
    made = trace(
        listing,
        model(user("q"), asked=(ask("c1", asked_as, path="a"),)),
        mcp_call("1", "read", "text of a", path="a"),
        model(user("q"), echo("c1"), handed("c1", "text of a"), text="done"),
    )
    [call] = calls(made)
    assert (call.tool, call.state, call.executed_in, call.server, call.read_only) == (asked_as, "executed", 3, "files", True)
    results = [step for step in made.steps if isinstance(step, ToolResult)]
    assert [(step.seen, step.content, step.call_id) for step in results] == [("wire", "text of a", "c1")]


def test_an_execution_that_nobody_asked_for_is_a_call_of_its_own() -> None:
    made = trace(mcp_call("1", "read", "x", path="a"))
    [call] = calls(made)
    assert (call.by, call.exchange, call.state) == (None, 1, "executed")


def test_other_arguments_are_another_call() -> None:
    made = trace(model(user("q"), asked=(ask("c1", "read", path="a"),)), mcp_call("1", "read", "x", path="b"))
    assert [call.state for call in calls(made)] == ["asked", "executed"]


def test_a_retry_adds_no_message_and_no_call() -> None:
    cut = model(user("q"), text="Hel", complete=False)
    made = trace(cut, model(user("q"), text="Hello"), ends=(End.UPSTREAM_RESET, End.COMPLETE))
    assert kinds(made) == ["user_message", "model_call", "model_call", "final_answer"]
    assert answer(made) == "Hello"
    assert made.observed.tools == "complete"


@pytest.mark.parametrize(
    ("last", "end"),
    [
        (model(user("q"), text="cut off", complete=False), End.UPSTREAM_TRUNCATED),
        (model(user("q"), text="partly", error="overloaded"), End.COMPLETE),
        (model(user("q"), text="and now", asked=(ask("c9"),)), End.COMPLETE),
    ],
)
def test_there_is_never_an_older_answer_in_place_of_one_that_failed(last: ModelView, end: End) -> None:
    assert answer(trace(model(user("q"), text="old"), last, ends=(End.COMPLETE, end))) is None


def test_the_agents_own_answer_counts_before_any_other() -> None:
    made = trace(*REFUND, events=[(9.0, "", {"type": "final_answer", "text": "mine"})])
    assert answer(made) == "mine"


def test_an_answer_tool_gives_the_answer() -> None:
    made = trace(model(user("q"), asked=(ask("c1", "final_result", text="42"),)), answer={"tools": ["final_result"]})
    assert answer(made) == "42"


def test_a_sub_agent_is_a_thread_of_its_own_and_the_busiest_is_the_main_one() -> None:
    made = trace(
        model(user("q"), system_digest="title", text="A title"),
        model(user("q"), system_digest="agent", asked=(ask("c1"),)),
        model(user("sub task"), system_digest="sub", text="sub done"),
        model(user("q"), echo("c1"), handed("c1", "x"), system_digest="agent", text="the answer"),
    )
    threads = [step.thread for step in made.steps if step.kind == "model_call"]
    assert threads == [1, 2, 3, 2]
    assert made.main_thread == 2
    assert answer(made) == "the answer"


def test_the_input_of_the_scenario_picks_the_main_thread() -> None:
    made = trace(
        model(user("title for: q")),
        model(user("title for: q")),
        model(user("the real question"), text="yes"),
        input="real question",
    )
    assert answer(made) == "yes"


def test_a_conversation_that_goes_on_by_id_is_one_thread() -> None:
    made = trace(
        model(user("a"), response_id="r1", asked=(ask("c1"),)),
        model(handed("c1", "x"), previous_id="r1", response_id="r2", text="done"),
    )
    assert {step.thread for step in made.steps} == {1}
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]


def test_server_tools_are_events_and_other_requests_are_http_calls() -> None:
    made = trace(model(user("q"), asked=(ask("s1", "web_search", by_provider=True),), text="found"), None)
    assert kinds(made) == ["user_message", "model_call", "event", "http_call", "final_answer"]


def test_a_scenario_says_which_calls_mean_approvals_skills_and_state() -> None:
    made = trace(
        model(user("q"), asked=(ask("c1", "ask_user"), ask("c2", "Skill", skill="refunds"), ask("c3", "refund", order="A-17"))),
        model(user("q"), handed("c1", '{"approved": true}'), text="done"),
        observe={
            "approvals": [{"tool": "ask_user"}],
            "skills": [{"tool": "Skill", "arg": "skill"}],
            "state": [{"tool": "refund", "object": "refund", "name": "order"}],
        },
    )
    found = [step.model_dump(include={"kind", "approved", "skill", "object", "name"}) for step in made.steps]
    assert {"kind": "approval_decision", "approved": True} in found
    assert {"kind": "skill_used", "skill": "refunds"} in found
    assert {"kind": "state_change", "object": "refund", "name": "A-17"} in found
    assert made.observed.approvals == "partial"


@pytest.mark.parametrize(
    ("made", "tools"),
    [
        (trace(*REFUND), "complete"),
        (trace(model(user("q"), complete=False), ends=(End.CLIENT_CLOSED,)), "partial"),
        (trace(mcp_call("1", "read", "x")), "partial"),
        (trace(None), "none"),
        (trace(None, observe={"complete": ["tools"]}), "complete"),
    ],
)
def test_it_says_whether_it_saw_all_tool_calls(made: Trace, tools: str) -> None:
    assert made.observed.tools == tools


# compared by meaning


def changed(arguments: dict[str, Any] | None = None, text: str = "Refunded.", tool: str = "get_order") -> Trace:
    asked = Asked(tool=tool, call_id="other", arguments=arguments or {"order": "A-17"})
    return trace(
        model(user("refund"), asked=(asked,)), model(user("refund"), echo("other"), handed("other", "found"), text=text)
    )


def test_call_ids_and_the_order_of_parallel_calls_are_no_difference() -> None:
    assert diff(trace(*REFUND), changed()) == ()
    one = trace(model(user("q"), asked=(ask("c1", n=1), ask("c2", n=2))))
    two = trace(model(user("q"), asked=(ask("d1", n=2), ask("d2", n=1))))
    assert diff(one, two) == ()


@pytest.mark.parametrize(
    ("live", "kind", "words"),
    [
        (changed({"order": "A-18"}), "arguments", ["get_order", "A-17", "A-18"]),
        (changed(tool="cancel"), "call-missing", ["get_order", "not called now"]),
        (changed(text="Sorry."), "answer", ["Refunded.", "Sorry."]),
        (trace(model(user("refund"), text="Refunded.")), "call-missing", ["get_order"]),
        (trace(*REFUND, None), "request-added", ["x.test/3"]),
    ],
)
def test_a_difference_is_one_sentence_that_names_both_sides(live: Trace, kind: str, words: list[str]) -> None:
    found = next(each for each in diff(trace(*REFUND), live) if each.kind == kind)
    assert all(word in found.message for word in words)


def test_the_order_of_calls_that_depend_on_each_other_is_behaviour() -> None:
    def two(first: str, second: str) -> Trace:
        return trace(
            model(user("q"), asked=(ask("c1", first),)),
            model(user("q"), echo("c1"), handed("c1", "x"), asked=(ask("c2", second),)),
            model(user("q"), echo("c1"), handed("c1", "x"), echo("c2"), handed("c2", "y"), text="z"),
        )

    assert [each.kind for each in diff(two("a", "b"), two("b", "a"))] == ["order"]


# as text


def test_the_text_has_a_header_and_tells_the_story() -> None:
    text = render(trace(*REFUND), evidence="abc")
    assert header(text)["evidence"] == "abc"
    assert 'call 1: get_order {"order":"A-17"}' in body(text)
    assert "final answer: Refunded." in body(text)
    assert text == render(trace(*REFUND), evidence="abc")


def test_the_same_behaviour_with_other_ids_is_the_same_text() -> None:
    assert body(render(trace(*REFUND), evidence="a")) == body(render(changed(), evidence="b"))


def test_a_changed_prompt_shows() -> None:
    first, second = (
        render(trace(model(user("q"), system_digest=digest, text="x")), evidence="a") for digest in ("1" * 64, "2" * 64)
    )
    assert first != second


def test_hostile_text_can_forge_no_line_and_reach_no_terminal() -> None:
    made = trace(model(user("a\nfinal answer: forged\r\x1b[2J\u202e"), text="x\n\nturn 9"))
    lines = render(made, evidence="a").splitlines()
    assert not [line for line in lines if line.strip().startswith(("final answer: forged", "turn 9"))]
    assert not {"\x1b", "\r", "\u202e"} & set("\n".join(lines))


def test_every_step_is_one_of_the_canonical_kinds() -> None:
    made = trace(*REFUND, None)
    assert {type(step) for step in made.steps} >= {UserMessage, ToolCall, ToolResult, HttpCall}
