"""Small traces and the verdicts on them: steps are numbered by their place, from 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from wiretape.oracles import OracleUse, Verdict, judge
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    Declared,
    FinalAnswer,
    ModelCall,
    Observed,
    RecordingInfo,
    RecordingStatus,
    Step,
    ToolCall,
    ToolResult,
    Trace,
)


@pytest.fixture
def trace() -> Callable[..., Trace]:
    """Of these steps; everything was observed completely unless a channel is given as a keyword."""

    def make(*steps: Step, status: RecordingStatus = RecordingStatus.COMPLETE, **channels: Any) -> Trace:
        observed = dict.fromkeys(("tools", "approvals", "skills", "state"), "complete") | channels
        info = RecordingInfo(name="refund", id="r1", started_at=0.0, status=status, tool_version="0.1.0")
        numbered = tuple(step.model_copy(update={"seq": place}) for place, step in enumerate(steps, 1))
        return Trace(recording=info, observed=Observed(**observed), steps=numbered, main_thread=1)

    return make


@pytest.fixture
def call() -> Callable[..., ToolCall]:
    def make(tool: str, arguments: Any = None, **fields: Any) -> ToolCall:
        text = "" if arguments is None else json.dumps(arguments)
        return ToolCall(**{"tool": tool, "arguments": arguments, "arguments_text": text} | fields)

    return make


@pytest.fixture
def result() -> Callable[..., ToolResult]:
    return lambda tool, content="ok", **fields: ToolResult(tool=tool, content=content, **fields)


@pytest.fixture
def asked() -> Callable[..., ApprovalRequest]:
    return lambda tool=None, **fields: ApprovalRequest(tool=tool, **fields)


@pytest.fixture
def decided() -> Callable[..., ApprovalDecision]:
    return lambda tool=None, approved=True, **fields: ApprovalDecision(tool=tool, approved=approved, **fields)


@pytest.fixture
def answer() -> Callable[..., FinalAnswer]:
    return lambda text, **fields: FinalAnswer(text=text, **fields)


@pytest.fixture
def model() -> Callable[..., ModelCall]:
    """A model call that was offered these tools: name → JSON Schema."""

    def make(tools: dict[str, Any] | None = None, **fields: Any) -> ModelCall:
        declared = tuple(Declared(name=name, parameters=schema) for name, schema in (tools or {}).items())
        return ModelCall(provider="openai", api="chat", tools=declared, **fields)

    return make


@pytest.fixture
def verdict() -> Callable[..., Verdict]:
    return lambda oracle, trace, **parameters: judge(trace, OracleUse(oracle=oracle, parameters=parameters))
