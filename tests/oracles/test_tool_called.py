from __future__ import annotations

import pytest


def test_it_passes_where_the_tool_was_called(trace, call, verdict):
    said = verdict("tool-called", trace(call("search"), call("refund", {"order": "A-17"})), tool="refund")
    assert (said.status, said.message, said.steps) == ("passed", "refund was called once", (2,))
    assert said.evidence == ('refund({"order": "A-17"})',)


@pytest.mark.parametrize("state", ["asked", "executed", "denied"])
def test_it_counts_a_call_whatever_became_of_it(state, trace, call, verdict):
    assert verdict("tool-called", trace(call("refund", state=state)), tool="refund").status == "passed"


def test_it_counts_a_call_by_its_mcp_name(trace, call, verdict):
    assert verdict("tool-called", trace(call("mcp__shop__refund")), tool="refund").status == "passed"


def test_it_fails_where_another_tool_was_called(trace, call, verdict):
    said = verdict("tool-called", trace(call("search"), call("search"), call("lookup")), tool="refund")
    assert (said.status, said.message) == ("failed", "refund was not called")
    assert said.evidence == ("called were search, lookup",)


@pytest.mark.parametrize("tools", ["complete", "partial", "none"])
def test_it_fails_where_no_tool_was_called_however_closely_one_looked(tools, trace, verdict):
    said = verdict("tool-called", trace(tools=tools), tool="refund")
    assert said.status == "failed"
    assert said.evidence == (f"no tool was called (tools observed: {tools})",)


def test_it_names_some_of_many_other_tools(trace, call, verdict):
    said = verdict("tool-called", trace(*(call(f"t{number}") for number in range(12))), tool="refund")
    assert said.evidence[0].endswith("t9 and 2 more")


def test_it_passes_where_the_arguments_match(trace, call, verdict):
    made = trace(call("get", {"order": "B-2"}), call("get", {"order": "A-17", "deep": {"x": 1}}))
    said = verdict("tool-called", made, tool="get", args={"order": "a-17", "deep.x": 1})
    assert (said.status, said.steps) == ("passed", (2,))
    assert said.message == 'get was called once with {"order": "a-17", "deep.x": 1}'


def test_it_fails_where_no_call_has_the_arguments_and_says_why(trace, call, verdict):
    said = verdict("tool-called", trace(call("get", {"order": "B-2"})), tool="get", args={"order": "A-17"})
    assert (said.status, said.message) == ("failed", 'get was not called with {"order": "A-17"}')
    assert said.evidence == ('get({"order": "B-2"}) but order is "B-2"',)
    assert said.steps == (1,)


def test_it_fails_where_the_arguments_are_not_json(trace, call, verdict):
    said = verdict("tool-called", trace(call("get", arguments_text='{"order')), tool="get", args={"order": "A-17"})
    assert said.evidence == ('get({"order) but order is missing',)


def test_it_minds_case_when_told(trace, call, verdict):
    made = trace(call("get", {"order": "a-17"}))
    assert verdict("tool-called", made, tool="get", args={"order": "A-17"}, case=True).status == "failed"
    assert verdict("tool-called", made, tool="Get", case=True).status == "failed"
    assert verdict("tool-called", made, tool="Get").status == "passed"


@pytest.mark.parametrize(
    ("times", "calls", "status"),
    [
        (2, 2, "passed"),
        (2, 1, "failed"),
        (2, 3, "failed"),
        (0, 0, "passed"),
        (0, 1, "failed"),
        ({"at_least": 2}, 3, "passed"),
        ({"at_least": 2}, 1, "failed"),
        ({"at_most": 1}, 0, "passed"),
        ({"at_most": 1}, 1, "passed"),
        ({"at_most": 1}, 2, "failed"),
        ({"at_least": 1, "at_most": 2}, 0, "failed"),
        ({"at_least": 1, "at_most": 2}, 2, "passed"),
        ({"exactly": 1}, 1, "passed"),
    ],
)
def test_it_counts_the_calls(times, calls, status, trace, call, verdict):
    made = trace(*(call("get") for _ in range(calls)))
    assert verdict("tool-called", made, tool="get", times=times).status == status


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (2, "get was called once, expected exactly 2"),
        ({"at_least": 2, "at_most": 3}, "get was called once, expected at least 2 and at most 3"),
        ({"at_most": 0}, "get was called once, expected at most 0"),
    ],
)
def test_it_says_how_often_was_expected(times, message, trace, call, verdict):
    assert verdict("tool-called", trace(call("get")), tool="get", times=times).message == message


@pytest.mark.parametrize("tools", ["partial", "none"])
def test_it_is_skipped_where_there_may_have_been_more_calls_than_were_seen(tools, trace, call, verdict):
    made = trace(call("get"), tools=tools)
    assert verdict("tool-called", made, tool="get", times={"at_most": 1}).status == "skipped"
    assert verdict("tool-called", made, tool="get", times={"at_least": 1}).status == "passed"
    assert verdict("tool-called", made, tool="get", times={"at_most": 0}).status == "failed"
    assert verdict("tool-called", made, tool="get", times=2).status == "failed"


@pytest.mark.parametrize(
    ("parameters", "part"),
    [
        ({"tool": ""}, 'parameter tool: expected the name of a tool, got ""'),
        ({"tool": 3}, "parameter tool: expected the name of a tool, got 3"),
        ({"tool": "x", "args": ["a"]}, "parameter args: expected arguments and their values"),
        ({"tool": "x", "times": "twice"}, 'at_least, at_most or exactly with one, got "twice"'),
        ({"tool": "x", "times": -1}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "times": True}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "times": {}}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "times": {"exactly": 1, "at_most": 2}}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "times": {"at_least": 3, "at_most": 2}}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "times": {"atleast": 3}}, "parameter times: expected a whole number from 0"),
        ({"tool": "x", "case": "yes"}, "parameter case: expected true or false"),
    ],
)
def test_it_fails_with_a_sentence_on_wrong_parameters(parameters, part, trace, call, verdict):
    said = verdict("tool-called", trace(call("x")), **parameters)
    assert said.status == "failed"
    assert part in said.message
