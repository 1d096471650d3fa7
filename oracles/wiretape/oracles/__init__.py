"""Oracles, the gate over their verdicts, and its reports: a trace in, verdicts out, no I/O.

An oracle is a file named as it is, in snake_case, and a line in this table.
"""

from __future__ import annotations

from collections.abc import Mapping

from wiretape.oracles import (
    approval_not_required,
    approval_required,
    base,
    final_answer_contains,
    final_answer_not_contains,
    max_tool_calls,
    no_error,
    no_unsafe_tool,
    tool_args_valid,
    tool_called,
    tool_declared,
    tool_not_called,
)
from wiretape.oracles.base import Oracle, OracleUse, Verdict
from wiretape.traces.types import Trace

__all__ = ["ORACLES", "Oracle", "OracleUse", "Verdict", "judge", "misfit"]

ORACLES: dict[str, Oracle] = {
    "approval-not-required": approval_not_required.ORACLE,
    "approval-required": approval_required.ORACLE,
    "final-answer-contains": final_answer_contains.ORACLE,
    "final-answer-not-contains": final_answer_not_contains.ORACLE,
    "max-tool-calls": max_tool_calls.ORACLE,
    "no-error": no_error.ORACLE,
    "no-unsafe-tool": no_unsafe_tool.ORACLE,
    "tool-args-valid": tool_args_valid.ORACLE,
    "tool-called": tool_called.ORACLE,
    "tool-declared": tool_declared.ORACLE,
    "tool-not-called": tool_not_called.ORACLE,
}


def judge(trace: Trace, use: OracleUse, table: Mapping[str, Oracle] = ORACLES) -> Verdict:
    """The verdict of one entry of a scenario's `oracles`; never raises (`base` says what becomes of mistakes)."""
    return base.judge(trace, use, table)


def misfit(use: OracleUse, table: Mapping[str, Oracle] = ORACLES) -> str | None:
    """Why nothing can judge by this entry, or None: asked before an agent is run for it."""
    return base.misfit(use, table)
