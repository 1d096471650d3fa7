"""The job behind `replay accept`: the evidence's present rendering becomes the golden trace."""

from __future__ import annotations

from pathlib import Path

from wiretape.scenarios.evidence import load
from wiretape.scenarios.golden import RECORDINGS, beside, replace_text
from wiretape.traces.exports.text import body, render

__all__ = ["accept"]


def accept(recording: str, folder: Path = RECORDINGS) -> tuple[str, ...]:
    """What changed, a line each. UsageError or StoreError where the recording is not whole."""
    golden, scenario = beside(recording, folder)
    golden.refuse_unfinished()
    with load(recording, scenario, folder) as evidence:
        text = render(evidence.trace(), evidence=evidence.digest())
    old = golden.trace.read_bytes().decode("utf-8", "replace") if golden.trace.is_file() else None
    if old == text:
        return (f"{golden.trace} already is the rendering of {golden.db}",)
    replace_text(golden.trace, text)
    if old is None:
        return (f"wrote {golden.trace}",)
    changed = "the behaviour it shows differs" if body(old) != body(text) else "only its header differs"
    return (f"replaced {golden.trace}: {changed}; review it in your version control",)
