from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wiretape.traces.exports.escape import block, line, name, value

ANY = st.text(st.characters(codec=None))


def back(safe: str) -> str:
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), safe)


def joined(lines: list[str]) -> str:
    """The text behind a block."""
    found: list[str] = []
    for each in lines:
        if each.startswith("  + "):
            found[-1] += each[4:]
        else:
            assert each.startswith("  |")
            found.append(each[4:])
    return "\n".join(back(each) for each in found)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain é 北 🌍 \\n", "plain é 北 🌍 \\n"),
        ("a\nb\r\tc", "a\\u{a}b\\u{d}\\u{9}c"),
        ("\x1b[2J\x9b", "\\u{1b}[2J\\u{9b}"),
        ("a\u2028b\u202ec\u200bd", "a\\u{2028}b\\u{202e}c\\u{200b}d"),
        ("\ud83d", "\\u{d83d}"),
        ("\\u{41}", "\\u{5c}u{41}"),
        ("end ", "end\\u{20}"),
    ],
)
def test_it_shows_what_no_screen_should_obey(text: str, safe: str):
    assert line(text) == safe


@given(ANY)
@example("\\u{\\u{5c}")
def test_a_line_is_one_printable_line_and_leads_back(text: str):
    safe = line(text)
    assert len(safe.splitlines()) <= 1
    assert safe.encode("utf-8").decode() == safe.rstrip("\n ")
    assert back(safe) == text


@given(ANY | st.lists(st.sampled_from(["a", " ", "\x1b", "\n", "word ", "\\u{"]), max_size=300).map("".join))
def test_a_block_holds_all_of_a_text_and_nothing_at_the_margin(text: str):
    lines = list(block(text))
    assert joined(lines) == text
    assert all(len(each.splitlines()) == 1 and len(each) <= 104 for each in lines)


def test_a_long_line_goes_on_at_a_word():
    assert list(block("word " * 30 + "end")) == [f"  | {'word ' * 19}word", f"  +  {'word ' * 10}end"]


def test_an_escape_is_never_cut_in_two():
    lines = list(block("a" * 97 + "\x1b" + "b"))
    assert lines == [f"  | {'a' * 97}", "  + \\u{1b}b"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("get_order", "get_order"), ("mcp__a.b/c-d:1", "mcp__a.b/c-d:1"), ('x {"order":1}', '"x {\\"order\\":1}"'), ("", '""')],
)
def test_a_name_that_is_none_stands_in_quotes(text: str, shown: str):
    assert name(text) == shown


def test_json_stands_on_one_line():
    assert value({"b": 1, "a": "x\ny\u202e"}) == '{"a":"x\\ny\\u{202e}","b":1}'
