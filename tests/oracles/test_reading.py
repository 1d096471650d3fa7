from __future__ import annotations

import pytest

from wiretape.oracles.reading import asked_by, called, came_before, concerning, shown, tool_calls
from wiretape.traces.types import HttpCall


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (0, "not called"),
        (1, "called once"),
        (2, "called twice"),
        (9, "called 9 times"),
    ],
)
def test_it_counts_in_words(times, words):
    assert called(times) == words


def test_it_finds_the_model_call_that_asked(trace, model, call):
    made = trace(model(text="one"), model(text="two"), call("get", by=2), call("run"))
    assert [getattr(asked_by(made, each), "text", None) for each in tool_calls(made)] == ["two", None]


def test_it_shows_a_call_on_one_line(call):
    assert shown(call("run", arguments_text='{"a":\n  1}')) == 'run({"a": 1})'
    assert shown(call("run", {"a": 1}, arguments_text="")) == 'run({"a": 1})'
    assert shown(call("run", "x" * 300), limit=20) == 'run("xxxxxxxxxxxxxx…'


@pytest.mark.parametrize(
    ("fields", "moment"),
    [
        ({"state": "asked"}, 4),
        ({"state": "executed"}, 1),
        ({"state": "executed", "executed_in": 5}, 3),
        ({"state": "executed", "executed_in": 9}, 4),
    ],
)
def test_it_knows_when_a_call_without_a_result_was_carried_out(fields, moment, trace, call, decided):
    later = HttpCall(method="GET", host="h", path="/", exchange=5)
    made = trace(call("run", **fields), decided("run", exchange=5), later)
    assert came_before(made, made.steps[0]) == moment


def test_it_ends_that_moment_with_the_result(trace, call, result):
    made = trace(call("run", call_id="a"), result("run", call_id="b"), result(None, call_id="a"), result("run", call_id="a"))
    assert came_before(made, made.steps[0]) == 3
    made = trace(call("run"), result("get"), result("mcp__os__run"))
    assert came_before(made, made.steps[0]) == 3


@pytest.mark.parametrize(
    ("server", "name", "concerned"),
    [
        ("os", "mcp__os__run", True),
        ("os", "mcp__web__run", False),
        (None, "mcp__os__run", True),
        ("os", "run", True),
        ("os", "get", False),
    ],
)
def test_it_links_an_approval_by_the_name_of_the_tool(server, name, concerned, trace, call, decided):
    made = trace(decided(name), call("run", server=server))
    assert bool(concerning(made, made.steps[1])) is concerned
