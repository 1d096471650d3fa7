from __future__ import annotations

from typing import Any

import pytest
from support.traces import ask, asking, exchange, handing, model, of, said, trace, user

from wiretape.traces.types import End, Event, FinalAnswer, ModelView, Trace


def answer(made: Trace) -> str | None:
    found = of(made, FinalAnswer)
    assert len(found) <= 1
    return found[0].text if found else None


CALL = ask("c1")


# the main thread


def test_the_thread_with_most_model_calls_is_the_main_one():
    made = trace(
        model(user("title"), text="T"), model(user("q"), asked=(CALL,)), model(user("q"), asking(CALL), handing("c1"), text="a")
    )
    assert (made.main_thread, answer(made)) == (2, "a")


def test_of_equal_threads_the_earliest_is_the_main_one():
    made = trace(model(user("q"), text="a"), model(user("title"), text="T"))
    assert (made.main_thread, answer(made)) == (1, "a")


def test_the_scenarios_input_picks_the_main_thread():
    made = trace(
        model(user("noise")),
        model(user("noise"), said("x"), user("y")),
        model(user("so:\nthe  question"), text="a"),
        input="the question",
    )
    assert answer(made) == "a"


def test_the_exact_input_is_meant_before_a_text_that_quotes_it():
    made = trace(model(user("a title for: q"), text="T"), model(user("q"), text="a"), input="q")
    assert answer(made) == "a"


def test_an_input_that_nobody_said_leaves_the_choice_to_the_calls():
    assert answer(trace(model(user("q"), text="a"), input="something else")) == "a"


def test_the_scenarios_selector_picks_the_main_thread():
    picked: dict[str, Any] = {"answer": {"tools_include": "refund"}}
    made = trace(model(user("q"), tools="read"), model(user("r"), tools="mcp__shop__refund", text="a"), input="q", **picked)
    assert (made.main_thread, answer(made)) == (2, "a")


def test_a_selector_that_fits_no_thread_leaves_none_to_be_judged():
    made = trace(model(user("q"), tools="read", text="a"), answer={"tools_include": "refund"})
    assert (made.main_thread, answer(made)) == (None, None)


# the answer


def test_the_last_text_is_the_answer():
    made = trace(model(user("q"), text="a"), model(user("q"), said("a"), user("r"), text="b"))
    assert answer(made) == "b"
    step = of(made, FinalAnswer)[0]
    assert (step.thread, step.turn, step.exchange, step.seq) == (1, 2, 2, len(made.steps))


@pytest.mark.parametrize(
    ("last", "end"),
    [
        (model(user("q"), said("old"), user("r"), text="cut o", complete=False), End.UPSTREAM_TRUNCATED),
        (model(user("q"), said("old"), user("r"), text=None, complete=False), End.TIMEOUT),
        (model(user("q"), said("old"), user("r"), text="par", error="overloaded"), End.COMPLETE),
        (model(user("q"), said("old"), user("r"), text="let me see", asked=(CALL,)), End.COMPLETE),
        (model(user("q"), said("old"), user("r"), text=" \n"), End.COMPLETE),
        (model(user("q"), text="again", complete=False), End.CLIENT_CLOSED),
        (model(user("q"), text="again", asked=(CALL,)), End.COMPLETE),
    ],
)
def test_there_is_no_answer_rather_than_an_older_one(last: ModelView, end: End):
    assert answer(trace(model(user("q"), text="old"), (exchange(2, end=end), last))) is None


def test_a_retry_that_succeeded_is_the_last_call():
    cut = exchange(1, end=End.UPSTREAM_RESET), model(user("q"), text="Hel", complete=False)
    assert answer(trace(cut, model(user("q"), text="Hello"))) == "Hello"


def test_a_server_tool_in_the_last_call_takes_no_answer_away():
    search = ask("s1", "web_search").model_copy(update={"by_provider": True})
    assert answer(trace(model(user("q"), text="found", asked=(search,)))) == "found"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"answer": "42"}, "42"),
        ({"result": "done", "command": "open x"}, "done"),
        ({"b": 2, "a": "x"}, '{"a":"x","b":2}'),
        ({"n": 1}, '{"n":1}'),
    ],
)
def test_the_argument_of_an_answer_tool_is_the_answer(arguments: dict[str, Any], text: str):
    made = trace(
        model(user("q"), text="here:", asked=(ask("c1", "final_result", **arguments),)), answer={"tools": ["final_result"]}
    )
    assert answer(made) == text


def test_the_last_call_of_an_answer_tool_counts():
    wrong, right = ask("c1", "final_result", text="no"), ask("c2", "final_result", text="yes")
    history = (user("q"), asking(wrong), handing("c1", "try again", is_error=True))
    made = trace(model(user("q"), asked=(wrong,)), model(*history, asked=(right,)), answer={"tools": ["final_result"]})
    assert answer(made) == "yes"


def test_an_answer_tool_counts_no_more_when_a_later_call_failed():
    wrong = ask("c1", "final_result", text="no")
    failed = (
        exchange(2, end=End.TIMEOUT),
        model(user("q"), asking(wrong), handing("c1", "try again"), text=None, complete=False),
    )
    assert answer(trace(model(user("q"), asked=(wrong,)), failed, answer={"tools": ["final_result"]})) is None


def test_an_answer_of_an_earlier_turn_is_none_of_the_last():
    call = ask("c1", "final_result", text="42")
    made = trace(
        model(user("q"), asked=(call,)),
        model(user("q"), asking(call), handing("c1"), user("r"), text="b"),
        answer={"tools": ["final_result"]},
    )
    assert answer(made) == "b"


def test_the_agents_own_answer_counts_before_any_other():
    made = trace(model(user("q"), text="a"), events=[(9.0, "", {"type": "final_answer", "text": "mine"})])
    assert answer(made) == "mine"


def test_the_agents_own_answer_counts_where_the_last_call_failed():
    failed = exchange(1, end=End.TIMEOUT), model(user("q"), text=None, complete=False)
    assert answer(trace(failed, events=[(9.0, "", {"type": "final_answer", "text": "Sorry."})])) == "Sorry."


def test_the_agents_own_answer_of_an_earlier_turn_is_an_event():
    events = [(1.5, "", {"type": "final_answer", "text": "first"})]
    made = trace(model(user("q"), text="a"), model(user("q"), said("a"), user("r"), text="b"), events=events)
    assert answer(made) == "b"
    assert [(step.name, step.data) for step in of(made, Event)] == [("final_answer", {"text": "first"})]
