from __future__ import annotations

import json
from typing import Any

from support.foreign import refusal, taken

from wiretape.traces.assemble import assemble
from wiretape.traces.settings import ObserveSettings, SkillMapping, TraceSettings
from wiretape.traces.types import FinalAnswer, RecordingInfo, RecordingStatus, SkillUsed, ToolCall, ToolResult, Trace

INFO = RecordingInfo(name="r", id="r", started_at=1.0, status=RecordingStatus.COMPLETE, tool_version="t")


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text, "type": "text", "event": None}


def tool(kind: str, **content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": json.dumps({"type": kind, **content}), "type": kind, "event": "run.step.delta"}


TALK = [
    said("user", "My time off?"),
    said("assistant", "I look."),
    tool("tool_call", name="find", args={"user": "n"}, id="c1"),
    tool("tool_response", name="find", content="15", tool_call_id="c1"),
    said("assistant", "Which year?"),
    said("user", "2025"),
    tool("tool_call", name="list", args={"id": "15"}, id="c2"),
    said("assistant", "January 5."),
]


def trace(messages: list[dict[str, Any]], settings: TraceSettings | None = None) -> Trace:
    events = [(1.0, "", item.event) for item in taken("wxo", json.dumps(messages)) if item.event]
    return assemble(INFO, (), events, settings or TraceSettings())


def test_it_makes_a_trace_of_turns_without_exchanges() -> None:
    found = trace(TALK)
    assert [(step.turn, step.kind) for step in found.steps] == [
        (1, "user_message"), (1, "event"), (1, "tool_call"), (1, "tool_result"), (1, "event"),
        (2, "user_message"), (2, "tool_call"), (2, "final_answer"),
    ]  # fmt: skip
    assert [step.state for step in found.steps if isinstance(step, ToolCall)] == ["executed", "asked"]
    assert [step.text for step in found.steps if isinstance(step, FinalAnswer)] == ["January 5."]
    assert [(step.call_id, step.content) for step in found.steps if isinstance(step, ToolResult)] == [("c1", "15")]
    assert {step.exchange for step in found.steps} == {None}


def test_it_vouches_for_no_tool_that_it_did_not_see() -> None:
    assert trace(TALK).observed.tools == "partial"


def test_it_maps_calls_as_a_scenario_says() -> None:
    settings = TraceSettings(observe=ObserveSettings(skills=(SkillMapping(tool="find", arg="user"),)))
    assert [step.skill for step in trace(TALK, settings).steps if isinstance(step, SkillUsed)] == ["n"]


def test_it_knows_no_answer_where_the_last_turn_has_none() -> None:
    assert [step.kind for step in trace(TALK[:-1]).steps][-1] == "tool_call"


def test_it_refuses_messages_that_are_no_step_one_by_one() -> None:
    items = taken("wxo", json.dumps([*TALK, {"role": "system", "type": "text", "content": "x"}]))
    assert [item.number for item in items if item.refused] == [9]


def test_it_says_what_does_not_fit() -> None:
    for text, code, word in [
        ("{}", 2, "list of messages"),
        ("[1]", 2, "list of messages"),
        (json.dumps([{"role": "assistant", "type": "tool_call", "content": "no"}]), 2, "messages[0].content"),
        (json.dumps([{"role": "user", "type": "text", "content": 1}]), 2, "messages[0].content"),
        (json.dumps(TALK)[:-9], 3, "middle"),
    ]:
        assert refusal("wxo", text)[0] == code
        assert word in refusal("wxo", text)[1]
