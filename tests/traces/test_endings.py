from __future__ import annotations

import pytest
from support.traces import exchange, model, said, trace, user

from wiretape.traces.endings import ending, final_text, inputs
from wiretape.traces.types import End, Trace

FAILED = exchange(2, "GET", "https://api.test/x", status=None, end=End.TIMEOUT, error="port 4711")
CUT = exchange(1, end=End.UPSTREAM_RESET), model(user("q"), text="Hel", complete=False)
ENDED = [(9.0, "", {"type": "run_ended", "as": "goal_achieved"})]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (trace(model(user("q"), text="a", stop_reason="end_turn")), "with a model call that stopped (end_turn)"),
        (trace(model(user("q"), text="a", stop_reason=None)), "with a model call that stopped (no reason given)"),
        (trace(model(user("q"), text=None, error="overloaded")), "with a failed model call (overloaded)"),
        (trace(CUT), "with a model call that was cut"),
        (trace(model(user("q"), text="a"), FAILED), "with an error (GET api.test/x: the answer timed out (port 4711))"),
        (trace(model(user("q"), text="a"), FAILED, events=ENDED), "as goal_achieved"),
        (trace(FAILED, model(user("q"), text="a")), "with a model call that stopped (stop)"),
        (trace(exchange(1)), "without a model call"),
        (trace(), "without a model call"),
    ],
)
def test_it_says_how_a_run_ended(made: Trace, words: str):
    assert ending(made).words == words


def test_a_side_conversation_does_not_end_the_run():
    main = model(user("q"), text="a"), model(user("q"), said("a"), user("r"), text="b", stop_reason="end_turn")
    made = trace(*main, model(user("title"), text="T", stop_reason="length"))
    assert ending(made).words == "with a model call that stopped (end_turn)"


def test_the_words_of_a_failed_connection_do_not_count():
    other = exchange(2, "GET", "https://api.test/x", status=None, end=End.TIMEOUT, error="port 4712")
    assert ending(trace(FAILED)).meaning == ending(trace(other)).meaning


def test_the_words_of_a_cut_answer_do_not_count():
    """The recorder quotes what broke the connection; a replay breaks it without words."""
    told = exchange(1, end=End.UPSTREAM_TRUNCATED, error="peer closed connection"), CUT[1]
    assert ending(trace(told)).meaning == ending(trace((exchange(1, end=End.UPSTREAM_TRUNCATED), CUT[1]))).meaning
    assert ending(trace(told)).meaning == ending(trace(CUT)).meaning


def test_a_certificate_that_was_refused_ends_nothing():
    refused = exchange(2, "CONNECT", "https://other.test:443", status=None, end=End.REFUSED, error="unknown CA")
    assert ending(trace(model(user("q"), text="a"), refused)) == ending(trace(model(user("q"), text="a")))
    assert ending(trace(refused)).words == "without a model call"


def test_it_finds_what_was_said_and_answered():
    made = trace(model(user("q"), user("now"), text="a"), model(user("q"), user("now"), said("a"), user("r"), text="b"))
    assert inputs(made) == {1: (1, "q\nnow"), 2: (4, "r")}
    assert final_text(made) == (len(made.steps), "b")


def test_an_empty_trace_has_neither():
    assert (inputs(trace()), final_text(trace())) == ({}, None)
