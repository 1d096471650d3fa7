"""max-tool-calls {limit}: at most so many tool calls, each counted once whether asked for or executed.

That there were no more is a claim about absence.
"""

from __future__ import annotations

from collections import Counter

from pydantic import Field, StrictInt

from wiretape.oracles.base import Check, Finding, Parameters, failed, passed
from wiretape.oracles.reading import counted, tool_calls, unobserved
from wiretape.traces.types import Trace

__all__ = ["ORACLE", "MaxToolCalls"]


class MaxToolCalls(Parameters):
    limit: StrictInt = Field(ge=0, description="a whole number from 0")


def check(trace: Trace, wanted: MaxToolCalls) -> Finding:
    calls = tool_calls(trace)
    claim = f"there {'was' if len(calls) == 1 else 'were'} {counted(len(calls), 'tool call')}, the limit is {wanted.limit}"
    evidence = [f"{tool}: {number}" for tool, number in Counter(call.tool for call in calls).most_common(10)]
    if len(calls) > wanted.limit:
        return failed(claim, evidence, (call.seq for call in calls))
    return unobserved(trace, "tools", claim) or passed(claim, evidence)


ORACLE = Check("max-tool-calls", MaxToolCalls, check)
