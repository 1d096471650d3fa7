from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.proxy.rules.splice import spliced


def test_every_other_byte_stays_as_it_was():
    text = '{ "a" : [1,  {"b": "ü\\u00e9", "n": 1e2}] ,\n "a2": null}'.encode()
    assert spliced(text, [(("a", 1, "b"), "new")]) == b'{ "a" : [1,  {"b": "new", "n": 1e2}] ,\n "a2": null}'
    assert spliced(text, [(("a", 0), [2]), (("a2",), 3)]) == '{ "a" : [[2],  {"b": "ü\\u00e9", "n": 1e2}] ,\n "a2": 3}'.encode()
    assert spliced(text, [((), 1)]) == b"1"


def test_of_several_members_of_a_name_the_last_counts_as_for_parsers():
    assert spliced(b'{"a": 1, "a": 2}', [(("a",), 3)]) == b'{"a": 1, "a": 3}'


def test_it_says_that_there_is_no_such_place():
    with pytest.raises(KeyError):
        spliced(b'{"a": 1}', [(("b",), 1)])


values = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(st.dictionaries(st.text(), values, min_size=1), values, st.data(), st.sampled_from([None, 2]))
def test_it_changes_that_value_alone(whole, new, data, indent):
    key = data.draw(st.sampled_from(sorted(whole)))
    assert json.loads(spliced(json.dumps(whole, indent=indent).encode(), [((key,), new)])) == whole | {key: new}
