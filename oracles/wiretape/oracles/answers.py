"""Where the answer oracles look: the final answer, or what `on` widens it to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wiretape.oracles.base import Finding, failed, short
from wiretape.oracles.matching import contains
from wiretape.oracles.parameters import Scope
from wiretape.traces.types import FinalAnswer, Json, ModelCall, Step, ToolResult, Trace

__all__ = ["Place", "final_answer", "listed", "no_answer", "place"]

_NAMES: dict[Scope, str] = {
    "final-answer": "the final answer",
    "any-text": "what the agent said",
    "tool-result": "what the tools answered",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look: its name as the subject of a sentence, and (seq of the step, text) of each text there."""

    name: str
    texts: tuple[tuple[int, str], ...]

    def holding(self, part: str, *, case: bool) -> list[int]:
        """The seq of each step whose text contains `part`."""
        return [seq for seq, text in self.texts if contains(text, part, case=case)]

    def quoted(self) -> list[str]:
        """The last texts, as evidence."""
        return [short(text) for _, text in self.texts[-5:]] or ["it is empty"]


def place(trace: Trace, on: Scope) -> Place:
    """`any-text` is all that a model said in any thread, the final answer too; `tool-result` the content of all results."""
    steps = trace.steps if on != "final-answer" else tuple(filter(None, (final_answer(trace),)))
    return Place(_NAMES[on], tuple((step.seq, text) for step in steps for text in _texts(step, on)))


def final_answer(trace: Trace) -> FinalAnswer | None:
    """The last turn's answer, never an earlier turn's: a run whose last turn was cut has none."""
    answers = [step for step in trace.steps if isinstance(step, FinalAnswer)]
    if not answers:
        return None
    turns = [step.turn for step in trace.steps if step.turn is not None]
    cut = answers[-1].turn is not None and answers[-1].turn < max(turns)
    return None if cut else answers[-1]


def no_answer(trace: Trace) -> Finding:
    """What every answer oracle says where there is no final answer, wherever it looks."""
    broken = [step for step in trace.steps if isinstance(step, ModelCall) and (step.error or not step.complete)][-1:]
    evidence = [f"a model call failed: {step.error or 'its answer was cut'}" for step in broken]
    return failed("there is no final answer", evidence, (step.seq for step in broken))


def listed(texts: Iterable[str]) -> str:
    return ", ".join(short(text) for text in texts)


def _texts(step: Step, on: Scope) -> Iterator[str]:
    if isinstance(step, ToolResult) and on == "tool-result":
        yield "\n".join(_strings(step.content))
    elif isinstance(step, FinalAnswer) and on != "tool-result":
        yield step.text
    if isinstance(step, ModelCall) and on == "any-text" and step.text:
        yield step.text


def _strings(content: Json) -> Iterator[str]:
    """A text as it is; of JSON its own text and, since quoting changes them, the texts within."""
    if isinstance(content, str):
        yield content
        return
    yield json.dumps(content, ensure_ascii=False)
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
