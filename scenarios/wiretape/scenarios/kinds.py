"""Kinds of settings: what a value must be, and how a variable's one text becomes it.

A kind reads what TOML or the command line gives and raises ValueError, which says what was expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from wiretape.scenarios.fields import pace
from wiretape.scenarios.parts import Redaction, VolatileField
from wiretape.traces.parts import Part
from wiretape.traces.sentences import complaints, described
from wiretape.traces.settings import ConnectTo, Price, RedactRule, Volatile
from wiretape.traces.tree import join
from wiretape.traces.types import Json

__all__ = [
    "CONNECTS",
    "ENVIRONMENTS",
    "FUNCTIONS",
    "HOSTS",
    "LABELS",
    "PACE",
    "PORT",
    "PRICES",
    "REDACTIONS",
    "SWITCH",
    "TEXT",
    "UPSTREAMS",
    "VOLATILES",
    "Environment",
    "Kind",
    "choice",
]


@dataclass(frozen=True, slots=True)
class Kind:
    form: str
    """How it is written in wiretape.toml, for the docs."""
    read: Callable[[Any], Any]
    from_text: Callable[[str], Json] = lambda text: text
    """What a variable says, as TOML would give it."""


class Environment(Part):
    """A place where scenarios run, as `environment` of a scenario names it."""

    mocks: bool = True
    """False: scenarios with mocks are refused there."""


def choice(*words: str) -> Kind:
    def read(value: Json) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}, got {_got(value)}")
        return str(value)

    return Kind(f"one of {', '.join(words)}", read)


def _got(value: Json) -> str:
    known = value is None or isinstance(value, str | int | float | list | Mapping)
    return described(value) if known else f"a {type(value).__name__}"


def _text(value: Json) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected text, got {_got(value)}")
    return value


def _switch(value: Json) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {_got(value)}")
    return value


def _switch_word(text: str) -> Json:
    words = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
    return words.get(text.lower(), text)


def _port(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 65535:
        raise ValueError(f"expected a port from 0 to 65535, got {_got(value)}")
    return value


def _port_word(text: str) -> Json:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def _pace(value: Json) -> float:
    try:
        return pace(_number_word(value) if isinstance(value, str) else value)
    except ValueError as error:
        raise ValueError(f"{error}, got {_got(value)}") from None


def _number_word(text: str) -> Json:
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else text


def _texts(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) and each for each in value):
        raise ValueError(f"expected a list of texts, got {_got(value)}")
    return tuple(value)


def _commas(text: str) -> Json:
    return [part.strip() for part in text.split(",") if part.strip()]


def _pairs(value: Json) -> dict[str, str]:
    """A table of texts, or `NAME=VALUE` words."""
    if isinstance(value, Mapping):
        if not all(isinstance(each, str) and each for each in value.values()):
            raise ValueError("expected a table of texts")
        return dict(value)
    made: dict[str, str] = {}
    for word in _texts(value):
        name, _, given = word.partition("=")
        if not name or not given:
            raise ValueError(f"expected NAME=VALUE, got {_got(word)}")
        made[name] = given
    return made


_ADDRESS = r"(\[[^\[\]]*\]|[^:\[\]]*):([0-9]{0,5})"


def _connects(value: Json) -> tuple[ConnectTo, ...]:
    """As curl's --connect-to; an empty part means any host or port, respectively the one that was asked for."""
    return tuple(map(_connect, _texts(value)))


def _connect(text: str) -> ConnectTo:
    found = re.fullmatch(f"{_ADDRESS}:{_ADDRESS}", text)
    if not found:
        raise ValueError(f"expected HOST:PORT:ADDRESS:PORT, IPv6 in brackets, got {_got(text)}")
    host, port, address, connect_port = (part.strip("[]") for part in found.groups())
    return ConnectTo(
        host=host,
        port=int(port) if port else None,
        address=address,
        connect_port=int(connect_port) if connect_port else None,
    )


class _Redactions(Part):
    given: tuple[Redaction, ...]


class _Volatiles(Part):
    given: tuple[VolatileField, ...]


class _Environments(Part):
    given: dict[str, Environment]


class _Prices(Part):
    given: dict[str, Price]


class _Functions(Part):
    given: dict[str, str]


def _given[M: Part](model: type[M]) -> Callable[[Json], M]:
    def read(value: Json) -> M:
        whole = {"given": value}
        try:
            return model.model_validate_json(json.dumps(whole, default=str))
        except ValidationError as error:
            found = [(join(misfit.place[1:]), misfit.problem) for misfit in complaints(model, whole, error)]
            raise ValueError("; ".join(f"{place}: {problem}" if place else problem for place, problem in found)) from None

    return read


def _redactions(value: Json) -> tuple[RedactRule, ...]:
    return tuple(each.rule() for each in _given(_Redactions)(value).given)


def _volatiles(value: Json) -> tuple[Volatile, ...]:
    return tuple(each.volatile() for each in _given(_Volatiles)(value).given)


TEXT = Kind("text", _text)
SWITCH = Kind("true or false", _switch, _switch_word)
PORT = Kind("number", _port, _port_word)
PACE = Kind("instant, recorded or a number", _pace)
HOSTS = Kind("list of texts", _texts, _commas)
CONNECTS = Kind("list of texts", _connects, _commas)
UPSTREAMS = Kind("table of texts", _pairs, _commas)
LABELS = Kind("table of texts", _pairs, _commas)
REDACTIONS = Kind("list of tables", _redactions)
VOLATILES = Kind("list of tables", _volatiles)
ENVIRONMENTS = Kind("table of tables", lambda value: _given(_Environments)(value).given)
PRICES = Kind("table of tables", lambda value: _given(_Prices)(value).given)
FUNCTIONS = Kind("table of texts", lambda value: _given(_Functions)(value).given)
