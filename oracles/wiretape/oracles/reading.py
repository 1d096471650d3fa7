"""What several oracles look up in a trace: its tool calls, its approvals, and what was not looked at."""

from __future__ import annotations

from typing import Literal

from wiretape.oracles.base import Finding, short, skipped
from wiretape.oracles.matching import is_call_of, same_tool
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    ModelCall,
    Observation,
    Step,
    ToolCall,
    ToolResult,
    Trace,
)

__all__ = [
    "Approval",
    "approvals",
    "asked_by",
    "called",
    "called_tools",
    "calls_of",
    "came_before",
    "concerning",
    "concerns_tool",
    "counted",
    "shown",
    "tool_calls",
    "unobserved",
]

type Approval = ApprovalRequest | ApprovalDecision
type Channel = Literal["tools", "approvals", "skills", "state"]

_NOT_COMPLETE: dict[Observation, str] = {"partial": "only partly observed", "none": "not observed"}


def tool_calls(trace: Trace) -> tuple[ToolCall, ...]:
    """Every tool call once: asked for by a model (executed or not), or executed though no model was seen to ask."""
    return tuple(step for step in trace.steps if isinstance(step, ToolCall))


def calls_of(trace: Trace, tool: str, *, case: bool = False) -> tuple[ToolCall, ...]:
    return tuple(call for call in tool_calls(trace) if is_call_of(tool, call, case=case))


def asked_by(trace: Trace, call: ToolCall) -> ModelCall | None:
    """The model call that asked for it; None for an execution that no model was seen to ask for."""
    asking = (step for step in trace.steps if isinstance(step, ModelCall) and step.seq == call.by)
    return None if call.by is None else next(asking, None)


def unobserved(trace: Trace, channel: Channel, claim: str) -> Finding | None:
    """The skip of an oracle about absence where its channel was not observed completely (DESIGN.md, principle 11)."""
    word = _NOT_COMPLETE.get(getattr(trace.observed, channel))
    return skipped(f"{claim}, but {channel} were {word}, and absence proves nothing unless one looked") if word else None


def approvals(trace: Trace) -> tuple[Approval, ...]:
    return tuple(step for step in trace.steps if isinstance(step, ApprovalRequest | ApprovalDecision))


def concerning(trace: Trace, call: ToolCall) -> tuple[Approval, ...]:
    """The approvals for this call: by its call id, else by its tool; one that names neither is for whatever comes.

    A call id decides only where it is one of this trace's: agents also give approvals ids of their own.
    """
    ids = {each.call_id for each in tool_calls(trace)}
    return tuple(
        step
        for step in approvals(trace)
        if (step.call_id == call.call_id if step.call_id is not None and step.call_id in ids else _names(step, call))
    )


def concerns_tool(trace: Trace, step: Approval, tool: str, *, case: bool = False) -> bool:
    """Whether an approval is for that tool, called or not."""
    for call in tool_calls(trace):
        if step.call_id is not None and call.call_id == step.call_id:
            return is_call_of(tool, call, case=case)
    return step.tool is None or same_tool(tool, step.tool, case=case) or same_tool(step.tool, tool, case=case)


def came_before(trace: Trace, call: ToolCall) -> int:
    """The seq below which a step came before the call was carried out.

    An agent that asks people first does it between the model's request (where the call stands in the trace) and the
    execution, so that moment ends with the call's result or with what followed its execution on the wire. Without either:
    at the call itself if it is known to have been executed, else at the end of the trace, for nothing shows that it was
    carried out at all.
    """
    later = (step for step in trace.steps if step.seq > call.seq)
    first = next((step.seq for step in later if _answers(step, call) or _follows(step, call)), None)
    if first is not None:
        return first
    return call.seq if call.state == "executed" and call.executed_in is None else trace.steps[-1].seq + 1


def called(times: int) -> str:
    """Ends the sentence "it was …"."""
    return {0: "not called", 1: "called once", 2: "called twice"}.get(times, f"called {times} times")


def called_tools(trace: Trace) -> str:
    """Which tools were called at all, or that none was: evidence where one is missing."""
    names = list(dict.fromkeys(call.tool for call in tool_calls(trace)))
    if not names:
        return f"no tool was called (tools observed: {trace.observed.tools})"
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"called were {', '.join(names[:10])}{more}"


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def shown(call: ToolCall, limit: int = 160) -> str:
    """The call as one line: its name and its arguments as the model wrote them."""
    arguments = call.arguments_text or ("" if call.arguments is None else short(call.arguments))
    text = " ".join(f"{call.tool}({arguments})".split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _names(step: Approval, call: ToolCall) -> bool:
    return step.tool is None or _means(step.tool, call)


def _means(name: str, call: ToolCall) -> bool:
    """Whether a name elsewhere in the trace is the call's tool; either of them may carry an MCP prefix."""
    return is_call_of(name, call) or (call.server is None and same_tool(call.tool, name))


def _answers(result: Step, call: ToolCall) -> bool:
    if not isinstance(result, ToolResult):
        return False
    if result.call_id is not None and call.call_id is not None:
        return result.call_id == call.call_id
    return result.tool is not None and _means(result.tool, call)


def _follows(step: Step, call: ToolCall) -> bool:
    """Whether the step was seen in the exchange that executed the call or in a later one (an approval there may be its own)."""
    seen = call.executed_in is not None and step.exchange is not None and step.exchange >= call.executed_in
    return seen and not isinstance(step, ApprovalRequest | ApprovalDecision)
