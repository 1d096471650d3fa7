from __future__ import annotations

import pytest

ORDER = {"type": "object", "properties": {"order": {"type": "string"}, "n": {"type": "integer"}}, "required": ["order"]}


def test_it_passes_where_the_arguments_fit(trace, model, call, verdict):
    said = verdict("tool-args-valid", trace(model({"get": ORDER}), call("get", {"order": "A-17"}, by=1)))
    assert (said.status, said.message) == ("passed", "1 call with arguments that fit the declared schema")
    assert said.steps == (2,)


def test_it_fails_where_they_do_not_and_says_where(trace, model, call, verdict):
    said = verdict("tool-args-valid", trace(model({"get": ORDER}), call("get", {"n": "two"}, by=1)))
    assert (said.status, said.message, said.steps) == ("failed", "arguments do not fit the declared schema: get", (2,))
    assert said.evidence == ("get({\"n\": \"two\"}): $: 'order' is a required property; $.n: 'two' is not of type 'integer'",)


@pytest.mark.parametrize("text", ['{"order": ', "order", "[1", '{"order": "A"} '])
def test_it_fails_where_the_arguments_are_not_json(text, trace, model, call, verdict):
    said = verdict("tool-args-valid", trace(model({"get": ORDER}), call("get", arguments_text=text, by=1)))
    assert said.status == "failed"
    assert said.evidence[0].endswith("the arguments are not JSON")


def test_it_takes_no_arguments_for_an_empty_object(trace, model, call, verdict):
    assert verdict("tool-args-valid", trace(model({"now": {"type": "object"}}), call("now", by=1))).status == "passed"
    assert verdict("tool-args-valid", trace(model({"get": ORDER}), call("get", by=1))).status == "failed"


def test_it_takes_null_for_null(trace, model, call, verdict):
    said = verdict("tool-args-valid", trace(model({"now": {"type": "object"}}), call("now", arguments_text="null", by=1)))
    assert said.evidence == ("now(null): $: None is not of type 'object'",)


def test_it_goes_by_the_schema_of_the_model_call_that_asked(trace, model, call, verdict):
    other = {"type": "object", "required": ["id"]}
    made = trace(model({"get": other}), model({"get": ORDER}), call("get", {"order": "A"}, by=2))
    assert verdict("tool-args-valid", made).status == "passed"


def test_it_says_how_many_it_could_not_judge(trace, model, call, verdict):
    made = trace(model({"get": ORDER, "free": None}), call("get", {"order": "A"}, by=1), call("free", by=1), call("x"))
    said = verdict("tool-args-valid", made)
    assert (said.status, said.evidence) == ("passed", ("2 calls without a schema, not judged",))


def test_it_is_skipped_where_no_schema_was_seen(trace, model, call, verdict):
    said = verdict("tool-args-valid", trace(model({"free": None}), call("free", by=1), call("x", state="executed")))
    assert (said.status, said.message) == ("skipped", "no schema was seen for any of the tools that were called")


@pytest.mark.parametrize(("tools", "status"), [("complete", "passed"), ("none", "skipped")])
def test_it_says_nothing_of_calls_that_may_not_have_been_seen(tools, status, trace, verdict):
    assert verdict("tool-args-valid", trace(tools=tools)).status == status


def test_it_is_skipped_where_the_schema_cannot_be_judged(trace, model, call, verdict):
    made = trace(model({"get": {"type": "OBJECT"}}), call("get", {}, by=1), call("get", {}, by=1))
    said = verdict("tool-args-valid", made)
    assert (said.status, said.message) == ("skipped", "the declared schema cannot be judged: get")
    assert len(said.evidence) == 1
    assert said.evidence[0].startswith("the schema of get: it is not a valid JSON Schema ($.type:")


def test_it_fails_all_the_same_where_another_call_does_not_fit(trace, model, call, verdict):
    made = trace(model({"bad": {"type": "OBJECT"}, "get": ORDER}), call("bad", {}, by=1), call("get", {}, by=1))
    assert verdict("tool-args-valid", made).status == "failed"


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, verdict):
    assert verdict("tool-args-valid", trace(), schema={}).status == "failed"
