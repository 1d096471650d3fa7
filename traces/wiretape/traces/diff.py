"""Two traces compared by meaning: the calls of each turn with their arguments, their order where one call depends on
another's result, the final answer, the end. Call ids, the order of parallel calls, times, and the text of inner model calls
are not behaviour.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from pydantic import BaseModel, ConfigDict

from wiretape.traces.types import ErrorStep, FinalAnswer, HttpCall, Json, ModelCall, Step, ToolCall, Trace, UserMessage

__all__ = ["Difference", "diff"]


class Difference(BaseModel):
    """One difference, as a sentence for people and as its parts for programs."""

    model_config = ConfigDict(frozen=True)

    kind: str
    """`call-missing`, `call-added`, `arguments`, `order`, `request-missing`, `request-added`, `input`, `answer`, `end`."""
    step: int | None
    """The seq of the step it is about: in the recording where it is there, else in the live trace."""
    recorded: Json
    live: Json
    message: str


def diff(recorded: Trace, live: Trace) -> tuple[Difference, ...]:
    """In the order of the turns; empty where the behaviour is the same."""
    old, new = _turns(recorded), _turns(live)
    found: list[Difference] = []
    for turn in sorted(old.keys() | new.keys()):
        before, after = old.get(turn, []), new.get(turn, [])
        found += _inputs(turn, before, after, recorded.main_thread, live.main_thread)
        found += _calls(turn, before, after)
        found += _requests(turn, before, after)
    return (*found, *_answers(recorded, live), *_ends(recorded, live))


def _turns(trace: Trace) -> dict[int, list[Step]]:
    turns: dict[int, list[Step]] = {}
    for step in trace.steps:
        turns.setdefault(step.turn or 1, []).append(step)
    return turns


def _inputs(turn: int, old: list[Step], new: list[Step], main: int | None, live_main: int | None) -> Iterator[Difference]:
    before, after = (
        [step for step in steps if isinstance(step, UserMessage) and step.thread == thread]
        for steps, thread in ((old, main), (new, live_main))
    )
    for first, second in zip_longest(before, after):
        was, now = first and first.text, second and second.text
        if was != now:
            message = f"turn {turn}: the user's message was {_shown(was)} in the recording and is {_shown(now)} now"
            yield Difference(kind="input", step=(first or second).seq, recorded=was, live=now, message=message)


def _calls(turn: int, old: list[Step], new: list[Step]) -> Iterator[Difference]:
    before, after = ([step for step in steps if isinstance(step, ToolCall)] for steps in (old, new))
    missing, added = _unmatched(before, after), _unmatched(after, before)
    for call in missing:
        other = next((each for each in added if each.tool == call.tool), None)
        if other is not None:
            added.remove(other)
            yield _arguments(turn, call, other)
        else:
            message = f"turn {turn}: {call.tool} was called with {_args(call)} in the recording and is not called now"
            yield Difference(kind="call-missing", step=call.seq, recorded=_value(call), live=None, message=message)
    for call in added:
        message = f"turn {turn}: {call.tool} is called with {_args(call)} now and was not in the recording"
        yield Difference(kind="call-added", step=call.seq, recorded=None, live=_value(call), message=message)
    if not missing and not _unmatched(after, before):
        yield from _order(turn, before, after)


def _unmatched(these: list[ToolCall], those: list[ToolCall]) -> list[ToolCall]:
    """Those of the first that have no equal left in the second."""
    left = Counter(map(_key, those))
    out = []
    for call in these:
        if left[_key(call)] > 0:
            left[_key(call)] -= 1
        else:
            out.append(call)
    return out


def _key(call: ToolCall) -> str:
    return json.dumps([call.tool, _value(call)], sort_keys=True, ensure_ascii=False)


def _value(call: ToolCall) -> Json:
    return call.arguments_text if call.arguments is None else call.arguments


def _arguments(turn: int, call: ToolCall, other: ToolCall) -> Difference:
    message = f"turn {turn}: {call.tool} was called with {_args(call)} in the recording and with {_args(other)} now"
    return Difference(kind="arguments", step=call.seq, recorded=_value(call), live=_value(other), message=message)


def _order(turn: int, old: list[ToolCall], new: list[ToolCall]) -> Iterator[Difference]:
    """Calls of one model answer are a set; the sets follow each other, since the later ones know the results of the earlier."""
    before, after = _groups(old), _groups(new)
    if before != after:
        names = [[" + ".join(sorted(json.loads(key)[0] for key in group)) for group in groups] for groups in (before, after)]
        message = f"turn {turn}: the order was {', '.join(names[0])} in the recording and is {', '.join(names[1])} now"
        yield Difference(kind="order", step=old[0].seq if old else None, recorded=names[0], live=names[1], message=message)


def _groups(calls: list[ToolCall]) -> list[list[str]]:
    groups: dict[object, list[str]] = {}
    for call in calls:
        groups.setdefault(call.by if call.by is not None else ("alone", call.seq), []).append(_key(call))
    return [sorted(group) for group in groups.values()]


def _requests(turn: int, old: list[Step], new: list[Step]) -> Iterator[Difference]:
    before, after = (Counter(_place(step) for step in steps if isinstance(step, HttpCall)) for steps in (old, new))
    for place in sorted(before - after):
        message = f"turn {turn}: {place} was requested in the recording and is not now"
        yield Difference(kind="request-missing", step=_seq(old, place), recorded=place, live=None, message=message)
    for place in sorted(after - before):
        message = f"turn {turn}: {place} is requested now and was not in the recording"
        yield Difference(kind="request-added", step=_seq(new, place), recorded=None, live=place, message=message)


def _place(call: HttpCall) -> str:
    return f"{call.method} {call.host}{call.path}"


def _seq(steps: list[Step], place: str) -> int | None:
    return next((step.seq for step in steps if isinstance(step, HttpCall) and _place(step) == place), None)


def _answers(recorded: Trace, live: Trace) -> Iterator[Difference]:
    old, new = (next((step for step in trace.steps if isinstance(step, FinalAnswer)), None) for trace in (recorded, live))
    was, now = old and old.text, new and new.text
    if was != now:
        step = old or new
        message = f"the final answer was {_shown(was)} in the recording and is {_shown(now)} now"
        yield Difference(kind="answer", step=step.seq if step else None, recorded=was, live=now, message=message)


def _ends(recorded: Trace, live: Trace) -> Iterator[Difference]:
    was, now = _end(recorded), _end(live)
    if was != now:
        message = f"the run ended with {was or 'no error'} in the recording and with {now or 'no error'} now"
        yield Difference(kind="end", step=None, recorded=was, live=now, message=message)


def _end(trace: Trace) -> str | None:
    """The error of the last thing that happened, where it was one."""
    last = next((step for step in reversed(trace.steps) if isinstance(step, ModelCall | ErrorStep)), None)
    if isinstance(last, ErrorStep):
        return last.message
    return last.error if last else None


def _args(call: ToolCall) -> str:
    return _shown(_value(call))


def _shown(value: Json) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 300 else f"{text[:300]}…"
