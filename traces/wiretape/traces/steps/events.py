"""The agent's own events (INTERFACE.md, fine print 24) as steps; and whole steps, kept as events, of a recording that was
imported without exchanges. No agent can send such a one: where events come in, only the known types pass.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from wiretape.traces.links import Call
from wiretape.traces.steps import meaning
from wiretape.traces.steps.work import Work
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    Event,
    FinalAnswer,
    Json,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
    ToolResult,
    UserMessage,
)

__all__ = ["add", "step_event"]

_STEP = "step"
_STEPS: TypeAdapter[Step] = TypeAdapter(Step)


def step_event(step: Step) -> dict[str, Any]:
    """What the store keeps of a step that no exchange shows."""
    return {"type": _STEP, "step": step.model_dump(mode="json", exclude_defaults=True) | {"kind": step.kind}}


def add(work: Work, session: str, payload: dict[str, Any]) -> None:
    """`payload` was validated where it came in; of one that was not, what does not fit is kept as an event."""
    kind = payload.get("type")
    if kind == _STEP:
        _add_step(work, session, _STEPS.validate_python(payload["step"]))
        return
    step = _approval(work, session, payload) or _step(payload)
    work.add(step, opens_turn=kind == "turn_started")


def _add_step(work: Work, session: str, step: Step) -> None:
    if isinstance(step, ToolCall):
        call = Call(
            tool=step.tool,
            session=session,
            exchange=0,
            call_id=step.call_id,
            arguments=step.arguments,
            arguments_text=step.arguments_text,
            state=step.state,
        )
        work.add_call(call)
        meaning.of_call(work, call)
        return
    work.add(step, opens_turn=isinstance(step, UserMessage))
    call_id = step.call_id if isinstance(step, ToolResult) else None
    if isinstance(step, ToolResult) and (found := work.calls.decided(step.tool, call_id, session)):
        found.answered = True
        meaning.of_result(work, found, step)


def _approval(work: Work, session: str, payload: dict[str, Any]) -> Step | None:
    kind, approved = payload.get("type"), payload.get("approved")
    tool, call_id = _text(payload, "tool"), _text(payload, "call_id")
    if kind not in ("approval_requested", "approval_decided"):
        return None
    call = work.calls.decided(tool, call_id, session)
    thread = call.thread if call else None
    if kind == "approval_requested":
        return ApprovalRequest(thread=thread, tool=tool, call_id=call_id, source="event")
    if call and approved is False and call.executed_in is None:
        call.state = "denied"
    return ApprovalDecision(thread=thread, tool=tool, call_id=call_id, approved=approved is True, source="event")


def _step(payload: dict[str, Any]) -> Step:
    match payload:
        case {"type": "skill_used", "skill": str() as skill}:
            return SkillUsed(skill=skill, source="event")
        case {"type": "state_changed", "object": str() as thing, "name": str() as name}:
            return StateChange(object=thing, name=name, before=payload.get("from"), after=payload.get("to"), source="event")
        case {"type": "final_answer", "text": str() as text}:
            return FinalAnswer(text=text)
        case {"type": "custom", "name": str() as name}:
            return Event(name=name, data=payload.get("data"))
    return Event(name=str(payload.get("type")), data=_besides(payload))


def _besides(payload: dict[str, Any]) -> Json:
    return {key: value for key, value in payload.items() if key not in ("type", "session")}


def _text(payload: dict[str, Any], key: str) -> str | None:
    value = payload.get(key)
    return value if isinstance(value, str) and value else None
