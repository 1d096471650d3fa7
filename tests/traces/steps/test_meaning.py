from __future__ import annotations

from typing import Any

import pytest
from support.traces import ask, asking, executed, handing, kinds, model, of, trace, user

from wiretape.traces.errors import UsageError
from wiretape.traces.types import ApprovalDecision, ApprovalRequest, SkillUsed, StateChange, ToolCall, Trace

OBSERVE: dict[str, Any] = {
    "approvals": [{"tool": "ask_user", "decision": "$.approved"}],
    "skills": [{"tool": "Skill", "arg": "skill"}],
    "state": [{"tool": "refund", "object": "refund", "name": "order"}],
}


def run(tool: str, result: Any, /, *, is_error: bool = False, observe: Any = None, **arguments: Any) -> Trace:
    call = ask("c1", tool, **arguments)
    history = user("q"), asking(call), handing("c1", result, is_error=is_error)
    return trace(model(user("q"), asked=(call,)), model(*history), observe=OBSERVE if observe is None else observe)


@pytest.mark.parametrize(
    ("result", "approved"),
    [
        ({"approved": True}, True),
        ('{"approved": false}', False),
        ({"approved": "Yes"}, True),
        ({"approved": "decline"}, False),
        ({"approved": 1}, True),
        ({"approved": "later"}, None),
        ({"other": True}, None),
        ("no json", None),
    ],
)
def test_an_answer_of_the_user_is_a_decision(result: Any, approved: bool | None):
    made = run("ask_user", result)
    assert [(step.tool, step.call_id, step.source) for step in of(made, ApprovalRequest)] == [(None, None, "observe")]
    assert [step.approved for step in of(made, ApprovalDecision)] == ([] if approved is None else [approved])


def test_a_whole_answer_may_be_the_decision():
    made = run("ask_user", "yes", observe={"approvals": [{"tool": "ask_user", "decision": "$"}]})
    assert [step.approved for step in of(made, ApprovalDecision)] == [True]


def test_an_error_approves_nothing():
    assert [step.approved for step in of(run("ask_user", {"approved": True}, is_error=True), ApprovalDecision)] == [False]


def test_an_approval_names_the_tool_that_its_arguments_name():
    made = run("ask_user", {"approved": True}, tool="refund")
    assert [step.tool for step in of(made, ApprovalRequest)] == ["refund"]
    assert [step.tool for step in of(made, ApprovalDecision)] == ["refund"]


def test_the_request_follows_the_call_and_the_decision_the_result():
    expected = ["user_message", "model_call", "tool_call", "approval_request", "tool_result", "approval_decision", "model_call"]
    assert kinds(run("ask_user", {"approved": True})) == expected


def test_a_path_of_another_form_is_refused():
    with pytest.raises(UsageError, match=r"expected a path"):
        run("ask_user", {}, observe={"approvals": [{"tool": "ask_user", "decision": "$..x"}]})


def test_a_skill_is_used_and_state_changed_where_the_call_succeeded():
    assert [(step.skill, step.source) for step in of(run("Skill", "ok", skill="refunds"), SkillUsed)] == [
        ("refunds", "observe")
    ]
    changed = of(run("refund", "ok", order="A-17"), StateChange)
    assert [(step.object, step.name, step.thread) for step in changed] == [("refund", "A-17", 1)]


@pytest.mark.parametrize(
    "made", [run("refund", "no", is_error=True, order="A-17"), run("refund", "ok"), run("other", "ok", order="A")]
)
def test_nothing_changed_where_the_call_failed_or_names_nothing(made: Trace):
    assert of(made, StateChange) == []


def test_a_call_on_the_wire_means_the_same():
    made = trace(executed("refund", "ok", order="A-17"), observe=OBSERVE)
    assert [step.name for step in of(made, StateChange)] == ["A-17"]


@pytest.mark.parametrize(
    ("word", "hints"), [("read-only", (True, False)), ("destructive", (False, True)), ("write", (False, False))]
)
def test_the_scenario_says_what_a_tool_does(word: str, hints: tuple[bool, bool]):
    made = trace(model(user("q"), asked=(ask("c1", "mcp__shop__refund"),)), tools={"refund": word})
    assert [(call.read_only, call.destructive) for call in of(made, ToolCall)] == [hints]
