"""The formats that a trace is written in."""

from __future__ import annotations

from collections.abc import Callable

from wiretape.traces.exports.text import render
from wiretape.traces.types import Trace

__all__ = ["EXPORTS"]


def _text(trace: Trace, evidence: str) -> str:
    return render(trace, evidence=evidence)


EXPORTS: dict[str, Callable[[Trace, str], str]] = {"text": _text}
"""Name → (trace, digest of its evidence) → text."""
