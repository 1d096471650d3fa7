"""The settings of one command: its flags, then WIRETAPE_* variables, then wiretape.toml in the working directory.

A key or a variable that is no setting is refused with the nearest one that is: a typo must not mean the default. Each value
knows where it came from, for `replay doctor`. A list replaces the one below it and is not added to it. What a scenario says
about matching lies between the file and the variables.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from wiretape.scenarios.files import read_text
from wiretape.scenarios.kinds import Environment
from wiretape.scenarios.model import Scenario
from wiretape.scenarios.settings import BY_KEY, BY_NAME, BY_VARIABLE, OWN_VARIABLES, SETTINGS, TABLES, Setting
from wiretape.scenarios.tree import gathered
from wiretape.traces.errors import InvalidFile, UsageError
from wiretape.traces.settings import CaptureSettings, MatchSettings, RedactSettings
from wiretape.traces.settings import Level as MatchLevel
from wiretape.traces.types import Json

__all__ = ["FILE", "Config", "Effective", "load_config"]

FILE = "wiretape.toml"

type Level = Literal["default", "file", "variable", "flag"]


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting's value in force."""

    setting: Setting
    value: Any
    level: Level = "default"
    origin: str = "default"
    """`--pace`, `WIRETAPE_PACE`, `wiretape.toml:3` or `default`."""

    def __str__(self) -> str:
        """For `doctor`: passwords in addresses are not shown."""
        value = json.dumps(self.value, ensure_ascii=False, default=lambda part: part.model_dump(exclude_none=True))
        return re.sub(r"(//[^/@\s:]*):[^/@\s]*@", r"\1:…@", f"{self.setting.name} = {value} ({self.origin})")


class Config:
    """`config["pace"]` is a value; `effective()` has all of them with their origins."""

    def __init__(self, given: Mapping[str, Effective]) -> None:
        self._effective = {setting.name: given.get(setting.name, Effective(setting, setting.default)) for setting in SETTINGS}

    def __getitem__(self, name: str) -> Any:
        return self._effective[name].value

    def effective(self) -> tuple[Effective, ...]:
        return tuple(self._effective.values())

    def match_settings(self, scenario: Scenario | None = None) -> MatchSettings:
        """Raises UsageError where the level `sequence` is asked for without `allow_drift`."""
        names = {field: "match" if field == "level" else field for field in MatchSettings.model_fields}
        settings = MatchSettings(**{field: self[name] for field, name in names.items()})
        if scenario:
            now = [field for field, name in names.items() if self._effective[name].level in ("variable", "flag")]
            settings = scenario.match_settings(settings).model_copy(update={field: getattr(settings, field) for field in now})
        if settings.level is MatchLevel.SEQUENCE and not settings.allow_drift:
            raise UsageError("the match level `sequence` answers changed requests, so it needs --allow-drift as well")
        return settings

    def capture_settings(self, scenario: Scenario | None = None) -> CaptureSettings:
        settings = CaptureSettings(
            ignore=self["ignore"],
            noise=self["noise"],
            upstreams=self["upstream"],
            connect_to=self["connect_to"],
            upstream_ca=self["upstream_ca"],
            insecure_upstreams=self["insecure_upstream"],
            allow_hosts=self["allow_host"],
            deny_hosts=self["deny_host"],
        )
        return scenario.capture_settings(settings) if scenario else settings

    def redact_settings(self, scenario: Scenario | None = None) -> RedactSettings:
        settings = RedactSettings(mode=self["redact"], rules=self["redact_rules"])
        return scenario.redact_settings(settings) if scenario else settings

    def environment_of(self, scenario: Scenario) -> Environment:
        """Raises UsageError where the scenario names an unknown one, or brings mocks to one that refuses them."""
        known: Mapping[str, Environment] = self["environment"]
        name = scenario.environment
        if name is None:
            return Environment()
        if name not in known:
            raise UsageError(f"{scenario.id}: there is no environment {name!r} in {FILE}; {_hint(name, known)}")
        if scenario.mocks and not known[name].mocks:
            raise UsageError(f"{scenario.id}: the environment {name!r} refuses mocks; take them out, or run it elsewhere")
        return known[name]


def load_config(
    folder: Path = Path(), environment: Mapping[str, str] | None = None, flags: Mapping[str, Json] | None = None
) -> Config:
    """`flags`: what the command line gave, by parameter name; None and empty lists are not given, other options ignored.

    Raises InvalidFile with every fault of the file, else UsageError with every other one.
    """
    given = dict(_from_file(folder / FILE)) if (folder / FILE).exists() else {}
    problems: list[str] = []
    given |= _read_all(_variables(environment or {}, problems), "variable", problems)
    given |= _read_all(_flags(flags or {}), "flag", problems)
    if problems:
        raise UsageError("\n".join(problems))
    return Config(given)


# ---------------------------------------------------------------- variables and flags


def _variables(environment: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, Setting, Json]]:
    """An empty variable is one that is not set: CI systems cannot say it otherwise."""
    for name, text in environment.items():
        if not name.startswith("WIRETAPE_") or name in OWN_VARIABLES or not text:
            continue
        if name in BY_VARIABLE:
            yield name, BY_VARIABLE[name], BY_VARIABLE[name].kind.from_text(text)
        else:
            bare = {variable.removeprefix("WIRETAPE_"): setting for variable, setting in BY_VARIABLE.items()}
            problems.append(f"{name}: there is no such setting; {_hint(name.removeprefix('WIRETAPE_'), bare, 'WIRETAPE_')}")


def _flags(flags: Mapping[str, Json]) -> Iterator[tuple[str, Setting, Json]]:
    for name, value in flags.items():
        setting = BY_NAME.get(name)
        if setting and setting.option and value is not None and value not in ([], ()):
            yield setting.option, setting, value


def _read_all(found: Iterator[tuple[str, Setting, Json]], level: Level, problems: list[str]) -> dict[str, Effective]:
    made: dict[str, Effective] = {}
    for origin, setting, value in found:
        try:
            made[setting.name] = Effective(setting, setting.kind.read(value), level, origin)
        except ValueError as error:
            problems.append(f"{origin}: {error}")
    return made


def _hint(name: str, known: Mapping[str, object], prefix: str = "") -> str:
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {prefix}{near[0]}?"
    few = len(known) <= 12
    return f"known are {', '.join(sorted(known)) or 'none'}" if few else "`replay doctor` lists those that there are"


# ---------------------------------------------------------------- the file


def _from_file(path: Path) -> Iterator[tuple[str, Effective]]:
    text = read_text(path)
    lines = _Lines(text)
    faults: list[InvalidFile] = []
    said: dict[str, str] = {}
    for key, value in _entries(_parsed(text, path)):
        try:
            setting = _setting(key, said)
            effective = Effective(setting, setting.kind.read(value), "file", f"{FILE}:{lines.of(key)}")
        except ValueError as error:
            faults.append(InvalidFile(str(path), str(error), line=lines.of(key), field=key))
        else:
            yield setting.name, effective
    if faults:
        raise gathered(faults)


def _parsed(text: str, path: Path) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", place)
        last = text.count("\n") + 1
        raise InvalidFile(str(path), f"this is not TOML: {problem}", line=int(line[1]) if line else last) from None
    except RecursionError:
        raise InvalidFile(str(path), "this is nested too deep") from None


def _entries(parsed: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, value in parsed.items():
        if name in TABLES and isinstance(value, Mapping):
            yield from ((f"{name}.{key}", each) for key, each in value.items())
        else:
            yield name, value


def _setting(key: str, said: dict[str, str]) -> Setting:
    """Raises ValueError where there is none of that key, or it was said under another key before."""
    setting = BY_KEY.get(key)
    if setting is None:
        raise ValueError(f"there is no such setting; {_hint(key, _siblings(key))}")
    first = said.setdefault(setting.name, key)
    if first != key:
        raise ValueError(f"this is said twice, as `{first}` too; keep one of them")
    return setting


def _siblings(key: str) -> Mapping[str, Setting]:
    """The keys that may have been meant: any that is near, else those of its table."""
    if get_close_matches(key, BY_KEY, n=1):
        return BY_KEY
    table = key.partition(".")[0] + "." if "." in key else ""
    return {each: setting for each, setting in BY_KEY.items() if each.startswith(table) and (table or "." not in each)}


class _Lines:
    """Where keys stand: tomllib does not say. A key inside a multi-line text is taken for one, which misleads nobody much."""

    _NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
    _KEY = re.compile(rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
    _TABLE = re.compile(rf"\s*\[\[?\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*\]")

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        table = ""
        for number, line in enumerate(text.splitlines(), 1):
            if header := self._TABLE.match(line):
                table = self._plain(header[1]) + "."
                self._lines.setdefault(table[:-1], number)
            elif key := self._KEY.match(line):
                self._lines.setdefault(table + self._plain(key[1]), number)

    @staticmethod
    def _plain(key: str) -> str:
        return ".".join(part.strip().strip("\"'") for part in key.split("."))

    def of(self, key: str) -> int:
        parts = key.split(".")
        prefixes = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
        below = (line for name, line in self._lines.items() if name.startswith(f"{key}."))
        return next((self._lines[prefix] for prefix in prefixes if prefix in self._lines), min(below, default=1))
