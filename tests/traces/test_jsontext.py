from __future__ import annotations

import pytest

from wiretape.traces.errors import UsageError
from wiretape.traces.jsontext import MISSING, at, compact, read, same


def test_it_writes_one_text_for_one_value():
    assert compact({"b": [1.0, None], "a": "é"}) == '{"a":"é","b":[1,null]}'


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        ("1", 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        (None, {}, False),
        (2**70, 2**70 + 1, False),
    ],
)
def test_it_compares_as_json(one: object, other: object, equal: bool):
    assert same(one, other) is equal


def test_it_survives_what_is_nested_too_deeply():
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert compact(deep) == '"(nested too deeply to show)"'


@pytest.mark.parametrize(
    ("value", "found"),
    [('{"a": 1}', {"a": 1}), ("plain", "plain"), ({"a": 1}, {"a": 1}), ("[" * 200_000, "[" * 200_000), (None, None)],
)
def test_it_reads_json_in_texts(value: object, found: object):
    assert read(value) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", {"a": {"b": [{"c": 1}]}, "x y": 2, "n": None}),
        ("$.a.b[0].c", 1),
        ("a.b[0].c", 1),
        ("a", {"b": [{"c": 1}]}),
        ("$['a']['b'][0]", {"c": 1}),
        ('$["x y"]', 2),
        ("$.n", None),
        ("$.a.b[1]", MISSING),
        ("$.a.x", MISSING),
        ("$.n.m", MISSING),
        ("$.a[0]", MISSING),
    ],
)
def test_it_finds_what_stands_at_a_path(path: str, found: object):
    value = {"a": {"b": [{"c": 1}]}, "x y": 2, "n": None}
    assert at(value, path) == found


@pytest.mark.parametrize("path", ["", "$..a", "$.a[*]", "$.*", "$.a[?(@.b)]", "$.", "$.a["])
def test_it_refuses_a_path_of_another_form(path: str):
    with pytest.raises(UsageError, match=r"expected a path .* such as \$\.approved"):
        at({}, path)
