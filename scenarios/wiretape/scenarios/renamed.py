"""A trace under another run's values, so that behaviour is compared and judged with one name for each thing."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from wiretape.replay.bindings import Bindings
from wiretape.replay.putback import put_into_text
from wiretape.traces.types import Trace

__all__ = ["renamed"]


def renamed(trace: Trace, bindings: Bindings) -> Trace:
    """The values on the left of `bindings` replaced by those on the right, in every text of every step."""
    if not bindings:
        return trace
    made: Trace = trace.model_copy(update={"steps": _renamed(trace.steps, bindings)})
    return made


def _renamed(value: Any, bindings: Bindings) -> Any:
    if isinstance(value, str):
        return put_into_text(value, bindings)
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _renamed(each, bindings) for name, each in value if isinstance(each, _HOLDERS)})
    if isinstance(value, dict):
        return {_renamed(name, bindings): _renamed(each, bindings) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(each, bindings) for each in value)
    return value


_HOLDERS = (str, BaseModel, dict, list, tuple)
