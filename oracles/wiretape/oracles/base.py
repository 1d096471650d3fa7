"""What an oracle is: a pure function of (Trace, parameters), and what it says: a verdict.

An oracle's file holds its parameters as a frozen model, its check, and one `Check` that joins them under its name. Wrong
parameters, an unknown name and an oracle that raises all become failed verdicts with a sentence, never an exception: a
scenario that cannot be judged must not look like one that passed, nor hide the verdicts beside it. Such a verdict carries the
exit code that it makes of its recording, whatever the risk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretape.traces.types import Json, Trace

__all__ = [
    "Check",
    "Finding",
    "Frozen",
    "NoParameters",
    "Oracle",
    "OracleUse",
    "Parameters",
    "Risk",
    "Status",
    "Verdict",
    "canonical_name",
    "failed",
    "judge",
    "misfit",
    "passed",
    "short",
    "skipped",
]

type Risk = Literal["low", "medium", "high", "critical"]
type Status = Literal["passed", "failed", "skipped"]


class Frozen(BaseModel):
    """Base of this room's values: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Verdict(Frozen):
    """What an oracle said about a trace."""

    oracle: str
    """The kebab-case name; an unknown one as it was written."""
    status: Status
    message: str
    """One sentence in the words of the scenario; of a skipped one, the reason."""
    evidence: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    """The seq of each step concerned, ascending."""
    risk: Risk | None = None
    """Overrides the scenario's; None leaves it."""
    error: Literal[2, 3] | None = Field(default=None, exclude=True)
    """The exit code of a verdict that judged nothing: 2 where the entry does not fit, 3 where the oracle broke."""


class OracleUse(Frozen):
    """One entry of a scenario's `oracles`."""

    oracle: str
    risk: Risk | None = None
    parameters: dict[str, Json] = {}


class Parameters(Frozen):
    """Base of every oracle's parameters. The description of a field ends the sentence "expected …"."""


class NoParameters(Parameters):
    """For oracles that take none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict without its oracle's name: what a check returns."""

    status: Status
    message: str
    evidence: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()


class Oracle(Protocol):
    """What stands in the table."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> type[Parameters]: ...

    def judge(self, trace: Trace, given: Mapping[str, Json]) -> Verdict:
        """`given` as the scenario wrote it; raises ValidationError where it does not fit `parameters`."""
        ...


@dataclass(frozen=True, slots=True)
class Check[P: Parameters]:
    """An oracle made of a parameters model and a function."""

    name: str
    parameters: type[P]
    check: Callable[[Trace, P], Finding]

    def judge(self, trace: Trace, given: Mapping[str, Json]) -> Verdict:
        found = self.check(trace, self.parameters.model_validate(dict(given)))
        return Verdict(
            oracle=self.name,
            status=found.status,
            message=found.message,
            evidence=found.evidence,
            steps=tuple(sorted(set(found.steps))),
        )


def passed(message: str, evidence: Iterable[str] = (), steps: Iterable[int] = ()) -> Finding:
    return Finding("passed", message, tuple(evidence), tuple(steps))


def failed(message: str, evidence: Iterable[str] = (), steps: Iterable[int] = ()) -> Finding:
    return Finding("failed", message, tuple(evidence), tuple(steps))


def skipped(message: str, evidence: Iterable[str] = (), steps: Iterable[int] = ()) -> Finding:
    return Finding("skipped", message, tuple(evidence), tuple(steps))


def short(value: Json, limit: int = 160) -> str:
    """`value` as JSON on one line of at most `limit` characters; what is not JSON (a date) as its text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def canonical_name(name: str) -> str:
    """`tool_called`, `toolCalled` and `Tool-Called` are all `tool-called`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_ ]", "-", name.strip()).lower()


def judge(trace: Trace, use: OracleUse, table: Mapping[str, Oracle]) -> Verdict:
    """The verdict of the oracle that `use` names. Never raises: see the module."""
    name = canonical_name(use.oracle)
    if wrong := misfit(use, table):
        shown = name if name in table else use.oracle
        return Verdict(oracle=shown, status="failed", message=wrong, risk=use.risk, error=2)
    try:
        verdict = table[name].judge(trace, use.parameters)
    except Exception as error:  # the module says why: a bug in one oracle must not take the others' verdicts with it
        verdict = Verdict(oracle=name, status="failed", message=_bug(name, error), error=3)
    return verdict.model_copy(update={"risk": use.risk})


def misfit(use: OracleUse, table: Mapping[str, Oracle]) -> str | None:
    """Why nothing can judge by this entry, as a sentence: no such oracle, or parameters that it does not take."""
    name = canonical_name(use.oracle)
    oracle = table.get(name)
    if oracle is None:
        return _unknown(use.oracle, name, table)
    try:
        oracle.parameters.model_validate(dict(use.parameters))
    except ValidationError as error:
        return _misfit(oracle, error)
    return None


def _unknown(written: str, name: str, table: Mapping[str, Oracle]) -> str:
    near = get_close_matches(name, table, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(table))}"
    return f"there is no oracle called {short(written)}; {hint}"


def _bug(name: str, error: Exception) -> str:
    return (
        f"{name} broke on this trace ({type(error).__name__}: {str(error)[:160]}); this is a bug of wiretape, please report it"
    )


def _misfit(oracle: Oracle, error: ValidationError) -> str:
    """One sentence on all parameters that do not fit: unknown, missing, or expected and got."""
    by_field = {str(problem["loc"][0]) if problem["loc"] else "": problem for problem in reversed(error.errors())}
    told = sorted(_problem(oracle.parameters, name, by_field[name]) for name in by_field)
    return f"{oracle.name}: {'; '.join(told)}"


def _problem(model: type[Parameters], name: str, problem: Mapping[str, Any]) -> str:
    field = model.model_fields.get(name)
    if field is None:
        known = ", ".join(sorted(model.model_fields))
        return f"unknown parameter {short(name)}: it takes {known or 'no parameters'}"
    if problem["type"] == "missing":
        return f"the parameter {name} is missing: expected {field.description}"
    return f"parameter {name}: expected {field.description}, got {short(problem['input'])}"
