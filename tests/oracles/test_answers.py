from __future__ import annotations

import pytest

from wiretape.oracles.answers import final_answer, place


def test_it_quotes_the_last_texts(trace, answer, model):
    made = trace(*(model(text=f"t{number}") for number in range(7)), answer("end"))
    assert place(made, "any-text").quoted() == ['"t3"', '"t4"', '"t5"', '"t6"', '"end"']


def test_it_names_the_steps_that_hold_a_text(trace, answer, model):
    looked = place(trace(model(text="A mug"), model(text="a cup"), answer("The Mug")), "any-text")
    assert looked.holding("mug", case=False) == [1, 3]
    assert looked.holding("mug", case=True) == [1]


@pytest.mark.parametrize("turn", [None, 2])
def test_it_takes_the_last_of_several_answers(turn, trace, answer):
    found = final_answer(trace(answer("one", turn=1), answer("two", turn=turn)))
    assert found is not None
    assert found.text == "two"


def test_it_reads_results_nested_deeper_than_python_recurses(trace, answer, result):
    content: list = ["bottom"]
    for _ in range(500):
        content = [content]
    assert place(trace(result("get", content), answer("x")), "tool-result").holding("bottom", case=True) == [1]
