"""What the fields of scenario files are made of besides `traces/parts.py`: durations, argv, pace, entries of oracles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from wiretape.oracles.base import OracleUse
from wiretape.scenarios.durations import duration
from wiretape.traces.types import Json

__all__ = ["Argv", "Duration", "JsonPath", "OracleEntry", "Pace", "cyclic", "pace"]


def pace(value: Json) -> float:
    """`instant` is 0, `recorded` 1, a number a factor of the recorded times. Raises ValueError."""
    words = {"instant": 0.0, "recorded": 1.0}
    if isinstance(value, str) and value in words:
        return words[value]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1000:
        return float(value)
    raise ValueError("expected instant, recorded, or a factor from 0 to 1000")


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


def cyclic(graph: Mapping[str, Iterable[str]]) -> str | None:
    """A name that comes before itself in `graph` (name → names after it), or None."""
    open_names = {name: set(after) & set(graph) for name, after in graph.items()}
    while leaves := [name for name, after in open_names.items() if not after]:
        for leaf in leaves:
            del open_names[leaf]
        for after in open_names.values():
            after.difference_update(leaves)
    return next(iter(open_names), None)


type JsonPath = Annotated[str, Field(pattern=r"^\$")]

type Duration = Annotated[float, BeforeValidator(duration)]
"""Seconds; written as 500ms, 60s, 5m, 2h, 30d."""

type Pace = Annotated[float, BeforeValidator(pace)]

type Argv = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(_words)]

type OracleEntry = Annotated[OracleUse, BeforeValidator(_flat)]
"""In YAML flat: `{oracle: tool-called, risk: low, tool: x}`. Which oracles there are and what they take, judging tells."""
