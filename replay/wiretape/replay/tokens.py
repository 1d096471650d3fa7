"""What varies between runs by itself: the grammar of fresh values in a text.

A token is whole (no letter or digit beside it) and typed. Ports stand in authorities alone; nothing is found inside JSON Web
Tokens, `data:` URLs and long runs of base64, since these are signed, encrypted or content. Digests have the lengths of digests
and are content too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from wiretape.replay.times import DATE, TIME, dates_in

__all__ = ["MINTED_NAMES", "SEALED", "Token", "looks_minted", "number_token", "same_shape", "text_at", "tokens"]

SEALED = frozenset(
    {
        "b64_json",
        "encrypted_content",
        "encrypted_index",
        "encrypted_stdout",
        "model",
        "modelId",
        "model_id",
        "signature",
        "thoughtSignature",
        "thought_signature",
    }
)
"""Members whose values are signed or encrypted, or, as the model, mean one thing alone: nothing in them is fresh."""

_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_NUMBERED = re.compile(r"[A-Fa-f]{4,}\d+")
"""A word with a number, by chance of those letters."""

_DIGESTS = frozenset({40, 56, 64, 96, 128})
"""Hexadecimal digits of SHA-1 and its successors: another digest means other content."""

_UUID = r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])"
_OPAQUE = (
    r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|data:[^,\s\"']{0,100};base64,[A-Za-z0-9+/=_-]*"
    r"|(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+][A-Za-z0-9+/_-]{79,}={0,2}"
)
_PATH = r"(?:(?<=file://)|(?<![A-Za-z0-9_./~:%-]))/(?:[A-Za-z0-9_.@+=~%-]+/)*[A-Za-z0-9_.@+=~%-]*[A-Za-z0-9_@+=~%-]"
_PORT = (
    r"(?:(?<=://)[A-Za-z0-9._-]+|(?<![A-Za-z0-9.-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0)|\[::1?\])"
    r":(?P<port>\d{2,5})(?![\d.:A-Za-z])"
)
_PID = r"(?<![A-Za-z])(?i:pid|ppid|process(?: id)?)[\"']?\s?[:=#]?\s?(?P<pid>\d{1,7})(?![\d.])"
_SLUG = r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9]*[_-])[A-Za-z0-9_-]{21,22}(?![A-Za-z0-9_-])"
"""What nanoid and Python's `token_urlsafe(16)` make."""
_ID = r"(?<![A-Za-z0-9])[A-Za-z0-9]{8,}(?![A-Za-z0-9])"

_GRAMMAR = re.compile(
    "|".join(
        f"(?P<{kind}>{shape})"
        for kind, shape in (
            ("opaque", _OPAQUE),
            ("time", TIME),
            ("date", DATE),
            ("uuid", _UUID),
            ("path", _PATH),
            ("authority", _PORT),
            ("process", _PID),
            ("slug", _SLUG),
            ("id", _ID),
        )
    )
)
_LIVE = {kind: re.compile(shape) for kind, shape in (("time", TIME), ("uuid", _UUID), ("path", _PATH))} | {
    kind: re.compile(r"\d+(?!\d)") for kind in ("port", "pid")
}
_INNER = {"authority": "port", "process": "pid"}
"""Kinds of which a part is the token."""

MINTED_NAMES = re.compile(r"(?:^|[_a-z])(?:[iI]d|ID)$")
"""Members whose long numbers are ids."""


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is what is bound: the text, of a date its day in ISO 8601."""

    kind: str
    """date, id, path, pid, port, time or uuid."""
    start: int
    end: int
    value: str


type Wanted = Callable[[Token], bool]


def tokens(text: str, wanted: Wanted, *, paths: bool = True) -> Iterator[Token]:
    """Those that are wanted, from left to right; inside one that is not, smaller ones are looked for."""
    at = 0
    while found := _GRAMMAR.search(text, at):
        kind, at = found.lastgroup or "", found.end()
        token = next(filter(wanted, _readings(found, kind)), None)
        if kind == "path" and not (token and paths):
            at = found.start() + 1
        elif token:
            yield token
            at = token.end
        elif kind in ("time", "date"):
            at = max(found.start() + 1, _past_digits(text, found.start()))


def _past_digits(text: str, at: int) -> int:
    while at < len(text) and text[at].isdigit():
        at += 1
    return at


def _readings(found: re.Match[str], kind: str) -> Iterator[Token]:
    if kind == "opaque":
        return
    start, end = found.span(_INNER.get(kind, kind))
    text = found.string[start:end]
    if kind in ("time", "date"):
        if kind == "time":
            yield Token("time", start, end, text)
        yield from (Token("date", start, start + length, day) for length, day in dates_in(text))
    elif kind == "slug":
        yield from ([Token("id", start, end, text)] if looks_minted(text) else [])
        inner = re.compile(_ID).finditer(found.string, start, end)
        yield from (Token("id", *each.span(), each[0]) for each in inner if looks_minted(each[0]))
    elif kind != "id" or looks_minted(text):
        yield Token(_INNER.get(kind, kind), start, end, text)


def text_at(text: str, at: int, token: Token) -> str:
    """What stands at this place of a live text in the place of a recorded token: a value of its kind, else nothing."""
    if token.kind == "date":
        return next((text[at : at + length] for length, _ in dates_in(text[at : at + 40])), "")
    shape = _LIVE.get(token.kind) or re.compile(rf"[A-Za-z0-9{_joints(token.value)}]{{{len(token.value)}}}(?![A-Za-z0-9])")
    found = shape.match(text, at)
    return found[0] if found else ""


def number_token(name: str, text: str) -> Token | None:
    """What a JSON number may be: a time, a process id or a long id by its member's name."""
    if re.fullmatch(TIME, text):
        return Token("time", 0, len(text), text)
    if name.lower() in ("pid", "ppid", "process_id", "processid"):
        return Token("pid", 0, len(text), text)
    if len(text) >= 15 and text.isdecimal() and MINTED_NAMES.search(name):
        return Token("id", 0, len(text), text)
    return None


def looks_minted(text: str) -> bool:
    """Letters and digits that no person wrote: lower hexadecimal from 8 characters on, else 16, and well mixed."""
    digits = sum(each.isdigit() for each in text)
    if digits in (0, len(text)):
        return False
    if _HEXADECIMAL.fullmatch(text):
        return len(text) not in _DIGESTS and not _NUMBERED.fullmatch(text) and (len(text) >= 16 or text == text.lower())
    return len(text) >= 16 and _mixed(text) >= (0.25 if digits >= 3 else 0.4)


def same_shape(recorded: str, live: str) -> bool:
    """Whether a minted value and another may come from one source: as long, and hexadecimal where it is."""
    alike = (
        _HEXADECIMAL.fullmatch(live) if _HEXADECIMAL.fullmatch(recorded) else _mixed(live) >= (0.4 if live.isalpha() else 0.2)
    )
    return len(recorded) == len(live) and bool(alike)


def _mixed(text: str) -> float:
    """Changes between digits, small and large letters for each character."""
    plain = text.replace("-", "").replace("_", "")
    return sum(_class(one) != _class(other) for one, other in pairwise(plain)) / max(len(plain), 1)


def _joints(text: str) -> str:
    return "" if text.isalnum() else "_-"


def _class(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.islower() else 2
