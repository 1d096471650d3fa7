"""Dates and times as texts: which forms there are, what they stand for, and the same form of another day.

Forms: ISO 8601 (extended and basic), `11/30/2026`, `30.11.2026`, `November 30, 2026`, `30 Nov 2026`, a weekday before them;
Unix times in seconds to nanoseconds; the time of day. A time that names no zone is read in UTC and in the zone of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

__all__ = ["DATE", "TIME", "Moment", "dates_in", "in_form_of"]

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DAY = "|".join(f"{name}|{name[:3]}" for name in _DAYS)
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"

DATE = (
    r"(?<![0-9A-Za-z])(?:\d{4}-\d{2}-\d{2}|20\d{6}|\d{2}/\d{2}/20\d{2}|\d{2}\.\d{2}\.20\d{2}"
    rf"|(?:(?:{_DAY}),? )?(?:(?:{_MONTH}) \d{{1,2}}, 20\d{{2}}|\d{{1,2}} (?:{_MONTH}) 20\d{{2}}))(?![0-9A-Za-z])"
)
TIME = (
    rf"(?<![0-9A-Za-z])(?:\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?"
    r"|20\d{6}T\d{6}Z?|1\d{9}(?:\.\d{1,9}|(?:\d{3}){1,3})?)(?![0-9A-Za-z])"
    rf"|(?<![0-9A-Za-z:.]){_CLOCK}(?![0-9A-Za-z:])"
)

_NEAR = 15 * 60.0
"""Seconds around the recorded request in which a recorded time is one of that run."""

_READERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"), "{y:04}-{m:02}-{d:02}"),
    (re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)"), "{y:04}{m:02}{d:02}"),
    (re.compile(r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4})"), "{m:02}/{d:02}/{y:04}"),
    (re.compile(r"(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d{4})"), "{d:02}.{m:02}.{y:04}"),
    (re.compile(rf"(?:(?P<w>{_DAY})(?P<c>,? ))?(?P<n>{_MONTH}) (?P<d>\d\d?), (?P<y>\d{{4}})"), "{w}{c}{n} {d}, {y}"),
    (re.compile(rf"(?:(?P<w>{_DAY})(?P<c>,? ))?(?P<d>\d\d?) (?P<n>{_MONTH}) (?P<y>\d{{4}})"), "{w}{c}{d} {n} {y}"),
)


class Moment:
    """When a request was made, in seconds since the epoch, and so which dates and times are of its run."""

    def __init__(self, at: float) -> None:
        self._at = at
        made = datetime.fromtimestamp(at, UTC)
        self.days = frozenset({made.date().isoformat(), made.astimezone().date().isoformat()})

    def near(self, text: str) -> bool:
        """`text` has the form of a time."""
        return any(abs(instant - self._at) <= _NEAR for instant in self._instants(text))

    def _instants(self, text: str) -> Iterator[float]:
        try:
            if re.fullmatch(r"1\d{9}[\d.]*", text):
                yield float(text) if "." in text else int(text) / 10 ** (len(text) - 10)
            elif len(text) < 19 and ":" in text and "-" not in text:
                yield from (found for day in self.days for found in _read(f"{day}T{text.replace(',', '.')}"))
            else:
                yield from _read(text.replace(",", "."))
        except (ValueError, OverflowError):
            return


def _read(text: str) -> Iterator[float]:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        yield found.replace(tzinfo=UTC).timestamp()
    yield found.timestamp()


def dates_in(text: str) -> Iterator[tuple[int, str]]:
    """(length, day in ISO 8601) of the date that a text begins with."""
    for reader, _ in _READERS:
        if (found := reader.match(text)) and (day := _day(found)):
            yield found.end(), day.isoformat()
            return


def _day(found: re.Match[str]) -> date | None:
    parts = found.groupdict()
    try:
        month = int(parts["m"]) if "m" in parts else _month(parts["n"])
        return date(int(parts["y"]), month, int(parts["d"]))
    except ValueError:
        return None


def _month(name: str) -> int:
    return next(at for at, each in enumerate(_MONTHS, 1) if each[:3] == name[:3])


def in_form_of(text: str, iso: str) -> str:
    """Another day, written as `text` writes its own."""
    day = date.fromisoformat(iso)
    for reader, form in _READERS:
        if found := reader.fullmatch(text):
            parts = found.groupdict()
            month, week = _MONTHS[day.month - 1], _DAYS[day.weekday()]
            name = month if len(parts.get("n") or "") > 3 else month[:3]
            weekday = "" if not parts.get("w") else week if len(parts["w"]) > 3 else week[:3]
            return form.format(y=day.year, m=day.month, d=day.day, n=name, w=weekday, c=parts.get("c") or "")
    return iso
