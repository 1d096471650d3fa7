"""What two recordings took to behave as they did."""

from __future__ import annotations

from support.traces import model, trace, user

from wiretape.traces.expense import notes
from wiretape.traces.types import Usage


def test_it_says_nothing_of_what_is_the_same() -> None:
    made = trace(model(user("Hi"), text="Hello", requested_model="m", usage=Usage(input=3, output=1)))
    assert notes(made, made) == ()


def test_it_tells_models_calls_tokens_and_errors() -> None:
    before = trace(model(user("Hi"), text="Hello", requested_model="m-1", usage=Usage(input=3, output=1)))
    now = trace(
        model(user("Hi"), text=None, requested_model="m-2", error="overloaded", complete=False),
        model(user("Hi"), text="Hello", requested_model="m-2", usage=Usage(input=4, output=1)),
    )
    assert [note.message for note in notes(before, now)] == [
        "models: m-1 in the recording, m-2 now",
        "model calls: 1 in the recording, 2 now",
        "tokens: 3 input, 1 output in the recording, 4 input, 1 output now",
        "errors: 0 in the recording, 1 now",
    ]


def test_it_says_nothing_of_tokens_that_nobody_counted() -> None:
    before = trace(model(user("Hi"), text="Hello", usage=Usage(input=3, output=1)))
    now = trace(model(user("Hi"), text="Hello"))
    assert notes(before, now) == ()
