"""A command without its secrets, so that a scenario may keep it: a value that a variable holds becomes that variable, another
that looks like a secret a variable to set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce

from wiretape.traces.edits import edited, merged
from wiretape.traces.known import SHORTEST
from wiretape.traces.named import Names
from wiretape.traces.redact import Redactor
from wiretape.traces.secrets import MARK, is_secret_header, is_secret_name
from wiretape.traces.settings import RedactSettings

__all__ = ["without_secrets"]

_SHELL = re.compile(r"-[a-z]*c")
_USER_OPTIONS = ("-u", "--user", "-U", "--proxy-user")
_USER = re.compile(r"((?:-[uU]|--(?:proxy-)?user=)[^:\s]+):(.+)", re.DOTALL)
"""curl's way of giving a user and a password."""


def without_secrets(argv: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """`argv` as a scenario may keep it: secrets are `${NAME}`, and a `${` that was there already is `$${`."""
    secret = {value: name for name, value in environment.items() if _looks_secret(name) and len(value) >= SHORTEST}
    known = {value: secret[value] for value in sorted(secret, key=len, reverse=True)}
    before = ("", *argv)
    return tuple(_word(word, before[at], known) for at, word in enumerate(argv))


def _looks_secret(variable: str) -> bool:
    return is_secret_name(variable) or variable.upper().endswith(("_TOKEN", "_KEY", "_SECRET", "_PASSWORD", "_PASS"))


def _word(word: str, before: str, known: Mapping[str, str]) -> str:
    if found := [value for value in known if value in word]:
        return reduce(lambda text, value: text.replace(_escaped(value), f"${{{known[value]}}}"), found, _escaped(word))
    if _SHELL.fullmatch(before):
        return _line(word, known)
    option = before.lstrip("-") if before.startswith("-") else ""
    if option and is_secret_name(option) and not word.startswith("-"):
        return _variable(option)
    if before in _USER_OPTIONS and ":" in word:
        return f"{_escaped(word.partition(':')[0])}:${{PASSWORD}}"
    if user := _USER.fullmatch(word):
        return f"{_escaped(user[1])}:${{PASSWORD}}"
    named = re.match(r"(-{0,2}([A-Za-z][\w.-]*)(?:=|: ?))(.+)", word, re.DOTALL)
    if named and is_secret_header(named[2]) and "&" not in word:
        return _escaped(named[1]) + _variable(named[2])
    start, rest = (named[1], named[3]) if named and word.startswith("-") and not named[3].startswith("//") else ("", word)
    return _escaped(start) + re.sub(rf"[\w.-]*{MARK}\d{{4,}}", "${SECRET}", _escaped(_clean(rest)))


def _line(text: str, known: Mapping[str, str]) -> str:
    """A command for a shell: each word by itself, its quotes set aside."""
    out, before = [], ""
    for piece in re.split(r"(\s+)", _members_hidden(text)):
        left, core, right = re.fullmatch(r"(['\"]*)(.*?)(['\"]*)", piece, re.DOTALL).groups()  # type: ignore[union-attr]  # any text matches
        out.append(left + (_word(core, before, known) if core.strip() and "${" not in core else core) + right)
        before = core if core.strip() else before
    return "".join(out)


def _members_hidden(text: str) -> str:
    """Without the values of JSON members that stand anywhere in it and have secret names."""
    data = text.replace("${", "$${").encode("utf-8", "surrogateescape")
    edits = [(start, end, b"${SECRET}") for start, end, _ in Names().scan(data, final=True)[0]]
    return b"".join(edited(data, merged(edits))).decode("utf-8", "surrogateescape")


def _escaped(text: str) -> str:
    return text.replace("${", "$${")


def _clean(text: str) -> str:
    """Redacted as what it is: a URL, or a body (JSON, or a form), or a text."""
    redactor = Redactor(RedactSettings())
    if "://" in text:
        return redactor.url(text)
    data = text.encode("utf-8", "surrogateescape")
    return redactor.text(redactor.body(data, ()).decode("utf-8", "surrogateescape"))


def _variable(name: str) -> str:
    return f"${{{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper()}}}"
