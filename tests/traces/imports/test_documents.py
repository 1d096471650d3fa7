from __future__ import annotations

import time

import pytest

from wiretape.traces.errors import InvalidFile, StoreError
from wiretape.traces.imports.documents import MAX_DEPTH, read_json, read_yaml

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def problem(text: str | bytes) -> InvalidFile:
    with pytest.raises(InvalidFile) as caught:
        read_yaml(text if isinstance(text, bytes) else text.encode(), "c.yaml")
    return caught.value


def test_it_reads_values_as_yaml_writes_them() -> None:
    text = "a: 1\nb: [x, '1', 1.5, true, null, ~, 2024-01-01]\nc:\n  d: |\n    x\n    y\n  1: \"caf\\xE9 \\ud83d\\ude00\"\n"
    assert read_yaml(text.encode(), "c.yaml") == {
        "a": 1,
        "b": ["x", "1", 1.5, True, None, None, "2024-01-01"],
        "c": {"d": "x\ny\n", "1": "café \U0001f600"},
    }


def test_it_reads_binary_as_bytes_and_nothing_else_by_a_tag() -> None:
    assert read_yaml(b"a: !!binary |\n  AP8B\nb: !binary AAA=\nc: !!str 5\nd: !!int 5\n", "c.yaml") == {
        "a": b"\0\xff\1",
        "b": b"\0\0",
        "c": "5",
        "d": 5,
    }
    assert "base64" in str(problem("a: !!binary '***'"))


@pytest.mark.parametrize(
    ("text", "tag", "line"),
    [
        ("x: 1\na: !!python/object:vcr.request.Request\n  b: 1\n", "!!python/object:vcr.request.Request", 2),
        ("a:\n- !!python/object/apply:os.system ['true']\n", "!!python/object/apply:os.system", 2),
        ("a: !!python/tuple [1]\n", "!!python/tuple", 1),
        ("--- !ruby/struct:VCR::HTTPInteraction\na: 1\n", "!ruby/struct:VCR::HTTPInteraction", 1),
        ("a: !!python/unicode 'x'\n", "!!python/unicode", 1),
    ],
)
def test_it_refuses_what_would_construct_an_object_with_its_line(text: str, tag: str, line: int) -> None:
    found = problem(text)
    assert tag in str(found)
    assert "construct" in str(found)
    assert found.line == line


def test_it_follows_aliases_up_to_a_bound() -> None:
    assert read_yaml(b"a: &x [1, {b: 2}]\nc: *x\nd: &y 5\ne: *y\n", "c.yaml") == {
        "a": [1, {"b": 2}],
        "c": [1, {"b": 2}],
        "d": 5,
        "e": 5,
    }
    began = time.monotonic()
    assert "values" in str(problem(BOMB))
    assert time.monotonic() - began < 5
    assert "alias" in str(problem("a: &a [*a]"))


@pytest.mark.parametrize("opened", ["- ", "a: {b: ", "a: ["])
def test_it_refuses_what_is_nested_too_deep(opened: str) -> None:
    depth = MAX_DEPTH + 1
    text = opened * depth if opened == "- " else "x: " + opened[3:] * depth
    assert "deep" in str(problem(text))


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n---\nb: 2\n",
        "a: 1\na: 2\n",
        "? [a]\n: 1\n",
        "a: .nan\n",
        "a: 'x' y\n",
        "a:\tb\n",
        b"a: \xff\n",
        b"\0\1\2",
        'a: "\\ud800"\n',
    ],
)
def test_it_refuses_other_faults_with_a_sentence(text: str | bytes) -> None:
    assert str(problem(text)).startswith("c.yaml")


@pytest.mark.parametrize("text", ['a: "x', "a: [1, 2", "a: {b: 1", "a: 'x\n\n  y"])
def test_it_calls_a_file_that_ends_in_its_middle_damaged(text: str) -> None:
    with pytest.raises(StoreError, match="ends in its middle"):
        read_yaml(text.encode(), "c.yaml")


@pytest.mark.parametrize("cut", range(1, 38))
def test_it_calls_json_that_ends_anywhere_in_its_middle_damaged(cut: int) -> None:
    whole = b'{"log": {"x": [1, true, "a\\u00e9]}"]}}'
    assert read_json(whole, "a.har") == {"log": {"x": [1, True, "aé]}"]}}
    with pytest.raises(StoreError, match="ends in its middle"):
        read_json(whole[:cut], "a.har")


@pytest.mark.parametrize("data", [b"not json", b"{]}", b"\xff\xfe\xff", b"[" * 200_000, b"[1] x", b"1" * 5000])
def test_it_refuses_what_is_no_json(data: bytes) -> None:
    with pytest.raises((InvalidFile, StoreError)) as caught:
        read_json(data, "a.har")
    assert str(caught.value).startswith("a.har")
