"""What NAME.trace says of each step."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from wiretape.traces.doings import settled_host
from wiretape.traces.exports.escape import block, line, name, value
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    ErrorStep,
    Event,
    HttpCall,
    Json,
    ModelCall,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
    ToolResult,
    UserMessage,
)

__all__ = ["Words"]

_SHORT = 90


class Words:
    """Numbers model calls and tool calls as they come, and remembers what each thread's last model call was offered."""

    def __init__(self) -> None:
        self._models = 0
        self._model_numbers: dict[int, int] = {}
        self._calls: dict[str, int] = {}
        self._waiting: dict[str, tuple[int | None, list[int]]] = {}
        """Tool → the model call that asked last, and the numbers of its calls without a result, the last one kept."""
        self._called = 0
        self._told: dict[int | None, dict[str, str]] = {}

    def of(self, step: Step) -> Iterator[str]:
        """The lines of one step."""
        tellers: dict[str, Callable[[Any], Iterator[str]]] = {
            "user_message": _user_message,
            "model_call": self._model_call,
            "tool_call": self._tool_call,
            "tool_result": self._tool_result,
            "http_call": _http_call,
            "approval_request": self._approval_request,
            "approval_decision": self._approval_decision,
            "skill_used": _skill_used,
            "state_change": _state_change,
            "event": _event,
            "error": _error,
        }
        return tellers[step.kind](step)

    # model calls

    def _model_call(self, step: ModelCall) -> Iterator[str]:
        self._models += 1
        self._model_numbers[step.seq] = self._models
        yield f"model call {self._models}: {name(step.provider)} {name(step.api)}, {_model(step)}, history {step.history}"
        yield from self._changed(step)
        if step.stop_reason is not None:
            yield f"  stopped: {line(step.stop_reason)}"
        if not step.complete:
            yield "  cut: its end was not seen"
        if step.error is not None:
            yield from _long("error", step.error)
        if step.mocked is not None:
            yield f"  mocked by {name(step.mocked)}"
        if step.text:
            yield from block(step.text)

    def _changed(self, step: ModelCall) -> Iterator[str]:
        """What steers the model, where the thread's last call had it otherwise."""
        tools = ", ".join(f"{name(tool.name)} {_digest(tool.digest)}".rstrip() for tool in step.tools)
        steering = {
            "system": _digest(step.system_digest or "") or "none",
            "parameters": value(step.parameters),
            "tools": tools or "none",
        }
        before = self._told.get(step.thread, {"system": "none", "parameters": "{}", "tools": "none"})
        self._told[step.thread] = steering
        for what, now in steering.items():
            if before[what] != now:
                yield from _long(what, now)

    # tool calls

    def _tool_call(self, step: ToolCall) -> Iterator[str]:
        self._called += 1
        by, numbers = self._waiting.get(step.tool, (None, []))
        self._waiting[step.tool] = (step.by, [*numbers, self._called] if by == step.by else [self._called])
        if step.call_id:
            self._calls[step.call_id] = self._called
        head = f"call {self._called}: {name(step.tool)}"
        shown = value({} if step.arguments is None else step.arguments)
        raw = step.arguments is None and step.arguments_text.strip() not in ("", "null")
        if not raw and len(head) + len(shown) < _SHORT:
            yield f"{head} {shown}"
        else:
            yield f"{head}{' (its arguments are no JSON)' if raw else ''}"
            yield from block(step.arguments_text if raw else shown)
        yield f"  {', '.join(self._about(step))}"

    def _about(self, step: ToolCall) -> Iterator[str]:
        number = self._model_numbers.get(step.by) if step.by is not None else None
        yield f"asked for by model call {number}" if number else "asked for by no model call that was seen"
        if step.parallel_group is not None:
            yield "together with others"
        by = f" by {name(step.server)}" if step.server is not None else ""
        yield {"asked": "not carried out", "executed": f"carried out{by}", "denied": "denied"}[step.state]
        if step.read_only:
            yield "read-only"
        if step.destructive:
            yield "destructive"
        if step.mocked is not None:
            yield f"mocked by {name(step.mocked)}"

    def _tool_result(self, step: ToolResult) -> Iterator[str]:
        kind = "error" if step.is_error else "result"
        where = "on the wire" if step.seen == "wire" else "in the prompt"
        mocked = f", mocked by {name(step.mocked)}" if step.mocked is not None else ""
        yield f"{kind} of {self._call(step.tool, step.call_id)}, seen {where}{mocked}"
        yield from _content(step.content)

    def _call(self, tool: str | None, call_id: str | None) -> str:
        """The call by its number, where it has one; without ids, results come in the order of their calls."""
        number = self._calls.get(call_id) if call_id else None
        if call_id is None and tool in self._waiting:
            numbers = self._waiting[tool][1]
            number = numbers.pop(0) if len(numbers) > 1 else numbers[0]
        if number is not None:
            return f"call {number}"
        return f"a call of {name(tool)} that was not seen" if tool else "a call that was not seen"

    # approvals

    def _approval_request(self, step: ApprovalRequest) -> Iterator[str]:
        yield f"approval asked for{self._concerning(step)} (seen: {step.source})"

    def _approval_decision(self, step: ApprovalDecision) -> Iterator[str]:
        yield f"{'approved' if step.approved else 'denied'}{self._concerning(step)} (seen: {step.source})"

    def _concerning(self, step: ApprovalRequest | ApprovalDecision) -> str:
        number = self._calls.get(step.call_id) if step.call_id else None
        tool = f": {name(step.tool)}" if step.tool else ""
        return f"{tool}, call {number}" if number else tool


def _model(step: ModelCall) -> str:
    """What was asked for, and what answered where that is another name."""
    asked, answered = step.requested_model, step.model
    if asked is None or answered is None or asked == answered:
        return name(asked or answered or "") if asked or answered else "no model named"
    return f"{name(asked)} answered by {name(answered)}"


def _digest(text: str) -> str:
    return line(text.rpartition(":")[2][:12])


def _long(label: str, text: str) -> Iterator[str]:
    if len(text) + len(label) < _SHORT and "\n" not in text:
        yield f"  {label}: {line(text)}"
    else:
        yield f"  {label}:"
        yield from block(text)


def _content(content: Json) -> Iterator[str]:
    return block(content if isinstance(content, str) else value(_without_payloads(content)))


_PAYLOAD = re.compile(r"(?:data:[^,]{,200};base64,)?[A-Za-z0-9+/_=-]{256,}")


def _without_payloads(content: Json) -> Json:
    """Images and files go by their digest: nobody reviews base64."""
    if isinstance(content, str) and _PAYLOAD.fullmatch(content):
        return f"({len(content)} characters, sha256:{hashlib.sha256(content.encode()).hexdigest()})"
    if isinstance(content, dict):
        return {key: _without_payloads(item) for key, item in content.items()}
    return [_without_payloads(item) for item in content] if isinstance(content, list) else content


def _user_message(step: UserMessage) -> Iterator[str]:
    yield "user"
    if step.text:
        yield from block(step.text)
    yield from (f"  attached: {line(each)}" for each in step.attachments)


def _http_call(step: HttpCall) -> Iterator[str]:
    status = "no answer" if step.status is None else f"status {step.status}"
    mocked = f", mocked by {name(step.mocked)}" if step.mocked is not None else ""
    yield f"http {name(step.method)} {line(settled_host(step.host))}{line(step.path)}, {status}{mocked}"
    if step.error is not None:
        yield from _long("error", step.error)


def _skill_used(step: SkillUsed) -> Iterator[str]:
    yield f"skill used: {name(step.skill)} (seen: {step.source})"


def _state_change(step: StateChange) -> Iterator[str]:
    yield f"state changed: {name(step.object)} {name(step.name)} (seen: {step.source})"
    if step.before is not None or step.after is not None:
        yield from _long("from", value(step.before))
        yield from _long("to", value(step.after))


def _event(step: Event) -> Iterator[str]:
    yield f"event {name(step.name)}"
    if step.data is not None:
        yield from block(value(step.data))


def _error(step: ErrorStep) -> Iterator[str]:
    yield f"error{f' in {line(step.where)}' if step.where else ''}"
    yield from block(step.message)
