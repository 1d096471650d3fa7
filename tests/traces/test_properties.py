"""What holds of every trace, whatever passed: histories, ids and names drawn from few values, so that they collide."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.traces import ask, asking, exchange, executed, handing, model, of, said, trace, user

from wiretape.traces.diff import diff
from wiretape.traces.exports.text import render
from wiretape.traces.types import End, ModelCall, ToolCall, ToolResult, Trace

IDS = st.sampled_from(["c1", "c2", "call_0", None])
TOOLS = st.sampled_from(["read", "mcp__files__read", "write"])
ARGUMENTS = st.sampled_from([{}, {"path": "a"}, {"path": None}])
CALLS = st.builds(lambda call_id, tool, arguments: ask(call_id, tool, **arguments), IDS, TOOLS, ARGUMENTS)
SAID = st.one_of(
    st.sampled_from([user("q"), user("r"), user(""), said("a")]),
    st.builds(asking, CALLS),
    st.builds(handing, IDS, st.sampled_from(["x", {"a": 1}]), tool=TOOLS | st.none(), is_error=st.booleans()),
)
MODELS = st.builds(
    lambda history, text, asked, facts: model(*history, text=text, asked=tuple(asked), **facts),
    st.lists(SAID, max_size=5),
    st.sampled_from([None, "", "a"]),
    st.lists(CALLS, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "complete": st.booleans(),
            "error": st.just("bad"),
            "response_id": st.sampled_from(["r1", "r2"]),
            "previous_id": st.sampled_from(["r1", "r2"]),
            "conversation_id": st.just("k1"),
            "system_digest": st.sampled_from(["1", "2"]),
        },
    ),
)
EXECUTIONS = st.builds(
    lambda tool, answer, arguments: executed(tool, answer, **arguments),
    st.sampled_from(["read", "write"]),
    st.sampled_from(["x", None]),
    ARGUMENTS,
)
ENDS = st.sampled_from([End.COMPLETE, End.COMPLETE, End.UPSTREAM_RESET, End.CLIENT_CLOSED, None])
SEEN = st.lists(st.tuples(st.one_of(MODELS, EXECUTIONS, st.none()), ENDS, st.sampled_from(["", "s"])), max_size=8)


def made_of(seen: list[tuple[object, End | None, str]]) -> Trace:
    pairs = [
        (exchange(seq, end=end, session=session, url="http://a.test/read"), view)
        for seq, (view, end, session) in enumerate(seen, 1)
    ]
    return trace(*pairs)  # type: ignore[arg-type]  # None stands for plain HTTP


@settings(max_examples=300, deadline=None)
@given(SEEN)
def test_a_trace_is_sound(seen: list[tuple[object, End | None, str]]):
    made = made_of(seen)
    steps = {step.seq: step for step in made.steps}
    assert list(steps) == list(range(1, len(made.steps) + 1))
    assert [step.thread for step in of(made, ModelCall)] == [place or 0 for place in _first_seen(made)]
    for call in of(made, ToolCall):
        assert call.by is None or (isinstance(steps[call.by], ModelCall) and steps[call.by].thread == call.thread)
        assert call.executed_in is None or call.state == "executed"
    turns = [step.turn for step in made.steps if step.turn is not None]
    assert turns == sorted(turns)


def _first_seen(made: Trace) -> list[int | None]:
    """The threads of the model calls, which are numbered in the order of their appearance."""
    threads = [step.thread for step in of(made, ModelCall)]
    order = list(dict.fromkeys(threads))
    return [order.index(thread) + 1 for thread in threads]


@settings(max_examples=200, deadline=None)
@given(SEEN)
def test_a_trace_behaves_like_itself_and_reads_alike(seen: list[tuple[object, End | None, str]]):
    one, other = made_of(seen), made_of(seen)
    assert diff(one, other) == ()
    assert render(one, evidence="e") == render(other, evidence="e")


@settings(max_examples=200, deadline=None)
@given(SEEN)
def test_each_execution_has_one_result_at_most(seen: list[tuple[object, End | None, str]]):
    made = made_of(seen)
    answered = sum(1 for view, *_ in seen if getattr(view, "answers", ()))
    assert sum(1 for step in of(made, ToolResult) if step.seen == "wire") == answered
