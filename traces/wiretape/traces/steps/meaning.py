"""What tool calls mean by the scenario's `observe` mappings: approvals asked for and decided, skills used, state changed.

An approval is asked for when the model calls the tool, and decided by its result. A skill is used, and state changed, when
the call was carried out without an error: its result says so. The steps carry no call id: that of the call that asks is not
that of the call it asks about.
"""

from __future__ import annotations

from wiretape.traces.jsontext import MISSING, at, read
from wiretape.traces.links import Call
from wiretape.traces.settings import SkillMapping, StateMapping
from wiretape.traces.steps.work import Work
from wiretape.traces.types import ApprovalDecision, ApprovalRequest, Json, SkillUsed, StateChange, Step, ToolResult

__all__ = ["of_call", "of_result"]


def of_call(work: Work, call: Call) -> None:
    """To be called when the call was added."""
    if any(call.goes_by(mapping.tool) for mapping in work.settings.observe.approvals):
        work.add(ApprovalRequest(thread=call.thread, exchange=call.exchange, tool=_subject(call), source="observe"))


def of_result(work: Work, call: Call, result: ToolResult) -> None:
    """To be called when the result was added."""
    observe = work.settings.observe
    for approval in observe.approvals:
        approved = _approved(at(read(result.content), approval.decision)) if call.goes_by(approval.tool) else None
        if approved is not None:
            work.add(
                ApprovalDecision(
                    thread=call.thread,
                    exchange=result.exchange,
                    tool=_subject(call),
                    approved=approved and not result.is_error,
                    source="observe",
                )
            )
    if result.is_error:
        return
    mappings: tuple[SkillMapping | StateMapping, ...] = (*observe.skills, *observe.state)
    for mapping in mappings:
        step = _step(mapping, call, result) if call.goes_by(mapping.tool) else None
        if step:
            work.add(step)


def _step(mapping: SkillMapping | StateMapping, call: Call, result: ToolResult) -> Step | None:
    name = _argument(call, mapping.arg if isinstance(mapping, SkillMapping) else mapping.name)
    if name is None:
        return None
    if isinstance(mapping, SkillMapping):
        return SkillUsed(thread=call.thread, exchange=result.exchange, skill=name, source="observe")
    return StateChange(thread=call.thread, exchange=result.exchange, object=mapping.object, name=name, source="observe")


def _argument(call: Call, path: str) -> str | None:
    value = at(call.arguments, path)
    return None if value is MISSING or value is None else value if isinstance(value, str) else str(value)


def _subject(call: Call) -> str | None:
    """The tool that is asked about, where the arguments say so in the usual place; None is whatever comes next."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    names = (arguments.get(key) for key in ("tool", "tool_name", "toolName"))
    return next((name for name in names if isinstance(name, str) and name), None)


_YES = frozenset({"accept", "accepted", "allow", "allowed", "approve", "approved", "ok", "true", "y", "yes", "1"})
_NO = frozenset({"cancel", "cancelled", "decline", "declined", "denied", "deny", "false", "n", "no", "reject", "rejected", "0"})


def _approved(value: Json) -> bool | None:
    """None where it is no decision."""
    word = str(value).strip().casefold() if isinstance(value, bool | int | str) else ""
    return True if word in _YES else False if word in _NO else None
