from __future__ import annotations

import pytest


def test_it_passes_where_each_tool_had_been_offered(trace, model, call, verdict):
    said = verdict("tool-declared", trace(model({"get": None, "run": None}), call("get", by=1), call("run", by=1)))
    assert (said.status, said.message, said.steps) == ("passed", "2 calls to offered tools", (2, 3))


def test_it_fails_where_one_had_not(trace, model, call, verdict):
    said = verdict("tool-declared", trace(model({"get": None}), call("get", by=1), call("rm", {"path": "/"}, by=1)))
    assert (said.status, said.message, said.steps) == ("failed", "called without having been offered: rm", (3,))
    assert said.evidence == ('rm({"path": "/"}), offered were get',)


@pytest.mark.parametrize("name", ["Get", "mcp__x__get"])
def test_it_compares_names_exactly(name, trace, model, call, verdict):
    assert verdict("tool-declared", trace(model({"get": None}), call(name, by=1))).status == "failed"


def test_it_looks_at_the_very_call_that_asked(trace, model, call, verdict):
    said = verdict("tool-declared", trace(model({"get": None}), model(), call("get", by=2)))
    assert said.evidence == ("get(), no tool was offered",)


def test_it_shortens_a_long_offer(trace, model, call, verdict):
    said = verdict("tool-declared", trace(model({f"t{number}": None for number in range(20)}), call("rm", by=1)))
    assert said.evidence[0].endswith("t8, t9 …")


@pytest.mark.parametrize("by", [None, 7])
def test_it_is_skipped_where_no_model_was_seen_to_ask(by, trace, call, verdict):
    assert verdict("tool-declared", trace(call("get", by=by))).status == "skipped"


@pytest.mark.parametrize(("tools", "status"), [("complete", "passed"), ("partial", "skipped"), ("none", "skipped")])
def test_it_says_nothing_of_calls_that_may_not_have_been_seen(tools, status, trace, verdict):
    said = verdict("tool-declared", trace(tools=tools))
    assert said.status == status
    assert said.message.startswith("no tool was called")


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, verdict):
    assert verdict("tool-declared", trace(), tool="x").status == "failed"
