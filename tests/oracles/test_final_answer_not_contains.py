from __future__ import annotations

import pytest


def test_it_passes_where_no_text_stands_in_the_answer(trace, answer, verdict):
    said = verdict("final-answer-not-contains", trace(answer("Done.")), value=["sorry", "cannot"])
    assert (said.status, said.message) == ("passed", 'the final answer does not contain "sorry", "cannot"')
    assert said.steps == (1,)


def test_it_fails_where_one_does(trace, answer, verdict):
    said = verdict("final-answer-not-contains", trace(answer("Sorry, no.")), value=["sorry", "cannot"])
    assert (said.status, said.message, said.steps) == ("failed", 'the final answer contains "sorry"', (1,))
    assert said.evidence == ('"Sorry, no."',)


def test_it_minds_case_when_told(trace, answer, verdict):
    assert verdict("final-answer-not-contains", trace(answer("Sorry")), value="sorry", case=True).status == "passed"


def test_it_fails_without_a_final_answer(trace, verdict):
    said = verdict("final-answer-not-contains", trace(), value="sorry")
    assert (said.status, said.message) == ("failed", "there is no final answer")


def test_it_needs_no_observed_tools_for_the_answer_itself(trace, answer, verdict):
    made = trace(answer("Done."), tools="none")
    assert verdict("final-answer-not-contains", made, value="sorry").status == "passed"
    assert verdict("final-answer-not-contains", made, value="sorry", on="any-text").status == "passed"


@pytest.mark.parametrize(("tools", "status"), [("complete", "passed"), ("partial", "skipped"), ("none", "skipped")])
def test_it_is_skipped_where_results_may_not_have_been_seen(tools, status, trace, answer, result, verdict):
    made = trace(result("get", "fine"), answer("Done."), tools=tools)
    assert verdict("final-answer-not-contains", made, value="secret", on="tool-result").status == status
    assert verdict("final-answer-not-contains", made, value="fine", on="tool-result").status == "failed"


def test_it_fails_with_a_sentence_on_wrong_parameters(trace, answer, verdict):
    said = verdict("final-answer-not-contains", trace(answer("x")), values="x")
    assert said.status == "failed"
    assert said.message.endswith('unknown parameter "values": it takes case, on, value')
