from __future__ import annotations

import io
import subprocess
import sys

from rich.console import Console

from wiretape.oracles.gate import Judged, Problem, decide
from wiretape.oracles.reports import REPORTS, console


def printed(decision, **options) -> str:
    out = io.StringIO()
    console.render(decision, Console(**{"file": out, "width": 40} | options))
    return out.getvalue()


def test_it_says_what_broke(mixed):
    assert printed(mixed) == (
        "passed  hello  Says hello  (1 of 2 oracles skipped)\n"
        "skipped docker  (there is no docker here)\n"
        "failed  refund  Refunds one item\n"
        "  r/refund.db, risk high\n"
        "  tool-called: refund was not called (steps 2, 5)\n"
        "    called were get_order\n"
        "  tool-not-called: skipped: shell was not called, but tools were not observed\n"
        "error   broken\n"
        "  r/broken.db, risk high\n"
        "  r/broken.db is damaged\n"
        "failed  bare\n"
        "  r/bare.db, risk low\n"
        "  no oracle judges it: give its scenario at least one, or allow it with --allow-unasserted\n"
        "gate failed  5 recordings: 1 passed, 2 failed, 1 skipped, 1 error\n"
    )


def test_it_prints_the_same_text_as_the_table(mixed):
    assert REPORTS["console"](mixed) == printed(mixed)


def test_it_says_why_a_failure_does_not_count(low):
    lines = printed(low).splitlines()
    assert lines[-1] == "gate passed  1 recording: 1 failed below --fail-on high"


def test_it_says_why_it_is_red_where_no_recording_does(nothing):
    assert printed(nothing) == "gate failed  0 recordings; there was nothing to check\n"


def test_it_stays_readable_however_much_broke(many):
    text = printed(many(12))
    assert "and 22 more passed or skipped\n" in text
    assert "\nand 4 more failed\n" in text
    assert "\n  and 8 more verdicts\n" in text
    assert "\n    and 8 more pieces of evidence\n" in text
    assert " (steps 1, 2, 3, 4, 5, 6, …)\n" in text


def test_it_says_more_of_each_the_fewer_broke(many):
    shown = {number: printed(many(number)).count("refund was not called") / number for number in (1, 2, 3, 5)}
    assert shown == {1: 6, 2: 6, 3: 3, 5: 1}
    assert printed(many(1)).count("piece 3") == 6


def test_it_puts_broken_recordings_last_where_the_eye_is(many):
    lines = printed(many(12)).splitlines()
    assert lines[0].startswith("passed")
    assert lines[-1] == "gate failed  42 recordings: 30 passed, 12 failed"


def test_it_has_colour_only_where_the_console_has(mixed):
    assert "\x1b[" in printed(mixed, force_terminal=True, color_system="standard")
    assert "\x1b[" not in printed(mixed)


def test_it_obeys_nothing_that_a_recording_says(hostile):
    text = "[bold]x[/] [link=file:///]y[/link] :boom: \x1b]0;owned\x07\x9b2J\r\n\u202e\ud800"
    lines = printed(hostile(text)).splitlines()
    shown = "[bold]x[/] [link=file:///]y[/link] :boom: \\x1b]0;owned\\x07\\x9b2J\\r\\n\\u202e\\ud800"
    assert f"    {shown}" in lines
    assert not any(char in line for line in lines for char in "\x1b\x07\x9b\r\u202e\ud800")


def test_it_writes_to_a_stream_that_knows_no_unicode(hostile):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console.render(hostile("猫"), Console(file=stream))
    stream.flush()
    assert b"\\u732b" in raw.getvalue()


def test_it_does_not_load_rich_until_it_prints():
    code = "import sys, wiretape.oracles.reports as r; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_it_gives_each_of_several_faults_a_line():
    broken = Judged(name="a", path="a.db", problem=Problem(message="a.yaml:3: first\na.yaml:4: second", exit_code=2))
    assert console.text(decide([broken])).splitlines()[2:4] == ["  a.yaml:3: first", "  a.yaml:4: second"]
