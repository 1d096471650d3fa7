"""What holds of every oracle, whatever a scenario says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wiretape.oracles import ORACLES, OracleUse, judge

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["tool", "tools", "args", "times", "case", "limit", "value", "on", "approval", "x"]


@pytest.fixture
def eventful(trace, model, call, result, asked, decided, answer):
    """A trace with a step of most kinds, its arguments and names odd."""
    schema = {"type": "object", "properties": {"n": {"pattern": "^(a+)+$"}}}
    return trace(
        model({"": schema, "run": schema}, error="x"),
        call("", {"n": "a" * 50}, by=1, call_id="c1"),
        call("mcp____run", ["\ud800"], by=1, state="executed", executed_in=2),
        asked(""),
        decided(None, approved=False, call_id="c1"),
        result(None, {"deep": [None, "\ud800"]}, is_error=True),
        answer("\ud800"),
        tools="partial",
    )


@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parameters=st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
def test_it_always_gives_a_verdict_and_never_breaks(name, eventful, parameters):
    said = judge(eventful, OracleUse(oracle=name, parameters=parameters))
    assert said.oracle == name
    assert "bug of wiretape" not in said.message


@pytest.mark.parametrize("name", ORACLES)
def test_it_says_the_same_twice(name, eventful):
    known = {"tool": "run", "limit": 1, "value": "x"}
    parameters = {key: value for key, value in known.items() if key in ORACLES[name].parameters.model_fields}
    use = OracleUse(oracle=name, parameters=parameters)
    assert judge(eventful, use) == judge(eventful, use)
