"""What two recordings took to behave as they did: models, model calls, tokens, errors. None of it is behaviour, and all of it
is what people ask about when they compare two runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.traces.types import ErrorStep, Json, ModelCall, Trace, Value

__all__ = ["Note", "notes"]


class Note(Value):
    kind: str
    """models, model-calls, tokens or errors."""
    recorded: Json = None
    live: Json = None
    message: str


def notes(recorded: Trace, live: Trace) -> tuple[Note, ...]:
    """One for each that is not the same; nothing is said of tokens where a provider did not count them."""
    return tuple(_notes(recorded, live))


def _notes(recorded: Trace, live: Trace) -> Iterator[Note]:
    for kind, of in (("models", _models), ("model-calls", _calls), ("tokens", _tokens), ("errors", _errors)):
        before, now = of(recorded), of(live)
        if before != now and before is not None and now is not None:
            message = f"{kind.replace('-', ' ')}: {_told(before)} in the recording, {_told(now)} now"
            yield Note(kind=kind, recorded=before, live=now, message=message)


def _model_calls(trace: Trace) -> list[ModelCall]:
    return [step for step in trace.steps if isinstance(step, ModelCall)]


def _models(trace: Trace) -> Json:
    return sorted({step.requested_model or step.model or "unnamed" for step in _model_calls(trace)})


def _calls(trace: Trace) -> Json:
    return len(_model_calls(trace))


def _tokens(trace: Trace) -> Json:
    usages = [step.usage for step in _model_calls(trace) if step.error is None]
    if not usages or any(usage.input is None or usage.output is None for usage in usages):
        return None
    return {"input": sum(usage.input or 0 for usage in usages), "output": sum(usage.output or 0 for usage in usages)}


def _errors(trace: Trace) -> Json:
    return sum(isinstance(step, ErrorStep) or (isinstance(step, ModelCall) and step.error is not None) for step in trace.steps)


def _told(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {name}" for name, number in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
