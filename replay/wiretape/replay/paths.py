"""Directories that belong to one run: temporary ones, homes, the working directory. Two paths are paired by these alone.

A temporary name is fresh where a program made it up, as `mktemp`, Python's `tempfile` and pytest do; `/tmp/invoices` and
`/tmp/payments` are two things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["NOWHERE", "Places", "pairings"]

_TEMPORARY = re.compile(
    r"(?P<root>(?:/private)?(?:/var)?/tmp|(?:/private)?/var/folders/[^/]+/[^/]+/T|/dev/shm|/run/user/\d+)"
    r"/(?P<name>pytest-of-[^/]+/pytest-\d+|[^/]+)"
)
_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root(?=/|$)")
_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/sbin", "/sys", "/usr")


@dataclass(frozen=True, slots=True)
class Places:
    """Where the live run is: its working directory and its home, absolute; none where that is not known."""

    directories: tuple[str, ...] = ()


NOWHERE = Places()


def pairings(recorded: str, live: str, places: Places) -> Iterator[tuple[str, str]]:
    """(recorded directory, live directory) that may stand for one another, with the same path or nothing below both."""
    for directory in sorted(places.directories, key=len, reverse=True):
        if f"{live}/".startswith(f"{directory}/") and (root := _without(recorded, live[len(directory) :].count("/"))):
            yield root, directory
    old, new = _TEMPORARY.match(recorded), _TEMPORARY.match(live)
    if old and new and _fresh(old["name"], new["name"]):
        yield old[0], new[0]
    before, after = _HOME.match(recorded), _HOME.match(live)
    if before and after:
        yield before[0], after[0]


def _without(path: str, parts: int) -> str | None:
    """The path above its last so many parts, where that may be somebody's directory."""
    root = path.rsplit("/", parts)[0] if parts else path
    return None if not root or f"{root}/".startswith(tuple(f"{each}/" for each in _SYSTEM)) else root


def _fresh(recorded: str, live: str) -> bool:
    """Whether both names were made up by one program: what they begin with before a separator is the same, the rest random."""
    if recorded.startswith("pytest-of-"):
        return live.startswith("pytest-of-")
    shared = re.match(r".*[-_.]|tmp|", _common(recorded, live))
    length = shared.end() if shared else 0
    (one, ending), (other, same) = (_parted(name[length:]) for name in (recorded, live))
    if ending != same or min(len(one), len(other)) < 3:
        return False
    if one.isdecimal() and other.isdecimal():
        return not re.fullmatch(r"(?:19|20)\d\d", one)
    made_up = [_made_up(each) for each in (one, other)]
    named = length and len(one) == len(other) >= 8
    return one.rstrip("0123456789") != other.rstrip("0123456789") and (any(made_up) if named else all(made_up))


def _common(one: str, other: str) -> str:
    same = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return one[: next(same, min(len(one), len(other)))]


def _parted(name: str) -> tuple[str, str]:
    """Name and ending."""
    stem, dot, ending = name.partition(".")
    return (stem, dot + ending) if stem else (ending, "")


def _made_up(name: str) -> bool:
    mixed = any(each.isdigit() or each == "_" for each in name) and any(each.isalpha() for each in name)
    cased = len(name) >= 6 and name != name.lower() and name != name.upper() and name != name.title()
    return (
        re.fullmatch(r"\w+", name, re.ASCII) is not None and not re.fullmatch(r"[A-Za-z]{4,}[\d_]*", name) and (mixed or cased)
    )
