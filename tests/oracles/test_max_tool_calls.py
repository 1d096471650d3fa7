from __future__ import annotations

import pytest


@pytest.mark.parametrize(("limit", "status"), [(3, "passed"), (2, "passed"), (1, "failed"), (0, "failed")])
def test_it_counts_calls_that_were_asked_for_and_calls_that_were_executed(limit, status, trace, call, model, verdict):
    made = trace(model(), call("get", by=1), call("run", state="executed"))
    assert verdict("max-tool-calls", made, limit=limit).status == status


def test_it_says_how_many_there_were_of_which(trace, call, verdict):
    said = verdict("max-tool-calls", trace(call("get"), call("run"), call("get")), limit=2)
    assert said.message == "there were 3 tool calls, the limit is 2"
    assert said.evidence == ("get: 2", "run: 1")
    assert said.steps == (1, 2, 3)


def test_it_passes_on_none(trace, verdict):
    assert verdict("max-tool-calls", trace(), limit=0).message == "there were 0 tool calls, the limit is 0"


@pytest.mark.parametrize("tools", ["partial", "none"])
def test_it_is_skipped_where_more_may_have_been_called(tools, trace, call, verdict):
    assert verdict("max-tool-calls", trace(call("get"), tools=tools), limit=1).status == "skipped"
    assert verdict("max-tool-calls", trace(call("get"), tools=tools), limit=0).status == "failed"


@pytest.mark.parametrize("limit", ["4", -1, 1.5, True, None])
def test_it_fails_with_a_sentence_on_a_wrong_limit(limit, trace, verdict):
    said = verdict("max-tool-calls", trace(), limit=limit)
    assert said.status == "failed"
    assert "parameter limit: expected a whole number from 0, got" in said.message
