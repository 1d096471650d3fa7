"""The job behind `replay rebuild`: decode recordings again with the decoders of this version.

What a trace is made of is the evidence alone, so nothing in the store changes. A trace text whose steps are the same is written
anew with the versions that read it; one that now shows other steps is left, since somebody has to look at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretape.scenarios.evidence import load
from wiretape.scenarios.golden import Golden, databases, replace_text
from wiretape.traces.exports.text import body, render
from wiretape.traces.store import Store
from wiretape.traces.types import ModelCall, ToolCall, Trace

__all__ = ["Rebuilt", "rebuild"]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    recording: str
    says: str
    same: bool
    """False where the trace text beside it shows other steps."""


def rebuild(paths: Sequence[Path]) -> Iterator[Rebuilt]:
    """One for each recording of each store. UsageError where a path is not there, StoreError where a store cannot be read."""
    for path in databases(paths):
        with Store.open(path) as store:
            names = [info.name for info in store.recordings()]
        yield from (_rebuilt(path, name, alone=len(names) == 1) for name in names)


def _rebuilt(path: Path, name: str, *, alone: bool) -> Rebuilt:
    with load(f"{path}#{name}") as evidence:
        trace = evidence.trace()
        text = render(trace, evidence=evidence.digest())
    kept = Golden(path.parent, path.stem).trace
    word, same = _settle(kept, text) if alone and kept.is_file() else ("it has no trace text", True)
    return Rebuilt(f"{path}#{name}", f"{_counts(trace)}; {word}", same)


def _settle(kept: Path, text: str) -> tuple[str, bool]:
    old = kept.read_text(encoding="utf-8")
    if old == text:
        return f"{kept.name} is up to date", True
    if body(old) == body(text):
        replace_text(kept, text)
        return f"{kept.name} names the decoders that read it now", True
    return f"{kept.name} shows other steps; look at them, then take them with `replay accept`", False


def _counts(trace: Trace) -> str:
    models = sum(isinstance(step, ModelCall) for step in trace.steps)
    tools = sum(isinstance(step, ToolCall) for step in trace.steps)
    return f"{len(trace.steps)} steps, {models} model calls, {tools} tool calls"
