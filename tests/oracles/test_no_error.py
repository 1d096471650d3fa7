from __future__ import annotations

import pytest

from wiretape.traces.types import ErrorStep, HttpCall, RecordingStatus


def http(**fields):
    return HttpCall(**{"method": "GET", "host": "shop.example", "path": "/orders", "status": 200} | fields)


def test_it_passes_where_nothing_failed(trace, model, call, result, answer, verdict):
    said = verdict("no-error", trace(model(), call("get"), result("get"), http(), answer("Done")))
    assert (said.status, said.message) == ("passed", "there was no error")


def test_it_fails_on_an_error_step(trace, verdict):
    said = verdict("no-error", trace(ErrorStep(message="boom", where="api.openai.com"), ErrorStep(message="bang")))
    assert (said.status, said.message, said.steps) == ("failed", "there were 2 errors", (1, 2))
    assert said.evidence == ('api.openai.com: "boom"', '"bang"')


@pytest.mark.parametrize(
    ("fields", "told"),
    [({"error": "overloaded_error"}, '"overloaded_error"'), ({"error": ""}, '""'), ({"complete": False}, "the answer was cut")],
)
def test_it_fails_on_a_model_call_that_failed_or_was_cut(fields, told, trace, model, verdict):
    said = verdict("no-error", trace(model(**fields)))
    assert (said.status, said.message) == ("failed", "there was 1 error")
    assert said.evidence == (f"openai chat: {told}",)


def test_it_fails_on_a_tool_that_failed(trace, result, verdict):
    assert verdict("no-error", trace(result("get", "no such order", is_error=True))).evidence == ('get: "no such order"',)
    assert verdict("no-error", trace(result(None, {"x": 1}, is_error=True))).evidence == ('a tool: {"x": 1}',)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": 500}, "failed"),
        ({"status": 503}, "failed"),
        ({"status": None, "error": "reset"}, "failed"),
        ({"status": 200, "error": "cut after 40 bytes"}, "failed"),
        ({"status": 404}, "passed"),
        ({"status": None}, "passed"),
    ],
)
def test_it_fails_on_an_http_call_without_a_good_answer(fields, status, trace, verdict):
    assert verdict("no-error", trace(http(**fields))).status == status


def test_it_tells_one_failure_once(trace, model, verdict):
    said = verdict("no-error", trace(model(error="overloaded", exchange=4), ErrorStep(message="overloaded", exchange=4)))
    assert (said.message, said.steps) == ("there was 1 error", (1,))
    said = verdict("no-error", trace(model(error="overloaded", exchange=4), ErrorStep(message="boom", exchange=5)))
    assert said.steps == (1, 2)


def test_it_does_not_count_what_a_rule_broke_on_purpose(trace, model, result, verdict):
    made = trace(
        model(error="429", mocked="slow"),
        result("get", "down", is_error=True, mocked="orders-down", exchange=3),
        http(status=503, mocked="down"),
        ErrorStep(message="down", exchange=3),
    )
    assert verdict("no-error", made).status == "passed"


@pytest.mark.parametrize("status", [RecordingStatus.INTERRUPTED, RecordingStatus.INCOMPLETE])
def test_it_is_skipped_where_the_recording_was_cut(status, trace, model, verdict):
    said = verdict("no-error", trace(model(), status=status))
    assert (said.status, said.message) == (
        "skipped",
        f"no error was seen, but the recording is {status}: how the run went on is not known",
    )
    assert verdict("no-error", trace(model(error="x"), status=status)).status == "failed"


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, verdict):
    assert verdict("no-error", trace(), allow=["x"]).status == "failed"
