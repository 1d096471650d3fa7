"""How completely each channel of a trace was observed: absence proves nothing unless one looked (DESIGN.md, principle 11).

**tools** are complete where model calls were seen and none of them can have hidden a tool call:

- each ended complete with its terminal event or an error, or was cut and made again,
- no event was of an unknown kind, and no exchange looks like a model call that nobody here can read,
- no history shows a call that no recorded answer asked for (a model call then went another way),
- no connection was refused by the client for good.

Otherwise they are partly observed; not at all where there was neither a model call nor MCP traffic nor a tool call.

**approvals, skills, state** have no wire of their own, so only the scenario can vouch for them (`observe.complete`). They are
partly observed where a step of theirs was seen, or a mapping of the scenario looked for one.

What the scenario vouches for is complete. Of a recording that was cut nothing is: its end is not known.
"""

from __future__ import annotations

from wiretape.traces.settings import ObserveSettings
from wiretape.traces.steps.work import Work
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    Observation,
    Observed,
    RecordingInfo,
    RecordingStatus,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
)

__all__ = ["gaps", "observed"]

_CUT = (RecordingStatus.INCOMPLETE, RecordingStatus.INTERRUPTED)


def gaps(info: RecordingInfo, work: Work) -> tuple[str, ...]:
    """Why some tool call may have stayed unseen, a sentence each; empty: none can."""
    cut = [model.number for model in work.models if not (model.told or model.retried)]
    found = [*work.gaps, *(f"the answer in exchange {number} was cut and not asked for again" for number in cut)]
    if not work.models:
        found.append("no model call was seen")
    if info.status in _CUT:
        found.append(f"the recording is {info.status}")
    return tuple(dict.fromkeys(found))


def observed(info: RecordingInfo, work: Work, steps: tuple[Step, ...], found_gaps: tuple[str, ...]) -> Observed:
    observe = work.settings.observe
    found: dict[str, Observation] = {
        "tools": _tools(work, steps, found_gaps),
        "approvals": _seen(steps, (ApprovalRequest, ApprovalDecision), bool(observe.approvals)),
        "skills": _seen(steps, (SkillUsed,), bool(observe.skills)),
        "state": _seen(steps, (StateChange,), bool(observe.state)),
    }
    return Observed(**{channel: _settled(channel, word, info, observe) for channel, word in found.items()})


def _settled(channel: str, word: Observation, info: RecordingInfo, observe: ObserveSettings) -> Observation:
    if channel in observe.complete:
        word = "complete"
    return "partial" if word == "complete" and info.status in _CUT else word


def _tools(work: Work, steps: tuple[Step, ...], found_gaps: tuple[str, ...]) -> Observation:
    if not work.models and not work.listened:
        return "partial" if any(isinstance(step, ToolCall) for step in steps) else "none"
    return "partial" if found_gaps else "complete"


def _seen(steps: tuple[Step, ...], kinds: tuple[type[Step], ...], looked: bool) -> Observation:
    return "partial" if looked or any(isinstance(step, kinds) for step in steps) else "none"
