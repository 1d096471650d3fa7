"""final-answer-contains {value, case?, on?}: each of the texts stands in the final answer."""

from __future__ import annotations

from wiretape.oracles.answers import final_answer, listed, no_answer, place
from wiretape.oracles.base import Check, Finding, failed, passed
from wiretape.oracles.parameters import AnswerTexts
from wiretape.traces.types import Trace

__all__ = ["ORACLE"]


def check(trace: Trace, wanted: AnswerTexts) -> Finding:
    if final_answer(trace) is None:
        return no_answer(trace)
    looked = place(trace, wanted.on)
    holding = {part: looked.holding(part, case=wanted.case) for part in wanted.value}
    missing = [part for part, steps in holding.items() if not steps]
    if missing:
        return failed(f"{looked.name} does not contain {listed(missing)}", looked.quoted(), (seq for seq, _ in looked.texts))
    steps = (seq for steps in holding.values() for seq in steps)
    return passed(f"{looked.name} contains {listed(wanted.value)}", (), steps)


ORACLE = Check("final-answer-contains", AnswerTexts, check)
