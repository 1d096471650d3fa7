"""In which order NAME.trace shows the steps, so that two recordings of one behaviour read alike.

By turn, and in a turn by thread: the main thread first, with what belongs to no thread where it happened. Other threads run
beside it, so they follow by what they were asked, not by when. In the wake of calls that were asked for together, results
stand in the order of their calls and HTTP calls by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretape.traces.types import FinalAnswer, HttpCall, ModelCall, Step, ToolCall, ToolResult, Trace, UserMessage

__all__ = ["Section", "sections"]


@dataclass(frozen=True, slots=True)
class Section:
    turn: int | None
    thread: int | None
    """Numbered in the order of this text, the main one is 1; None where the trace has but one."""
    steps: tuple[Step, ...]


def sections(trace: Trace) -> Iterator[Section]:
    """All steps but the final answer."""
    numbers = _numbers(trace)
    steps = [step for step in trace.steps if not isinstance(step, FinalAnswer)]
    for turn in sorted({step.turn for step in steps}, key=lambda turn: turn or 0):
        mine = [step for step in steps if step.turn == turn]
        for thread in sorted({_number(step, numbers) for step in mine}):
            chosen = [step for step in mine if _number(step, numbers) == thread]
            yield Section(turn, thread if len(numbers) > 1 else None, tuple(_settled(chosen)))


def _number(step: Step, numbers: dict[int, int]) -> int:
    return numbers.get(step.thread or 0, 1)


def _numbers(trace: Trace) -> dict[int, int]:
    """Thread → its number in the text."""
    firsts: dict[int, tuple[bool, int, str, int]] = {}
    for step in trace.steps:
        if step.thread is not None:
            firsts.setdefault(
                step.thread, (step.thread != trace.main_thread, step.turn or 0, _opening(trace, step.thread), step.thread)
            )
    return {thread: number for number, thread in enumerate(sorted(firsts, key=firsts.__getitem__), 1)}


def _opening(trace: Trace, thread: int) -> str:
    said = (step.text for step in trace.steps if isinstance(step, UserMessage) and step.thread == thread)
    return next(said, "")


def _settled(steps: Sequence[Step]) -> Iterator[Step]:
    """Waves between two model calls, each put in order where its calls were asked for together."""
    wave: list[Step] = []
    together = False
    for step in steps:
        if isinstance(step, ToolResult | HttpCall):
            wave.append(step)
            continue
        yield from _in_order(wave, steps) if together else wave
        wave = []
        if isinstance(step, ModelCall):
            together = False
        elif isinstance(step, ToolCall) and step.parallel_group is not None:
            together = True
        yield step
    yield from _in_order(wave, steps) if together else wave


def _in_order(wave: list[Step], steps: Sequence[Step]) -> list[Step]:
    places = {step.call_id: place for place, step in enumerate(steps) if isinstance(step, ToolCall) and step.call_id}

    def key(step: Step) -> tuple[int, int, str]:
        if isinstance(step, HttpCall):
            return 0, 0, f"{step.host} {step.path} {step.method}"
        return 1, places.get(step.call_id or "", -1) if isinstance(step, ToolResult) else -1, ""

    return sorted(wave, key=key)
