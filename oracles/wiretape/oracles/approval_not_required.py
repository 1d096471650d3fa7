"""approval-not-required: nobody was asked to approve anything. About absence."""

from __future__ import annotations

from wiretape.oracles.base import Check, Finding, NoParameters, failed, passed
from wiretape.oracles.reading import Approval, approvals, counted, unobserved
from wiretape.traces.types import ApprovalRequest, Trace

__all__ = ["ORACLE"]


def check(trace: Trace, _: NoParameters) -> Finding:
    seen = approvals(trace)
    if seen:
        message = f"an approval was asked for or given ({counted(len(seen), 'step')})"
        return failed(message, map(_told, seen), (step.seq for step in seen))
    claim = "no approval was asked for or given"
    return unobserved(trace, "approvals", claim) or passed(claim)


def _told(step: Approval) -> str:
    word = "asked for" if isinstance(step, ApprovalRequest) else "given" if step.approved else "refused"
    return f"{word}: {step.tool or 'an unnamed tool'} (seen by {step.source})"


ORACLE = Check("approval-not-required", NoParameters, check)
