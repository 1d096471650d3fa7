"""Traces written in other forms, one a file."""

from __future__ import annotations

from typing import Protocol

from wiretape.traces.exports import text
from wiretape.traces.types import Trace

__all__ = ["EXPORTS", "Export"]


class Export(Protocol):
    def __call__(self, trace: Trace, *, evidence: str) -> str:
        """`evidence` is the digest of the recording that the trace was read from."""
        ...


EXPORTS: dict[str, Export] = {"text": text.render}
