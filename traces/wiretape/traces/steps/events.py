"""The agent's own events (INTERFACE.md, fine print 24) as steps."""

from __future__ import annotations

from typing import Any

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
)

__all__ = ["add"]


def add(work: Work, session: str, payload: dict[str, Any]) -> None:
    """`payload` was validated where it came in; of one that was not, what does not fit is kept as an event."""
    kind = payload.get("type")
    step = _approval(work, session, payload) or _step(payload)
    work.add(step, opens_turn=kind == "turn_started")


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
