from __future__ import annotations

import pytest

from wiretape.oracles.reports.escape import terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain (ä, 猫) [bold]", "plain (ä, 猫) [bold]"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\u202etxt.exe\u2066", "\\u202etxt.exe\\u2066"),
        ("a\u2028b\u200b", "a\\u2028b\\u200b"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("1\xa0000", "1 000"),
        ("", ""),
    ],
)
def test_it_shows_what_a_terminal_would_obey(text, shown):
    assert terminal(text) == shown


def test_it_cuts_what_is_long():
    assert terminal("x" * 50, limit=10) == "x" * 9 + "…"
