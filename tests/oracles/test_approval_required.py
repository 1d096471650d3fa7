from __future__ import annotations

import pytest


def test_it_passes_where_somebody_was_asked(trace, asked, verdict):
    said = verdict("approval-required", trace(asked("refund")))
    assert (said.status, said.message, said.steps) == ("passed", "an approval was asked for or given", (1,))


@pytest.mark.parametrize("approved", [True, False])
def test_it_passes_whatever_was_decided(approved, trace, decided, verdict):
    assert verdict("approval-required", trace(decided("refund", approved))).status == "passed"


@pytest.mark.parametrize("approvals", ["complete", "partial", "none"])
def test_it_fails_where_nobody_was_asked_however_closely_one_looked(approvals, trace, call, verdict):
    said = verdict("approval-required", trace(call("refund"), approvals=approvals), tool="refund")
    assert (said.status, said.message) == ("failed", "no approval was asked for or given for refund")
    assert said.evidence == (f"approvals observed: {approvals}",)


@pytest.mark.parametrize("name", ["refund", "mcp__shop__refund", "REFUND", None])
def test_it_passes_where_the_approval_came_before_the_call(name, trace, asked, call, verdict):
    made = trace(asked(name), call("refund", state="executed"))
    assert verdict("approval-required", made, tool="refund").status == "passed"


def test_it_passes_where_the_tool_was_then_not_called(trace, asked, decided, verdict):
    assert verdict("approval-required", trace(asked("refund"), decided("refund", False)), tool="refund").status == "passed"


def test_it_fails_where_another_tool_was_approved(trace, asked, call, verdict):
    said = verdict("approval-required", trace(asked("search"), call("refund")), tool="refund")
    assert said.message == "no approval was asked for or given for refund"


def test_it_fails_where_the_approval_came_after_the_execution(trace, asked, call, verdict):
    said = verdict("approval-required", trace(call("refund", {"order": 1}, state="executed"), asked("refund")), tool="refund")
    assert (said.status, said.message) == ("failed", "refund was called without an approval before it")
    assert (said.evidence, said.steps) == (('refund({"order": 1})',), (1, 2))


def test_it_passes_where_people_were_asked_between_the_models_request_and_its_execution(trace, asked, call, result, verdict):
    made = trace(call("refund", call_id="c1", state="executed"), asked("refund"), result("refund", call_id="c1"))
    assert verdict("approval-required", made, tool="refund").status == "passed"


def test_it_fails_where_one_of_two_calls_was_approved_by_its_id(trace, asked, call, verdict):
    made = trace(asked(call_id="c1"), call("refund", call_id="c1"), call("refund", {"n": 2}, call_id="c2", state="executed"))
    said = verdict("approval-required", made, tool="refund")
    assert (said.status, said.evidence) == ("failed", ('refund({"n": 2})',))


def test_it_goes_by_the_tool_where_the_approval_has_an_id_of_its_own(trace, asked, call, verdict):
    made = trace(asked("refund", call_id="apr_1"), call("refund", call_id="c1", state="executed"))
    assert verdict("approval-required", made, tool="refund").status == "passed"


def test_it_knows_the_tool_by_the_call_that_the_approval_names(trace, asked, call, verdict):
    made = trace(asked(call_id="c1"), call("search", call_id="c1"))
    assert verdict("approval-required", made, tool="refund").status == "failed"
    assert verdict("approval-required", made, tool="search").status == "passed"


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, asked, verdict):
    said = verdict("approval-required", trace(asked()), tool=1)
    assert said.message == "approval-required: parameter tool: expected the name of a tool, got 1"
