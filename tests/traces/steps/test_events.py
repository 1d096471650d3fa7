from __future__ import annotations

from typing import Any

import pytest
from support.traces import ask, asking, executed, handing, model, of, trace, user

from wiretape.traces.types import ApprovalDecision, ApprovalRequest, Event, SkillUsed, StateChange, Step, ToolCall


def told(payload: dict[str, Any]) -> Step:
    [step] = trace(events=[(1.0, "", payload)]).steps
    return step


@pytest.mark.parametrize(
    ("payload", "step"),
    [
        ({"type": "approval_requested", "tool": "refund"}, ApprovalRequest(seq=1, tool="refund", source="event")),
        (
            {"type": "approval_decided", "tool": "refund", "call_id": "c1", "approved": True},
            ApprovalDecision(seq=1, tool="refund", call_id="c1", approved=True, source="event"),
        ),
        ({"type": "skill_used", "skill": "refunds"}, SkillUsed(seq=1, skill="refunds", source="event")),
        (
            {"type": "state_changed", "object": "refund", "name": "A-17", "from": None, "to": {"sum": 5}},
            StateChange(seq=1, object="refund", name="A-17", after={"sum": 5}, source="event"),
        ),
        ({"type": "custom", "name": "mood", "data": [1]}, Event(seq=1, name="mood", data=[1])),
        (
            {"type": "run_ended", "as": "goal_achieved", "session": "s"},
            Event(seq=1, name="run_ended", data={"as": "goal_achieved"}),
        ),
        ({"type": "never heard of", "x": 1}, Event(seq=1, name="never heard of", data={"x": 1})),
        ({"type": "skill_used"}, Event(seq=1, name="skill_used", data={})),
    ],
)
def test_each_event_is_a_step(payload: dict[str, Any], step: Step):
    assert told(payload) == step


def test_a_turn_began():
    step = told({"type": "turn_started", "turn": 1, "input": "hi"})
    assert step == Event(seq=1, turn=1, name="turn_started", data={"turn": 1, "input": "hi"})


def test_a_call_that_somebody_denied_was_denied_though_a_text_was_handed_back():
    call = ask("c1", "refund")
    denied = (1.5, "", {"type": "approval_decided", "tool": "refund", "approved": False})
    made = trace(
        model(user("q"), asked=(call,)), model(user("q"), asking(call), handing("c1", "the user said no")), events=[denied]
    )
    assert [(each.state, each.thread) for each in of(made, ToolCall)] == [("denied", 1)]
    assert [step.thread for step in of(made, ApprovalDecision)] == [1]


def test_a_call_that_was_carried_out_all_the_same_was_executed():
    denied = (1.5, "", {"type": "approval_decided", "tool": "refund", "approved": False})
    made = trace(model(user("q"), asked=(ask("c1", "refund"),)), executed("refund"), events=[denied])
    assert [call.state for call in of(made, ToolCall)] == ["executed"]


def test_an_approval_denies_nothing():
    given = (1.5, "", {"type": "approval_decided", "tool": "refund", "call_id": "c1", "approved": True})
    made = trace(model(user("q"), asked=(ask("c1", "refund"),)), events=[given])
    assert [call.state for call in of(made, ToolCall)] == ["asked"]
