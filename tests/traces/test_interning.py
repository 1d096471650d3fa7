"""Where JSON bodies are cut: by their own bytes, and not at all where anything is unexpected."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.interning import History, split

FILL = "x" * 600


def test_it_cuts_at_the_end_of_each_element() -> None:
    body = b'{ "model":"m", "messages" : [ {"a":[1,2]} , "two",3 ] ,"tools":[{}], "z":"%s" }' % FILL.encode()
    assert split(body) == [
        b'{ "model":"m", "messages" : [',
        b' {"a":[1,2]}',
        b' , "two"',
        b",3",
        b' ] ,"tools":[',
        b"{}",
        b'], "z":"%s" }' % FILL.encode(),
    ]


def test_it_cuts_text_beyond_ascii_by_its_bytes() -> None:
    body = ('{"input":["äöü","漢字🙂","' + FILL + '"]}').encode()
    assert split(body)[1:3] == ['"äöü"'.encode(), ',"漢字🙂"'.encode()]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"messages":["short"]}',
        b'["messages","%s"]' % FILL.encode(),
        b'{"messages":"%s"}' % FILL.encode(),
        b'{"messages":[],"a":"%s"}' % FILL.encode(),
        b'{"deep":{"messages":[1]},"a":"%s"}' % FILL.encode(),
        b'{"messages":["%s"' % FILL.encode(),
        b'{"messages":["%s"]' % FILL.encode(),
        b'{"messages":["%s"],' % FILL.encode(),
        b'{"messages":["%s" "b"]}' % FILL.encode(),
        b'{"messages" ["%s"]}' % FILL.encode(),
        b'{"messages":["%s\xff"]}' % FILL.encode(),
        b'{"messages":[' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
        b"\xef\xbb\xbf" + b'{"messages":["%s"]}' % FILL.encode(),
    ],
)
def test_it_does_not_cut_what_is_no_such_json(body: bytes) -> None:
    assert split(body) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["messages", "input", "tools", "contents", "a", "b"]), st.lists(json_values) | json_values),
    st.booleans(),
    st.sampled_from([None, 1, "\t"]),
)
def test_it_joins_to_what_was_cut(value: dict[str, object], ascii_only: bool, indent: int | str | None) -> None:
    text = json.dumps({"pad": FILL, **value}, ensure_ascii=ascii_only, indent=indent)
    body = text.encode("utf-8", "surrogatepass")
    parts = split(body)
    assert not parts or b"".join(parts) == body
    wanted = any(isinstance(each, list) and each for name, each in value.items() if name not in "ab")
    assert bool(parts) is (wanted and body.decode("utf-8", "replace") == text)


@given(st.binary(max_size=200))
def test_it_is_total(data: bytes) -> None:
    body = b'{"messages":[' + data + b"]}" + FILL.encode()
    parts = split(body)
    assert not parts or b"".join(parts) == body


def test_it_knows_a_body_whose_elements_mostly_passed_before() -> None:
    history = History()
    first, second = ([b"a", b"b"], [b"long text", b"other"]), ([b"a", b"b", b"c"], [b"long text", b"other", b"new"])
    assert not history.mostly_known(*first)
    assert history.mostly_known(*second)
    assert not history.mostly_known([b"d", b"a"], [b"much longer than the one known", b"long text"])
    assert not history.mostly_known([], [])
