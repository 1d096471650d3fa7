from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wiretape.traces.errors import InvalidFile
from wiretape.traces.tree import MAX_BYTES, MAX_DEPTH, Tree, join, parse

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def outcome(text: str) -> Tree | InvalidFile:
    try:
        return parse(text, "a.yaml", "wiretape: 1")
    except InvalidFile as fault:
        return fault


def refusal(text: str) -> InvalidFile:
    with pytest.raises(InvalidFile) as caught:
        parse(text, "a.yaml", "wiretape: 1")
    return caught.value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1), ("-7", -7), ("007", 7), ("0x1f", 31), ("0o17", 15), ("1.50", 1.5), ("1e3", 1000.0), (".5", 0.5),
        ("true", True), ("False", False), ("yes", "yes"), ("off", "off"), ("null", None), ("~", None), ("", None),
        ("2024-01-01", "2024-01-01"), ("1_000", "1_000"), ("12:30:45", "12:30:45"), ("'5'", "5"), ('"true"', "true"),
        ("1.2.3", "1.2.3"), ("!!str 5", "5"), ("a b", "a b"), ("[1, [a]]", [1, ["a"]]), ("{b: {c: d}}", {"b": {"c": "d"}}),
    ],
)  # fmt: skip
def test_it_reads_plain_values_by_the_core_schema(written, value):
    assert parse(f"a: {written}", "a.yaml", "wiretape: 1").value == {"a": value}


def test_it_takes_every_key_as_the_text_that_was_written():
    assert parse("1.4: a\ntrue: b\n2024-01-01: c\n~: d", "a.yaml", "wiretape: 1").value == {
        "1.4": "a",
        "true": "b",
        "2024-01-01": "c",
        "~": "d",
    }


def test_it_knows_the_line_of_every_key_and_list_entry():
    tree = parse("a: 1\n\nb:\n  - x\n  - c:\n      d: |\n        text\n", "a.yaml", "wiretape: 1")
    assert [tree.line(place) for place in [(), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c", "d")]] == [1, 1, 3, 4, 5, 6]


def test_it_gives_the_line_of_what_is_around_a_field_that_is_not_there():
    assert parse("a: 1\nb:\n  c: 2\n", "a.yaml", "wiretape: 1").line(("b", "missing", 3)) == 2


def test_it_merges_defaults_below_what_a_mapping_says_itself():
    assert parse("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {<<: [*x, {c: 4}]}", "a.yaml", "wiretape: 1").value == {
        "x": {"a": 1, "b": 2},
        "y": {"a": 1, "b": 3},
        "z": {"a": 1, "b": 2, "c": 4},
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=10), json_values, max_size=4), st.sampled_from([None, 1, "\t"]), st.booleans())
@example({"a": "😀 \u2028 \x7f"}, None, True)
@example({"a\x85b": "x\u2029y"}, None, False)
@example({"a": "\ufeff", "b": {"": []}}, "\t", True)
def test_it_reads_json_as_json_does(value, indent, ascii_only):
    read = outcome(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    if ascii_only or isinstance(read, Tree):
        assert isinstance(read, Tree), read
        assert read.value == value
    else:  # YAML takes no raw control characters, and JSON need not write them raw
        assert "control character" in str(read) or "not YAML" in str(read)


@given(st.text(max_size=200))
def test_it_survives_any_text(text):
    assert isinstance(outcome(text), Tree | InvalidFile)


@given(st.text(alphabet="{}[]:-,&*a1?|>!'\"#%@` \n\t<", max_size=60))
def test_it_survives_any_structure(text):
    assert isinstance(outcome(text), Tree | InvalidFile)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty; expected a mapping that begins with `wiretape: 1`"),
        ("# nothing\n\n", 1, "the file is empty"),
        ("a: 1\nb: 2\na: 3", 3, "a: the key is here twice, first on line 1"),
        ("a:\n\tb: 1", 2, "a tab stands where YAML wants spaces"),
        ("a: 1\n---\nb: 2", 2, "a second document begins here"),
        ("a: b: c", 1, "put text with a colon in quotes"),
        ("a: 1\n b: 2", 2, "a wrong indent"),
        ("a: @x", 1, "put the text in quotes"),
        ("a: [1\nb: 2", 2, "this is not YAML"),
        ("a: 'x", 1, "this is not YAML"),
        ("a: *gone", 1, "undefined alias"),
        ("a: 1\nb: \x07", 2, "a control character"),
        ("a: 1\nb: &b [*b]", 2, "repeats what it stands in, without end"),
        ("a: 1\nb: !!python/object:os.system x", 2, "b: the tag python/object:os.system is not read"),
        ("a: !mine x", 1, "a: the tag !mine is not read"),
        ("a: .nan", 1, "a: expected a number, got .nan"),
        ("a: 1\nb: -.inf", 2, "b: expected a number, got -.inf"),
        ("a: 1e999", 1, "a: expected a number, got 1e999"),
        ("a: " + "9" * 2000, 1, "a: a number of 2,000 digits"),
        ("? [a]\n: b", 1, "a key is a list or a mapping"),
        ("a: {<<: 5}", 1, "a.<<: expected a mapping to merge"),
        ("a: 1\nb: x\u2028y", 2, 'the invisible character U+2028; take it out, or write "\\u2028" in double quotes'),
        ('a: "\\ud800"', 1, "a: half a surrogate pair"),
        ('a: "\\U99999999"', None, "this is not YAML"),
    ],
)  # fmt: skip
def test_it_refuses_in_one_sentence_with_its_line(text, line, words):
    fault = refusal(text)
    assert (fault.line, fault.also) == (line, ())
    assert words in str(fault)
    assert "\n" not in str(fault)


def test_it_tells_every_fault_in_the_order_of_lines():
    fault = refusal("b: !x 1\na: 1\na: 2\nc: .nan")
    assert [(each.line, each.field) for each in (fault, *fault.also)] == [(1, "b"), (3, "a"), (4, "c")]
    assert str(fault).count("\n") == 2


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 5000, "- " * 5000, "a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)]
)
def test_it_refuses_nesting_without_recursing_into_it(text):
    assert f"nested more than {MAX_DEPTH} levels deep" in str(refusal(text))


def test_it_refuses_aliases_that_nest_too_deep():
    levels = "".join(f"x{n}: &x{n} [*x{n - 1}]\n" for n in range(1, MAX_DEPTH + 2))
    assert "levels deep" in str(refusal("x0: &x0 [1]\n" + levels))


def test_it_refuses_an_anchor_bomb_before_it_goes_off():
    assert "more than 50,000 values, aliases (`*name`) followed" in str(refusal(BOMB))


def test_it_refuses_more_than_a_megabyte():
    assert "larger than 1,000,000 bytes" in str(refusal("a: " + "x" * MAX_BYTES))


def test_it_writes_places_as_people_do():
    assert [join(()), join(("oracles", 2, "tool")), join((0, "a", 1))] == ["", "oracles[2].tool", "[0].a[1]"]
