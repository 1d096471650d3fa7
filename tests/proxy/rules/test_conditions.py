from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.proxy.rules.conditions import ABSENT, CONDITIONS, Condition, at_path
from wiretape.proxy.rules.subject import Subject

ARGS = {
    "order": {"id": "A-1"},
    "amount": 42,
    "items": [{"sku": "x"}],
    "none": None,
    "yes": True,
    "tags": ["a", "b"],
    "big": 2**70,
}


def condition(**given):
    return Condition.model_validate_json(json.dumps({name.replace("_", "-"): value for name, value in given.items()}))


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"arg": "order.id", "equals": "A-1"}, True),
        ({"arg": "order.id", "equals": "A-2"}, False),
        ({"arg": "order", "equals": {"id": "A-1"}}, True),
        ({"arg": "amount", "equals": 42.0}, True),
        ({"arg": "big", "equals": 2**70 + 1}, False),
        ({"arg": "amount", "equals": "42"}, False),
        ({"arg": "yes", "equals": 1}, False),
        ({"arg": "none", "equals": None}, True),
        ({"arg": "gone", "equals": None}, False),
        ({"arg": "amount", "not-equals": 42}, False),
        ({"arg": "gone", "not-equals": 42}, True),
        ({"arg": "order.id", "contains": "-"}, True),
        ({"arg": "tags", "contains": "b"}, True),
        ({"arg": "tags", "contains": "c"}, False),
        ({"arg": "order", "contains": "id"}, True),
        ({"arg": "amount", "contains": "4"}, False),
        ({"arg": "items.0.sku", "starts-with": "x"}, True),
        ({"arg": "items.1.sku", "starts-with": ""}, False),
        ({"arg": "amount", "one-of": [1, 42]}, True),
        ({"arg": "amount", "one-of": [True]}, False),
        ({"arg": "none", "present": True}, True),
        ({"arg": "order.name", "present": True}, False),
        ({"arg": "none", "missing": True}, False),
        ({"arg": "order.name", "missing": True}, True),
        ({"arg": "amount", "greater": 42}, False),
        ({"arg": "amount", "at-least": 42}, True),
        ({"arg": "amount", "less": 42.5}, True),
        ({"arg": "amount", "at-most": 41}, False),
        ({"arg": "order.id", "less": 5}, False),
        ({"arg": "yes", "at-least": 0}, False),
        ({"query": "n", "greater": 9}, True),
        ({"query": "n", "equals": "10"}, True),
        ({"query": "n", "one-of": [10]}, True),
        ({"query": "gone", "missing": True}, True),
        ({"header": "x-team", "equals": "red"}, True),
    ],
)
def test_it_holds_as_the_page_says(given, holds):
    subject = Subject({}, ARGS, {"n": "10"}, (("X-Team", "red"),))
    assert Condition.model_validate_json(json.dumps(given)).holds(subject) is holds


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values, st.sampled_from([name for name in CONDITIONS if name not in ("starts-with", "one-of")]))
def test_it_never_fails_whatever_comes(found, wanted, name):
    wanted = 1 if name in ("greater", "at-least", "less", "at-most") else wanted
    assert CONDITIONS[name](found, wanted) in (True, False)
    assert CONDITIONS[name](ABSENT, wanted) in (True, False)


@given(json_values)
def test_a_value_is_present_or_missing_and_never_both(value):
    subject = Subject({}, {"x": value})
    assert condition(arg="x", present=True).holds(subject)
    assert not condition(arg="x", missing=True).holds(subject)


@given(json_values, st.text(max_size=6))
def test_it_looks_up_any_path_in_anything(value, path):
    at_path(value, path)


def test_it_tells_what_it_found():
    subject = Subject({}, {"amount": 42})
    assert condition(arg="amount", less=10).told(subject) == "arg amount less the number 10 (it is the number 42)"
    assert condition(arg="note", present=True).told(subject) == "arg note present (it is absent)"
