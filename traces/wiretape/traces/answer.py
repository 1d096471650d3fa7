"""The main thread, the turns, and the final answer of a trace in the making (DESIGN.md §4)."""

from __future__ import annotations

from collections import Counter

from wiretape.traces.jsontext import compact
from wiretape.traces.links import Call, means
from wiretape.traces.settings import AnswerSettings, TraceSettings
from wiretape.traces.steps.work import Draft, Model, Work
from wiretape.traces.types import Event, FinalAnswer, Json

__all__ = ["add_final_answer", "main_thread", "number_turns"]


def main_thread(models: list[Model], settings: TraceSettings) -> int | None:
    """The scenario's selector (None where no thread fits it: another one would be judged in its place); else the thread whose
    first user message holds the scenario's input; else the one with most model calls, earliest first."""
    if settings.answer.tools_include:
        wanted = settings.answer.tools_include
        return next((model.thread for model in models if any(means(wanted, tool) for tool in model.tools)), None)
    counts = Counter(model.thread for model in models)
    if settings.input and (holding := _holding(models, settings.input)):
        # A title generator may be given the same words: the exact ones, then the longer thread, then one with tools.
        return max(holding, key=lambda model: (_words(model) == settings.input, counts[model.thread], bool(model.tools))).thread
    return counts.most_common(1)[0][0] if counts else None


def _holding(models: list[Model], text: str) -> list[Model]:
    """The first model call of each thread whose first user message holds the text, white space aside."""
    first: dict[int, Model] = {}
    for model in models:
        first.setdefault(model.thread, model)
    return [model for model in first.values() if " ".join(text.split()) in " ".join(_words(model).split())]


def _words(model: Model) -> str:
    return model.first_text or ""


def number_turns(drafts: list[Draft], main: int | None) -> None:
    """Turns by the agent's own `turn_started` events (or what the user said in a recording without model calls), else one for
    each time the user spoke in the main thread. What came before the first belongs to it. Without either there are no turns.
    """
    told = [draft for draft in drafts if draft.opens_turn and draft.thread is None]
    spoken = [draft for draft in drafts if draft.opens_turn and main is not None and draft.thread == main]
    openers = told or spoken
    later = set(openers[1:])
    turn = 1 if openers or main is not None else None
    for draft in drafts:
        if turn is not None and draft in later:
            turn += 1
        draft.turn = turn


def add_final_answer(work: Work, main: int | None) -> None:
    """The last turn's answer as a step at the end; without one there is none, never an earlier turn's.

    In this order: the agent's own event, the argument of an answer tool, the text of the main thread's last model call. Where
    that was cut or failed, only the agent's event counts; where it asks for a client-side tool, its text is none.
    """
    last = max((draft.turn for draft in work.kept() if draft.turn is not None), default=None)
    told = [draft for draft in work.kept() if isinstance(draft.content, FinalAnswer)]
    for draft in told:
        if isinstance(draft.content, FinalAnswer) and (draft is not told[-1] or draft.turn != last):
            draft.content = Event(name="final_answer", data={"text": draft.content.text})
    if told and isinstance(told[-1].content, FinalAnswer):
        return
    models = [model for model in work.models if model.thread == main and model.draft.turn == last]
    if not models or not models[-1].whole:
        return
    text = _by_tool(models, work.settings.answer) or (None if models[-1].asked else models[-1].said)
    if text and text.strip():
        draft = work.add(FinalAnswer(thread=main, exchange=models[-1].number, text=text))
        draft.turn = last


def _by_tool(models: list[Model], answer: AnswerSettings) -> str | None:
    calls = [draft.content for model in models if model.whole for draft in model.asked if isinstance(draft.content, Call)]
    named = [call for call in calls if any(call.goes_by(tool) for tool in answer.tools)]
    return _argument(named[-1].arguments, named[-1].arguments_text) if named else None


_ANSWERS = ("result", "answer", "text", "output", "response", "content", "message")


def _argument(arguments: Json, text: str) -> str:
    """The one text among the arguments, or the one of a usual name; else all of them as JSON."""
    if not isinstance(arguments, dict):
        return arguments if isinstance(arguments, str) else text
    if len(arguments) == 1 and isinstance(only := next(iter(arguments.values())), str):
        return only
    usual = (arguments[name] for name in _ANSWERS if isinstance(arguments.get(name), str))
    return next(usual, compact(arguments))
