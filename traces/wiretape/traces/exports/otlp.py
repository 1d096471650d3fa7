"""OpenTelemetry spans by the conventions for generative AI, as one OTLP/JSON object on one line.

One trace a recording: an `invoke_agent` span for each thread, below it a `chat` span for each model call and an `execute_tool`
span for each tool call. Ids come from the recording's id and the exchanges' numbers, so that an export repeats itself. What was
said (prompts, answers, arguments, results) is left out, as the conventions ask unless one opts in.

https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from wiretape.traces.cost import Prices, cost
from wiretape.traces.exports.genai import Attributes, Seen, chat, provider
from wiretape.traces.exports.recorded import Recorded
from wiretape.traces.types import ModelCall, RecordingInfo, ToolCall, ToolResult, Trace

__all__ = ["export"]

type Span = dict[str, Any]

_INTERNAL, _CLIENT = 1, 3
"""Span.SpanKind of opentelemetry/proto/trace/v1/trace.proto; enums are numbers in OTLP/JSON."""
_FAILED = 2
"""Status.StatusCode of the same."""


def export(recorded: Recorded, prices: Prices) -> Iterator[bytes]:
    info, trace = recorded.info, recorded.trace()
    # after the trace: while it is still being recorded there may be more exchanges by now, never fewer
    seen = {exchange.seq: Seen.of(exchange) for exchange in recorded.exchanges()}
    about: Attributes = {
        "service.name": info.name,
        "wiretape.recording.id": info.id,
        "wiretape.recording.status": str(info.status),
    }
    scope = {"name": "wiretape", "version": info.tool_version}
    spans = _Spans(trace, seen, prices).all()
    whole = {"resource": {"attributes": _attributes(about)}, "scopeSpans": [{"scope": scope, "spans": spans}]}
    yield json.dumps({"resourceSpans": [whole]}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class _Spans:
    def __init__(self, trace: Trace, seen: Mapping[int, Seen], prices: Prices) -> None:
        self._trace = trace
        self._seen = seen
        self._prices = prices
        self._models = {step.seq: step for step in trace.steps if isinstance(step, ModelCall)}
        results = [step for step in trace.steps if isinstance(step, ToolResult)]
        self._results = {_key(step, step.exchange): step for step in reversed(results)}
        self._ids = _numbered(trace)

    def all(self) -> list[Span]:
        """Each thread's span before those below it."""
        below: dict[int | None, list[Span]] = {}
        for step in self._trace.steps:
            if isinstance(step, ModelCall | ToolCall):
                thread = self._trace.main_thread if step.thread is None else step.thread
                span = self._model(step) if isinstance(step, ModelCall) else self._tool(step)
                below.setdefault(thread, []).append(span)
        return [span for thread, spans in below.items() for span in self._under(thread, spans)]

    def _under(self, thread: int | None, spans: list[Span]) -> list[Span]:
        first = next((step for step in self._models.values() if step.thread == thread), None)
        if first is None:  # tools that no model asked for: there is no agent to be seen
            return spans
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": provider(first),
            "wiretape.thread": thread,
            "wiretape.thread.main": thread == self._trace.main_thread,
        }
        start, end = (choose(int(span[at]) for span in spans) for choose, at in ((min, _START), (max, _END)))
        root = self._span(f"thread {first.exchange}", "invoke_agent", _INTERNAL, (start, end), attributes)
        return [root, *({**span, "parentSpanId": root["spanId"]} for span in spans)]

    def _span(self, what: str, name: str, kind: int, times: tuple[int, int], attributes: Attributes) -> Span:
        info = self._trace.recording
        start, end = times
        return {
            "traceId": _id(info, "trace", 16),
            "spanId": _id(info, what, 8),
            "name": name,
            "kind": kind,
            _START: str(start),
            _END: str(max(start, end)),
            "attributes": _attributes(attributes),
        }

    def _model(self, call: ModelCall) -> Span:
        seen = self._seen[call.exchange or 0]
        model = call.requested_model or call.model
        name, money = " ".join(filter(None, ("chat", model))), cost(call, self._prices)
        span = self._span(self._ids[call.seq], name, _CLIENT, (seen.start, seen.end), chat(call, seen, money))
        return span | _status(call.error)

    def _tool(self, call: ToolCall) -> Span:
        result = self._results.get(_key(call, call.executed_in))
        failure = _failure(result)
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call.call_id,
            "error.type": None if failure is None else "tool_error",
            "wiretape.exchange": call.executed_in or call.exchange,
            "wiretape.mocked": call.mocked,
            "wiretape.tool.state": call.state,
        }
        span = self._span(self._ids[call.seq], f"execute_tool {call.tool}", _INTERNAL, self._took(call, result), attributes)
        asked = {"links": [{"traceId": span["traceId"], "spanId": self._span_id(call.by)}]} if call.by in self._models else {}
        return span | asked | _status(failure)

    def _took(self, call: ToolCall, result: ToolResult | None) -> tuple[int, int]:
        """Its execution where that was seen, else from the end of the answer that asked to the request that had the result."""
        executed = self._seen.get(call.executed_in or 0)
        if executed and not (executed.shared and call.by):
            return executed.start, executed.end
        asked = self._seen[call.exchange or 0].end
        if executed:
            later = (self._seen[model.exchange or 0].start for model in self._models.values() if model.thread == call.thread)
            return asked, min((start for start in later if start >= asked), default=asked)
        handed = self._seen[result.exchange].start if result and result.exchange else asked
        return asked, handed

    def _span_id(self, seq: int | None) -> str:
        return _id(self._trace.recording, self._ids[seq or 0], 8)


_START, _END = "startTimeUnixNano", "endTimeUnixNano"


def _key(step: ToolCall | ToolResult, exchange: int | None) -> tuple[int | None, str | None, int | None]:
    """What a call and its result share: the id, else the tool and the exchange in which it was executed."""
    return (step.thread, step.call_id, None) if step.call_id else (None, step.tool, exchange)


def _failure(result: ToolResult | None) -> str | None:
    if result is None or not result.is_error:
        return None
    return result.content if isinstance(result.content, str) else "the tool failed"


def _numbered(trace: Trace) -> dict[int, str]:
    """Step → kind, exchange and which one of that exchange: what stays the same whatever else is exported or decoded anew."""
    count: Counter[tuple[str, int | None]] = Counter()
    found = {}
    for step in trace.steps:
        count[step.kind, step.exchange] += 1
        found[step.seq] = f"{step.kind} {step.exchange} {count[step.kind, step.exchange]}"
    return found


def _id(info: RecordingInfo, what: str, size: int) -> str:
    return hashlib.sha256(f"{info.id}\n{what}".encode()).hexdigest()[: size * 2]


def _status(error: str | None) -> Span:
    return {} if error is None else {"status": {"code": _FAILED, "message": error}}


def _attributes(values: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if _fits(value)]


def _fits(value: bool | int | float | str | list[str] | None) -> bool:
    """Numbers that no 64 bits hold come from broken answers alone."""
    return abs(value) < 2**63 if isinstance(value, int | float) else value is not None


def _value(value: bool | int | float | str | list[str] | None) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_value(each) for each in value or ()]}}
