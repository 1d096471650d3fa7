"""tool-not-called {tool, case?}: no model asked for it, and nobody executed it. About absence."""

from __future__ import annotations

from wiretape.oracles.base import Check, Finding, failed, passed
from wiretape.oracles.parameters import Cased, ToolName
from wiretape.oracles.reading import called, calls_of, shown, unobserved
from wiretape.traces.types import Trace

__all__ = ["ORACLE", "ToolNotCalled"]


class ToolNotCalled(Cased):
    tool: ToolName


def check(trace: Trace, wanted: ToolNotCalled) -> Finding:
    calls = calls_of(trace, wanted.tool, case=wanted.case)
    claim = f"{wanted.tool} was {called(len(calls))}"
    if calls:
        return failed(claim, map(shown, calls), (call.seq for call in calls))
    return unobserved(trace, "tools", claim) or passed(claim)


ORACLE = Check("tool-not-called", ToolNotCalled, check)
