from __future__ import annotations

import pytest


def test_it_passes_where_everything_was_observed_and_the_tool_is_absent(trace, call, verdict):
    said = verdict("tool-not-called", trace(call("search")), tool="shell")
    assert (said.status, said.message) == ("passed", "shell was not called")


@pytest.mark.parametrize("tools", ["complete", "partial", "none"])
def test_it_fails_where_the_tool_was_called(tools, trace, call, verdict):
    said = verdict("tool-not-called", trace(call("search"), call("mcp__os__Shell", {"cmd": "ls"}), tools=tools), tool="shell")
    assert (said.status, said.message, said.steps) == ("failed", "shell was called once", (2,))
    assert said.evidence == ('mcp__os__Shell({"cmd": "ls"})',)


@pytest.mark.parametrize(("tools", "word"), [("partial", "only partly observed"), ("none", "not observed")])
def test_it_is_skipped_with_the_reason_where_one_did_not_look(tools, word, trace, verdict):
    said = verdict("tool-not-called", trace(tools=tools), tool="shell")
    assert said.status == "skipped"
    assert said.message == f"shell was not called, but tools were {word}, and absence proves nothing unless one looked"


def test_it_minds_case_when_told(trace, call, verdict):
    assert verdict("tool-not-called", trace(call("Shell")), tool="shell", case=True).status == "passed"


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, verdict):
    said = verdict("tool-not-called", trace(), tool=["shell"])
    assert said.message == 'tool-not-called: parameter tool: expected the name of a tool, got ["shell"]'
