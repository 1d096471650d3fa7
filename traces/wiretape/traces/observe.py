"""Approvals, skills and state: from the agent's own events and from tool calls that the scenario says mean them; and what was
observed at all, since absence proves nothing unless one looked (DESIGN.md, principle 11).

tools
    `complete` where every model call was decoded to its end (one that was cut and asked again in the same words does not count
    against it) and nothing else streamed an answer that no decoder knew; `partial` where some tool call was seen; else `none`.
approvals, skills, state
    `complete` only where the scenario vouches for the channel (`observe.complete`); `partial` where something was seen; else
    `none`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wiretape.traces.settings import ObserveSettings
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    End,
    Event,
    Exchange,
    Json,
    ModelView,
    Observation,
    Observed,
    RecordingInfo,
    RecordingStatus,
    SkillUsed,
    StateChange,
    Step,
    StepBase,
    ToolCall,
    ToolResult,
    View,
    header,
)

__all__ = ["event_step", "mapped", "observed"]


def event_step(payload: dict[str, Any]) -> StepBase:
    """The step that an agent's own event is."""
    kind, tool, call_id = payload.get("type"), payload.get("tool"), payload.get("call_id")
    if kind == "approval_requested":
        return ApprovalRequest(tool=tool, call_id=call_id, source="event")
    if kind == "approval_decided":
        return ApprovalDecision(tool=tool, call_id=call_id, approved=bool(payload.get("approved")), source="event")
    if kind == "skill_used":
        return SkillUsed(skill=str(payload.get("skill")), source="event")
    if kind == "state_changed":
        before, after = payload.get("from"), payload.get("to")
        return StateChange(object=str(payload.get("object")), name=str(payload.get("name")), before=before, after=after)
    if kind == "custom":
        return Event(name=str(payload.get("name")), data=payload.get("data"))
    return Event(name=str(kind), data={key: value for key, value in payload.items() if key not in ("type", "session")})


def mapped(call: ToolCall, result: ToolResult | None, settings: ObserveSettings) -> Iterator[StepBase]:
    """What a call (without its result) or its result means beside itself."""
    place: dict[str, Any] = {"thread": call.thread, "exchange": (result or call).exchange, "source": "observe"}
    for approval in settings.approvals:
        if approval.tool == call.tool:
            if result is None:
                yield ApprovalRequest(tool=call.tool, call_id=call.call_id, **place)
            elif isinstance(decision := _at(result.content, approval.decision), bool):
                yield ApprovalDecision(tool=call.tool, call_id=call.call_id, approved=decision, **place)
    if result is not None:
        return
    for skill in settings.skills:
        if skill.tool == call.tool and isinstance(name := _argument(call, skill.arg), str):
            yield SkillUsed(skill=name, **place)
    for state in settings.state:
        if state.tool == call.tool:
            yield StateChange(object=state.object, name=str(_argument(call, state.name)), **place)


def _argument(call: ToolCall, name: str) -> Json:
    return call.arguments.get(name) if isinstance(call.arguments, dict) else None


def _at(content: Json, path: str) -> Json:
    """The value at a plain path such as `$.approved`, in JSON or in text that is JSON."""
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except ValueError:
            return None
    for name in path.removeprefix("$").strip(".").split("."):
        if name:
            content = content.get(name) if isinstance(content, dict) else None
    return content


def observed(
    info: RecordingInfo, seen: list[tuple[Exchange, View | None]], steps: tuple[Step, ...], settings: ObserveSettings
) -> Observed:
    kinds: set[str] = {step.kind for step in steps}
    return Observed(
        tools="complete" if "tools" in settings.complete else _tools(info, seen, kinds),
        approvals=_channel("approvals", settings, bool(kinds & {"approval_request", "approval_decision"})),
        skills=_channel("skills", settings, "skill_used" in kinds),
        state=_channel("state", settings, "state_change" in kinds),
    )


def _channel(name: str, settings: ObserveSettings, something: bool) -> Observation:
    if name in settings.complete:
        return "complete"
    return "partial" if something else "none"


def _tools(info: RecordingInfo, seen: list[tuple[Exchange, View | None]], kinds: set[str]) -> Observation:
    models = [(exchange, view) for exchange, view in seen if isinstance(view, ModelView)]
    whole = info.status in (RecordingStatus.COMPLETE, RecordingStatus.RECORDING) and not _unread(seen)
    if models and whole and not _cut_off(models):
        return "complete"
    return "partial" if models or "tool_call" in kinds else "none"


def _cut_off(models: list[tuple[Exchange, ModelView]]) -> bool:
    """Whether some model call was not read to its end, and not asked again in the same words."""
    for at, (exchange, view) in enumerate(models):
        if view.complete or (exchange.response and exchange.response.status >= 400) or exchange.end is End.REFUSED:
            continue
        words = [said.digest for said in view.said]
        if not any([said.digest for said in later.said] == words for _, later in models[at + 1 :]):
            return True
    return False


def _unread(seen: list[tuple[Exchange, View | None]]) -> bool:
    """Whether an answer of no known API streamed events: it may be a model that no decoder knows."""
    return any(
        view is None
        and exchange.response is not None
        and exchange.request.method == "POST"
        and "event-stream" in (header(exchange.response.headers, "content-type") or "")
        for exchange, view in seen
    )
