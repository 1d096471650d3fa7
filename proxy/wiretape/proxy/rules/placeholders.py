"""Placeholders in the strings of an answer: `{{args.x}} {{query.x}} {{now}} {{today}} {{uuid}} {{run}}`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random
from uuid import UUID

from wiretape.proxy.rules.conditions import ABSENT, at_path
from wiretape.proxy.rules.subject import Subject
from wiretape.traces.types import Json

__all__ = ["PLACEHOLDERS", "Setting", "fill", "unknown"]

_MARK = re.compile(r"\{\{\s*([a-z]+)(?:\.([^{}\s]+))?\s*\}\}")


@dataclass(frozen=True, slots=True)
class Setting:
    """What placeholders are filled from."""

    subject: Subject
    now: datetime
    chance: Random
    """Seeded: a run repeats itself."""
    run: str


PLACEHOLDERS: Mapping[str, Callable[[Setting, str], Json]] = {
    "args": lambda setting, path: at_path(setting.subject.args, path),
    "query": lambda setting, name: setting.subject.query.get(name, ABSENT),
    "now": lambda setting, _: setting.now.isoformat(timespec="seconds").replace("+00:00", "Z"),
    "today": lambda setting, _: setting.now.date().isoformat(),
    "uuid": lambda setting, _: str(UUID(int=setting.chance.getrandbits(128), version=4)),
    "run": lambda setting, _: setting.run,
}


def fill(value: Json, setting: Setting) -> Json:
    """A string that is one placeholder keeps the JSON type of what it stands for; what is absent is null, in text nothing."""
    if isinstance(value, Mapping):
        return {key: fill(each, setting) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [fill(each, setting) for each in value]
    if not isinstance(value, str):
        return value
    if whole := _MARK.fullmatch(value):
        found = _meant(whole, setting)
        return None if found is ABSENT else found
    return _MARK.sub(lambda mark: _text(_meant(mark, setting)), value)


def unknown(value: Json) -> Iterator[str]:
    """Placeholders that there are none of."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from unknown(each)
    elif isinstance(value, str):
        yield from (mark[0] for mark in _MARK.finditer(value) if mark[1] not in PLACEHOLDERS)


def _meant(mark: re.Match[str], setting: Setting) -> Json:
    return PLACEHOLDERS[mark[1]](setting, mark[2] or "")


def _text(value: Json) -> str:
    if value is ABSENT:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
