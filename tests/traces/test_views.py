from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.views import View, meant, open_escape, unescaped, views


@given(st.text())
def test_it_says_what_the_inside_of_a_json_string_means(text: str) -> None:
    inside = json.dumps(text)[1:-1].encode()
    assert meant(inside) == text.encode("utf-8", "surrogatepass")


@given(st.text(min_size=1), st.data())
def test_it_knows_where_each_part_is_written(text: str, data: st.DataObject) -> None:
    source = json.dumps(json.dumps(text)[1:-1])[1:-1].encode()
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, second = (len(text[:at].encode("utf-8", "surrogatepass")) for at in (start, end))
    once = unescaped(View(source)) or View(source)
    twice = unescaped(once) or once
    place = slice(*twice.written(first, second))
    assert meant(meant(source[place])) == text[start:end].encode("utf-8", "surrogatepass")


def test_layers_end_where_nothing_is_escaped() -> None:
    assert [view.text for view in views(b"plain")] == [b"plain"]
    assert [view.text for view in views(rb"a\u0062 %63")] == [rb"a\u0062 %63", rb"a\u0062 c", b"ab %63", b"ab c"]


CUT = [
    (b"abc", 3),
    (b"ab\\", 2),
    (rb"ab\u00", 2),
    (rb"ab\ud83d", 2),
    (rb"ab\ud83d\ud", 2),
    (b"ab%4", 2),
    (rb"ab\n", 4),
    (b"ab\\\\", 4),
    (b"ab\\\\\\", 4),
    (rb"ab\\u00", 7),
]


@pytest.mark.parametrize(("text", "at"), CUT)
def test_an_escape_that_is_cut_off_is_open(text: bytes, at: int) -> None:
    assert open_escape(text) == at
