"""no-error: nothing failed that the agent did or saw.

An error is: an `error` step; a model call that failed, reported an error inside its stream, or whose answer was cut; a tool
result marked as an error; an HTTP call without a whole answer or with a status from 500. A 4xx of an HTTP call is an answer
(agents probe for files and for authorisation), and what a mock rule broke on purpose is no finding about the agent. Of a
recording that was cut, nothing says how it went on.
"""

from __future__ import annotations

from wiretape.oracles.base import Check, Finding, NoParameters, failed, passed, short, skipped
from wiretape.oracles.reading import counted
from wiretape.traces.types import ErrorStep, HttpCall, ModelCall, RecordingStatus, Step, ToolResult, Trace

__all__ = ["ORACLE"]

_CUT = {RecordingStatus.INCOMPLETE, RecordingStatus.INTERRUPTED}


def check(trace: Trace, _: NoParameters) -> Finding:
    mocked = {step.exchange for step in trace.steps if getattr(step, "mocked", None) and step.exchange is not None}
    found = [(step, text) for step in trace.steps if (text := _error(step, mocked))]
    known = {step.exchange for step, _ in found if step.exchange is not None and not isinstance(step, ErrorStep)}
    told = {step.seq: text for step, text in found if not (isinstance(step, ErrorStep) and step.exchange in known)}
    if told:
        return failed(f"there {'was' if len(told) == 1 else 'were'} {counted(len(told), 'error')}", told.values(), told)
    if trace.recording.status in _CUT:
        return skipped(f"no error was seen, but the recording is {trace.recording.status}: how the run went on is not known")
    return passed("there was no error")


def _error(step: Step, mocked: set[int]) -> str | None:
    """Where and what, or None."""
    on_purpose = getattr(step, "mocked", None) or (isinstance(step, ErrorStep) and step.exchange in mocked)
    return None if on_purpose else _told(step)


def _told(step: Step) -> str | None:
    match step:
        case ErrorStep():
            return f"{step.where}: {short(step.message)}" if step.where else short(step.message)
        case ModelCall() if step.error is not None or not step.complete:
            return f"{step.provider} {step.api}: {'the answer was cut' if step.error is None else short(step.error)}"
        case ToolResult(is_error=True):
            return f"{step.tool or 'a tool'}: {short(step.content)}"
        case HttpCall() if step.error is not None or (step.status or 0) >= 500:
            what = f"status {step.status}" if step.error is None else short(step.error)
            return f"{step.method} {step.host}{step.path}: {what}"
    return None


ORACLE = Check("no-error", NoParameters, check)
