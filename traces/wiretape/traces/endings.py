"""How a run began and ended: what the user said in each turn, the final answer, and what the last word was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretape.traces.types import ErrorStep, Event, FinalAnswer, ModelCall, Step, Trace, UserMessage

__all__ = ["Ending", "ending", "final_text", "inputs"]


@dataclass(frozen=True, slots=True)
class Ending:
    step: int | None
    meaning: tuple[str, ...]
    """What is compared. The words of a failed connection hold ports and times, so they do not count."""
    words: str
    """Ends the sentence "the run ended …"."""


def inputs(trace: Trace) -> dict[int, tuple[int, str]]:
    """Turn → (seq of its first message, all that the user said in it, a line each) in the main thread."""
    found: dict[int, tuple[int, str]] = {}
    for step in trace.steps:
        if isinstance(step, UserMessage) and step.thread == trace.main_thread and step.turn is not None:
            seq, text = found.get(step.turn, (step.seq, ""))
            found[step.turn] = (seq, f"{text}\n{step.text}" if text else step.text)
    return found


def final_text(trace: Trace) -> tuple[int, str] | None:
    """(seq, text) of the final answer."""
    found = [(step.seq, step.text) for step in trace.steps if isinstance(step, FinalAnswer)]
    return found[-1] if found else None


def ending(trace: Trace) -> Ending:
    """What the agent said of its end, else an error that is the last step, else how the main thread's last model call ended.

    A certificate that a client refused is no ending: the recorder saw it, and in replay there is no such step.
    """
    said = [step for step in trace.steps if isinstance(step, Event) and step.name == "run_ended"]
    if said:
        word = str(said[-1].data.get("as")) if isinstance(said[-1].data, dict) else str(said[-1].data)
        return Ending(said[-1].seq, ("as", word), f"as {word}")
    steps = [step for step in trace.steps if not isinstance(step, FinalAnswer) and not _is_refusal(step)]
    if steps and isinstance(steps[-1], ErrorStep):
        return _failed(steps[-1])
    models = [step for step in steps if isinstance(step, ModelCall) and step.thread == trace.main_thread]
    return _model(models[-1]) if models else _nothing(steps)


def _is_refusal(step: Step) -> bool:
    return isinstance(step, ErrorStep) and step.where.startswith("CONNECT ")


def _failed(step: ErrorStep) -> Ending:
    return Ending(step.seq, ("error", step.where), f"with an error ({step.where}: {step.message})")


def _model(step: ModelCall) -> Ending:
    if step.complete and step.error:
        return Ending(step.seq, ("failed", step.error), f"with a failed model call ({step.error})")
    if not step.complete:
        return Ending(step.seq, ("cut",), "with a model call that was cut")
    reason = step.stop_reason or "no reason given"
    return Ending(step.seq, ("stopped", reason), f"with a model call that stopped ({reason})")


def _nothing(steps: Sequence[Step]) -> Ending:
    return Ending(steps[-1].seq if steps else None, ("nothing",), "without a model call")
