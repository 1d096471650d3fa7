"""tool-called {tool, args?, times?, case?}: the model asked for it, executed or not."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StrictInt, model_validator

from wiretape.oracles.base import Check, Finding, Parameters, failed, passed, short
from wiretape.oracles.matching import differences
from wiretape.oracles.parameters import Cased, ToolName
from wiretape.oracles.reading import called, called_tools, calls_of, shown, unobserved
from wiretape.traces.types import Json, ToolCall, Trace

__all__ = ["ORACLE", "Times", "ToolCalled"]

Count = Annotated[StrictInt, Field(ge=0)]


class Times(Parameters):
    """How often; `at_most` alone allows never."""

    at_least: Count | None = None
    at_most: Count | None = None
    exactly: Count | None = None

    @model_validator(mode="after")
    def _one_meaning(self) -> Times:
        bounds = (self.at_least, self.at_most)
        if (self.exactly is None) == (bounds == (None, None)):
            raise ValueError("either exactly, or at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError("at_least is above at_most")
        return self

    @property
    def fewest(self) -> int:
        return next((bound for bound in (self.exactly, self.at_least) if bound is not None), 0)

    @property
    def most(self) -> int | None:
        return self.exactly if self.exactly is not None else self.at_most

    def __str__(self) -> str:
        if self.exactly is not None:
            return f"exactly {self.exactly}"
        low = f"at least {self.at_least}" if self.at_least is not None else ""
        high = f"at most {self.at_most}" if self.at_most is not None else ""
        return " and ".join(filter(None, (low, high)))


def _from_number(value: Json) -> Json:
    return {"exactly": value} if isinstance(value, int) else value


class ToolCalled(Cased):
    tool: ToolName
    args: dict[str, Json] = Field({}, description="arguments and their values, with names or dotted paths as keys")
    times: Annotated[Times, BeforeValidator(_from_number)] = Field(
        Times(at_least=1), description="a whole number from 0, or at_least, at_most or exactly with one"
    )


def check(trace: Trace, wanted: ToolCalled) -> Finding:
    calls = calls_of(trace, wanted.tool, case=wanted.case)
    found = [call for call in calls if not any(differences(wanted.args, call.arguments, case=wanted.case))]
    claim = f"{wanted.tool} was {called(len(found))}{_with(wanted)}"
    evidence, steps = [shown(call) for call in found], [call.seq for call in found]
    if len(found) < wanted.times.fewest:
        return failed(claim + _expected(wanted), _near(wanted, calls, trace), [call.seq for call in calls])
    if wanted.times.most is None:
        return passed(claim, evidence, steps)
    if len(found) > wanted.times.most:
        return failed(claim + _expected(wanted), evidence, steps)
    return unobserved(trace, "tools", claim) or passed(claim, evidence, steps)


def _with(wanted: ToolCalled) -> str:
    return f" with {short(wanted.args)}" if wanted.args else ""


def _expected(wanted: ToolCalled) -> str:
    return f", expected {wanted.times}" if "times" in wanted.model_fields_set else ""


def _near(wanted: ToolCalled, calls: tuple[ToolCall, ...], trace: Trace) -> list[str]:
    """Why the calls that there are do not count; without any, what was called instead."""
    if not calls:
        return [called_tools(trace)]
    return [" but ".join((shown(call), *differences(wanted.args, call.arguments, case=wanted.case))) for call in calls]


ORACLE = Check("tool-called", ToolCalled, check)
