from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wiretape.replay.times import Moment, dates_in, in_form_of

AT = datetime(2026, 3, 5, 14, 30, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("2026-03-05", "2026-12-24"),
        ("20260305", "20261224"),
        ("03/05/2026", "12/24/2026"),
        ("05.03.2026", "24.12.2026"),
        ("March 5, 2026", "December 24, 2026"),
        ("Mar 5, 2026", "Dec 24, 2026"),
        ("5 March 2026", "24 December 2026"),
        ("Thursday, March 5, 2026", "Thursday, December 24, 2026"),
        ("Thu 5 Mar 2026", "Thu 24 Dec 2026"),
    ],
)
def test_a_day_is_read_in_each_form_and_another_written_in_it(text: str, other: str) -> None:
    assert list(dates_in(f"{text} and so on")) == [(len(text), "2026-03-05")]
    assert in_form_of(text, "2026-12-24") == other


@pytest.mark.parametrize("text", ["2026-13-05", "99/99/2026", "tomorrow", ""])
def test_what_is_no_day_is_none(text: str) -> None:
    assert list(dates_in(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-05T14:30:20Z",
        "2026-03-05 14:31",
        "2026-03-05T15:30:20.123456+01:00",
        "20260305T143020Z",
        "14:30:21",
        str(int(AT.timestamp())),
        f"{AT.timestamp():.3f}",
        str(int(AT.timestamp() * 1000)),
        str(int(AT.timestamp()) * 10**9),
    ],
)
def test_a_time_of_the_run_is_near(text: str) -> None:
    assert Moment(AT.timestamp()).near(text)


@pytest.mark.parametrize(
    "text", ["2026-03-05T10:30:20Z", "2026-03-04 14:31", "18:30:21", "1700000000", "99:99", "2026-03-05T99:00"]
)
def test_another_time_is_not(text: str) -> None:
    assert not Moment(AT.timestamp()).near(text)
