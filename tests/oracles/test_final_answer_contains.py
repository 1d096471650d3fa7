from __future__ import annotations

import pytest

from wiretape.traces.types import UserMessage


def test_it_passes_where_each_text_stands_in_the_answer(trace, answer, verdict):
    said = verdict("final-answer-contains", trace(answer("I REFUNDED the mug.")), value=["refunded", "mug"])
    assert (said.status, said.message, said.steps) == ("passed", 'the final answer contains "refunded", "mug"', (1,))


def test_it_fails_where_one_is_missing_and_quotes_the_answer(trace, answer, verdict):
    said = verdict("final-answer-contains", trace(answer("I refunded the mug.")), value=["refunded", "cup"])
    assert (said.status, said.message) == ("failed", 'the final answer does not contain "cup"')
    assert said.evidence == ('"I refunded the mug."',)


def test_it_minds_case_when_told(trace, answer, verdict):
    assert verdict("final-answer-contains", trace(answer("Refunded")), value="refunded", case=True).status == "failed"


@pytest.mark.parametrize("on", ["final-answer", "any-text", "tool-result"])
def test_it_fails_without_a_final_answer_wherever_it_looks(on, trace, model, result, verdict):
    made = trace(model(text="refunded"), result("refund", "refunded"))
    said = verdict("final-answer-contains", made, value="refunded", on=on)
    assert (said.status, said.message) == ("failed", "there is no final answer")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"error": "overloaded"}, "a model call failed: overloaded"),
        ({"complete": False}, "a model call failed: its answer was cut"),
    ],
)
def test_it_says_what_broke_where_there_is_no_answer(fields, why, trace, model, verdict):
    said = verdict("final-answer-contains", trace(model(), model(**fields)), value="x")
    assert (said.evidence, said.steps) == ((why,), (2,))


def test_it_takes_the_answer_of_the_last_turn(trace, answer, verdict):
    made = trace(UserMessage(text="a", turn=1), answer("one", turn=1), UserMessage(text="b", turn=2), answer("two", turn=2))
    assert verdict("final-answer-contains", made, value="two").status == "passed"
    assert verdict("final-answer-contains", made, value="one").status == "failed"


def test_it_takes_no_older_answer_where_the_last_turn_has_none(trace, answer, verdict):
    made = trace(UserMessage(text="a", turn=1), answer("one", turn=1), UserMessage(text="b", turn=2))
    assert verdict("final-answer-contains", made, value="one").message == "there is no final answer"


def test_it_looks_at_all_that_the_agent_said_when_told(trace, model, answer, result, verdict):
    made = trace(model(text="Looking it up"), model(text=None), result("get", "found"), answer("Done"))
    said = verdict("final-answer-contains", made, value=["looking", "done"], on="any-text")
    assert (said.status, said.steps) == ("passed", (1, 4))
    assert verdict("final-answer-contains", made, value="found", on="any-text").status == "failed"


def test_it_looks_at_tool_results_when_told(trace, answer, result, verdict):
    content = [{"type": "text", "text": 'the "mug"'}]
    made = trace(result("get", content), result("get", "plain"), answer("Done"))
    said = verdict("final-answer-contains", made, value=['The "mug"', "plain", '"type": "text"'], on="tool-result")
    assert said.status == "passed"
    assert verdict("final-answer-contains", made, value="done", on="tool-result").status == "failed"


def test_it_fails_where_there_is_nothing_to_look_at(trace, answer, verdict):
    said = verdict("final-answer-contains", trace(answer("Done")), value="x", on="tool-result")
    assert (said.status, said.message) == ("failed", 'what the tools answered does not contain "x"')
    assert said.evidence == ("it is empty",)


@pytest.mark.parametrize(
    ("parameters", "part"),
    [
        ({}, "the parameter value is missing"),
        ({"value": 8.5}, "expected a text or a list of texts (numbers in quotes), got 8.5"),
        ({"value": []}, "expected a text or a list of texts (numbers in quotes), got []"),
        ({"value": ""}, "parameter value: expected a text"),
        ({"value": ["a", 3]}, "parameter value: expected a text or a list of texts (numbers in quotes), got 3"),
        ({"value": "x", "on": "prompt"}, 'parameter on: expected final-answer, any-text or tool-result, got "prompt"'),
    ],
)
def test_it_fails_with_a_sentence_on_wrong_parameters(parameters, part, trace, answer, verdict):
    said = verdict("final-answer-contains", trace(answer("x")), **parameters)
    assert said.status == "failed"
    assert part in said.message
