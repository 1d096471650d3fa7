"""final-answer-not-contains {value, case?, on?}: none of the texts stands in the final answer.

Looking at tool results, it is about absence.
"""

from __future__ import annotations

from wiretape.oracles.answers import final_answer, listed, no_answer, place
from wiretape.oracles.base import Check, Finding, failed, passed
from wiretape.oracles.parameters import AnswerTexts
from wiretape.oracles.reading import unobserved
from wiretape.traces.types import Trace

__all__ = ["ORACLE"]


def check(trace: Trace, wanted: AnswerTexts) -> Finding:
    if final_answer(trace) is None:
        return no_answer(trace)
    looked = place(trace, wanted.on)
    holding = {part: looked.holding(part, case=wanted.case) for part in wanted.value}
    found = [part for part, steps in holding.items() if steps]
    if found:
        steps = (seq for steps in holding.values() for seq in steps)
        return failed(f"{looked.name} contains {listed(found)}", looked.quoted(), steps)
    claim = f"{looked.name} does not contain {listed(wanted.value)}"
    unseen = unobserved(trace, "tools", claim) if wanted.on == "tool-result" else None
    return unseen or passed(claim, (), (seq for seq, _ in looked.texts))


ORACLE = Check("final-answer-not-contains", AnswerTexts, check)
