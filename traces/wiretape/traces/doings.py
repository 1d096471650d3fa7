"""What an agent did in each turn, as the comparison by meaning sees it: tool calls, plain HTTP calls, approvals, skills that
were used and state that was changed."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from wiretape.traces.jsontext import compact
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    HttpCall,
    Json,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
    ToolResult,
    Trace,
)

__all__ = ["Asked", "Doing", "asked", "doings", "settled_host"]


@dataclass(frozen=True, slots=True)
class Doing:
    """One of these. Its text begins a sentence: `turn 1: get_order was called with {"order":"A-17"}`."""

    step: int
    turn: int | None
    name: str
    value: Json
    """The arguments; of an HTTP call its path, of an approval the decision, of a state what it became."""
    key: str
    """Equal for the same tool with the same arguments."""
    state: str = "executed"
    shown: str = ""
    """How: the arguments, shortened, or what changed to what."""

    word: str = "call"
    verb: str = "called"
    joint: str = " with "

    def __str__(self) -> str:
        return self._said("was")

    @property
    def present(self) -> str:
        return self._said("is")

    def _said(self, tense: str) -> str:
        turn = f"turn {self.turn}: " if self.turn else ""
        return f"{turn}{self.name} {tense} {self.verb}{self.joint if self.shown else ''}{self.shown}"


def doings(trace: Trace) -> dict[int | None, list[Doing]]:
    """By turn, in their order."""
    found: dict[int | None, list[Doing]] = defaultdict(list)
    for step in trace.steps:
        if doing := _doing(step):
            found[doing.turn].append(doing)
    return found


def _doing(step: Step) -> Doing | None:
    match step:
        case HttpCall():
            return _http(step)
        case ToolCall():
            return _tool(step)
        case ApprovalRequest():
            return _of(step, f"an approval{f' of {step.tool}' if step.tool else ''}", True, "approval", "asked for")
        case ApprovalDecision():
            return _of(step, step.tool or "what was asked", step.approved, "decision", _DECIDED[step.approved])
        case SkillUsed():
            return _of(step, f"the skill {step.skill}", True, "skill", "used")
        case StateChange():
            return _state(step)
    return None


_DECIDED = {True: "approved", False: "refused"}


def _of(step: Step, name: str, value: Json, word: str, verb: str) -> Doing:
    return Doing(step.seq, step.turn, name, value, compact([word, name, value]), word=word, verb=verb)


def _http(step: HttpCall) -> Doing:
    host = settled_host(step.host)
    name, key = f"{step.method} {host}{step.path}", compact(["http", step.method, host, step.path])
    return Doing(step.seq, step.turn, name, step.path, key, word="request", verb="requested")


def _tool(step: ToolCall) -> Doing:
    raw = step.arguments is None and step.arguments_text.strip() not in ("", "null")
    value = step.arguments_text if raw else step.arguments
    key = compact(["tool", step.tool, raw, value])
    return Doing(step.seq, step.turn, step.tool, value, key, step.state, _short({} if value is None else value))


def _state(step: StateChange) -> Doing:
    known = step.before is not None or step.after is not None
    shown = f"from {_short(step.before)} to {_short(step.after)}" if known else ""
    key = compact(["state", step.object, step.name, step.before, step.after])
    name = f"the {step.object} {step.name}"
    return Doing(step.seq, step.turn, name, step.after, key, shown=shown, word="state", verb="changed", joint=" ")


def _short(value: Json, limit: int = 300) -> str:
    text = compact(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_LOOPBACK = re.compile(r"(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+", re.IGNORECASE)


def settled_host(host: str) -> str:
    """Without the port on a loopback address: there the system gives another one each time."""
    found = _LOOPBACK.fullmatch(host)
    return found[1] if found else host


@dataclass(frozen=True, slots=True)
class Asked:
    """When a call was asked for, and when its result was known."""

    doing: Doing
    thread: int | None
    result: int | None
    """The seq of its result; None where none was seen."""

    def waited_for(self, other: Asked) -> bool:
        """Whether the model asked for this only when it had the other's result."""
        return self.thread == other.thread and other.result is not None and other.result < self.doing.step


def asked(trace: Trace, calls: list[Doing]) -> dict[str, Asked]:
    """The calls of a turn that a model asked for, by their key; of equal ones the first."""
    steps = {step.seq: step for step in trace.steps}
    results = _results(trace)
    found: dict[str, Asked] = {}
    for call in calls:
        step = steps[call.step]
        if isinstance(step, ToolCall) and step.by is not None:
            found.setdefault(call.key, Asked(call, step.thread, results.get(step.seq)))
    return found


def _results(trace: Trace) -> dict[int, int]:
    """The seq of a call → the seq of its result: by call id, else the next one of that tool."""
    found: dict[int, int] = {}
    waiting: dict[tuple[str | None, str | None], list[int]] = defaultdict(list)
    for step in trace.steps:
        if isinstance(step, ToolCall):
            waiting[_name(step)].append(step.seq)
        elif isinstance(step, ToolResult) and waiting[_name(step)]:
            found[waiting[_name(step)].pop(0)] = step.seq
    return found


def _name(step: ToolCall | ToolResult) -> tuple[str | None, str | None]:
    return (step.call_id, None) if step.call_id is not None else (None, step.tool)
