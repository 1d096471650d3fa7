"""What the fields of scenario files are made of: strict frozen parts, texts, durations, argv, entries of oracles.

Parts refuse unknown keys and convert nothing (a number is no text). They are validated as JSON is (`model_validate_json`),
where strict pydantic still takes a list for a tuple and a text for an enum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from wiretape.oracles.base import OracleUse
from wiretape.scenarios.durations import duration
from wiretape.traces.types import Json

__all__ = [
    "Argv",
    "Duration",
    "JsonPath",
    "Misfit",
    "Misfits",
    "Name",
    "OracleEntry",
    "Pace",
    "Part",
    "SchemaVersion",
    "Text",
    "cyclic",
    "one_of",
    "pace",
    "refuse",
    "repeated",
]


class Misfit(NamedTuple):
    """Fields that do not fit one another."""

    problem: str
    place: tuple[str | int, ...] = ()
    """From the value that was checked to the field to point at."""


class Misfits(ValueError):
    """What a model's validator raises: all that it found."""

    def __init__(self, found: tuple[Misfit, ...]) -> None:
        super().__init__("; ".join(misfit.problem for misfit in found))
        self.found = found


def refuse(found: Iterable[Misfit]) -> None:
    """Raises Misfits if there are any."""
    if misfits := tuple(found):
        raise Misfits(misfits)


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def pace(value: Json) -> float:
    """`instant` is 0, `recorded` 1, a number a factor of the recorded times. Raises ValueError."""
    words = {"instant": 0.0, "recorded": 1.0}
    if isinstance(value, str) and value in words:
        return words[value]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1000:
        return float(value)
    raise ValueError("expected instant, recorded, or a factor from 0 to 1000")


def _one_line(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("expected one line of text without space around it")
    return text


def _flat(entry: Json) -> Json:
    """`{oracle, risk, tool: x}` → `{oracle, risk, parameters: {tool: x}}`; pydantic refuses what is no mapping."""
    if not isinstance(entry, Mapping):
        return entry
    own = {key: value for key, value in entry.items() if key in ("oracle", "risk")}
    return own | {"parameters": {key: value for key, value in entry.items() if key not in own}}


def _words(value: Json) -> Json:
    if isinstance(value, str):
        raise ValueError("expected a list of words such as [python, agent.py], as there is no shell to split it")
    return tuple(value) if isinstance(value, list) else value  # past a function of ours strict pydantic wants its own types


def repeated(names: Iterable[str]) -> tuple[tuple[int, str], ...]:
    """(position, name) of each name that was there before, case set aside."""
    seen: set[str] = set()
    again: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        if name.casefold() in seen:
            again.append((at, name))
        seen.add(name.casefold())
    return tuple(again)


def cyclic(graph: Mapping[str, Iterable[str]]) -> str | None:
    """A name that comes before itself in `graph` (name → names after it), or None."""
    open_names = {name: set(after) & set(graph) for name, after in graph.items()}
    while leaves := [name for name, after in open_names.items() if not after]:
        for leaf in leaves:
            del open_names[leaf]
        for after in open_names.values():
            after.difference_update(leaves)
    return next(iter(open_names), None)


def one_of(given: BaseModel, *names: str) -> Iterator[Misfit]:
    """A misfit unless exactly one of the fields is there and not empty; `json` is the file's name of `json_path`."""
    found = [name for name in names if getattr(given, f"{name}_path" if name == "json" else name)]
    if len(found) != 1:
        yield Misfit(f"expected one of {', '.join(names)}; got {' and '.join(found) or 'none'}")


def _version(value: Json) -> Json:
    if value != 1 or isinstance(value, bool):
        raise ValueError("expected 1, the one version of these files that this wiretape reads")
    return value


type SchemaVersion = Annotated[Literal[1], BeforeValidator(_version)]

type Text = Annotated[str, Field(min_length=1)]

type Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]

type JsonPath = Annotated[str, Field(pattern=r"^\$")]

type Duration = Annotated[float, BeforeValidator(duration)]
"""Seconds; written as 500ms, 60s, 5m, 2h, 30d."""

type Pace = Annotated[float, BeforeValidator(pace)]

type Argv = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_words)]

type OracleEntry = Annotated[OracleUse, BeforeValidator(_flat)]
"""In YAML flat: `{oracle: tool-called, risk: low, tool: x}`. Which oracles there are and what they take, judging tells."""
