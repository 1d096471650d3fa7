"""NAME.trace: the canonical trace as stable text, which people review in a pull request.

A header of `name: value` lines, a blank line, then the steps by turn. Nothing that two runs of the same behaviour differ in: no
times, no token counts, no ids that a server made (calls go by number). Text from the wire is escaped, so that it can neither
forge a line nor reach a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from wiretape.traces.decoders import VERSIONS
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    ErrorStep,
    Event,
    FinalAnswer,
    HttpCall,
    Json,
    ModelCall,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
    ToolResult,
    Trace,
    UserMessage,
)

__all__ = ["FORMAT", "body", "header", "render"]

FORMAT = 1


def render(trace: Trace, *, evidence: str) -> str:
    """The text, with a line end at its end; `evidence` is the digest of the recording that the trace was made from."""
    seen = trace.observed
    head = [
        f"wiretape-trace: {FORMAT}",
        f"recording: {_line(trace.recording.name)}",
        f"decoders: {', '.join(f'{name} {version}' for name, version in sorted(VERSIONS.items()))}",
        f"evidence: {evidence}",
        "",
        f"observed: tools {seen.tools}, approvals {seen.approvals}, skills {seen.skills}, state {seen.state}",
    ]
    return "\n".join([*head, *_Lines(trace).all()]) + "\n"


def header(text: str) -> dict[str, str]:
    """The lines before the first blank one."""
    pairs = (line.partition(": ") for line in text.split("\n\n", 1)[0].splitlines())
    return {name: value for name, _, value in pairs}


def body(text: str) -> str:
    """What `check` compares: everything behind the header."""
    return text.split("\n\n", 1)[1] if "\n\n" in text else ""


class _Lines:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        calls = [step for step in trace.steps if isinstance(step, ToolCall)]
        self._numbers = {call.seq: number for number, call in enumerate(calls, 1)}
        self._by_id = {(call.thread, call.call_id): self._numbers[call.seq] for call in calls if call.call_id}

    def all(self) -> Iterator[str]:
        turn = None
        for step in self._trace.steps:
            if step.turn != turn:
                turn = step.turn
                yield ""
                yield f"turn {turn}"
            beside = step.thread not in (None, self._trace.main_thread)
            margin = f"  [thread {step.thread}] " if beside else "  "
            for at, line in enumerate(self._step(step)):
                yield (margin if at == 0 else "  ") + line

    def _step(self, step: Step) -> Iterator[str]:  # one line of each kind
        match step:
            case UserMessage():
                yield f"user: {_text(step.text)}"
                yield from (f"  attached {_line(each)}" for each in step.attachments)
            case ModelCall():
                yield from self._model(step)
            case ToolCall():
                yield f"  call {self._numbers[step.seq]}: {_line(step.tool)} {_args(step)}{_state(step)}"
            case ToolResult():
                failed = " (error)" if step.is_error else ""
                yield f"result of {self._of(step)}{failed}{_mocked(step.mocked)}: {_text(step.content)}"
            case HttpCall():
                outcome = f"{step.status if step.status is not None else 'no answer'}{_error(step.error)}{_mocked(step.mocked)}"
                yield f"http: {_line(step.method)} {_line(step.host + step.path)} -> {outcome}"
            case ApprovalRequest():
                yield f"approval asked: {_line(step.tool or 'unnamed')}"
            case ApprovalDecision():
                yield f"approval {'given' if step.approved else 'refused'}: {_line(step.tool or 'unnamed')}"
            case SkillUsed():
                yield f"skill: {_line(step.skill)}"
            case StateChange():
                yield f"state: {_line(step.object)} {_line(step.name)}: {_json(step.before)} -> {_json(step.after)}"
            case Event():
                yield f"event: {_line(step.name)} {_json(step.data)}"
            case FinalAnswer():
                yield f"final answer: {_text(step.text)}"
            case ErrorStep():
                yield f"error: {_text(step.message)}"

    def _model(self, step: ModelCall) -> Iterator[str]:
        name = step.requested_model or step.model or "a model"
        ended = f"{_mocked(step.mocked)} -> {_line(step.stop_reason or 'no end')}"
        yield f"model: {_line(name)} ({step.provider} {step.api}){ended}"
        system = (step.system_digest or "none")[:12]
        yield f"  prompt: system {system}, history {step.history}, parameters {_json(step.parameters)}"
        if step.tools:
            yield f"  tools: {', '.join(f'{_line(tool.name)} {tool.digest[:8]}' for tool in step.tools)}"
        if step.text:
            yield f"  says: {_text(step.text)}"
        if step.error:
            yield f"  error: {_text(step.error)}"

    def _of(self, step: ToolResult) -> str:
        number = self._by_id.get((step.thread, step.call_id or ""))
        return f"call {number}" if number else _line(step.tool or "an unknown call")


def _state(step: ToolCall) -> str:
    where = f" by {_line(step.server)}" if step.server else ""
    done = f" [{step.state}{where}]" if step.state != "asked" else ""
    return done + _mocked(step.mocked)


def _mocked(rule: str | None) -> str:
    return f" [mocked by {_line(rule)}]" if rule else ""


def _error(error: str | None) -> str:
    return f" ({_line(error)})" if error else ""


def _args(step: ToolCall) -> str:
    return _json(step.arguments) if step.arguments is not None else _line(step.arguments_text)


def _json(value: Json) -> str:
    return _line(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def _text(content: Json) -> str:
    """In full; further lines are indented, so that none can stand at the margin."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, sort_keys=True)
    return "\n      | ".join(map(_line, text.split("\n")))


def _line(text: str) -> str:
    """Without line ends and without anything that a terminal would obey."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
