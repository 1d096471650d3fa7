"""Two traces compared by meaning (DESIGN.md §6): is it the same behaviour?

A difference is: what the user said in a turn, the calls of a turn as a multiset with their arguments and whether they were
carried out, the order where one call waited for another's result, the approvals of a turn by tool and decision, the skills it
used and the state it changed, the final answer, and how the run ended. Plain HTTP calls count by method, host and path. The
text of inner calls, call ids, times, and the order of calls asked for together are none.

What a call waited for is what the recording says: a run that asks one after the other for what was asked for at once is the
same, one that no longer waits for a result is not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product

from wiretape.traces.doings import Doing, asked, doings
from wiretape.traces.endings import ending, final_text, inputs
from wiretape.traces.jsontext import compact, read
from wiretape.traces.types import Json, Trace, Value

__all__ = ["Difference", "diff"]


class Difference(Value):
    kind: str
    """answer, arguments, drift, end, input, order, or WORD-added, -changed, -count, -missing or -state, where WORD is approval,
    call, decision, request, skill or state."""
    step: int | None = None
    """The seq of the step concerned in the recorded trace; in the live one where the recorded has none such."""
    recorded: Json = None
    live: Json = None
    message: str
    """One sentence for people."""


def diff(recorded: Trace, live: Trace) -> tuple[Difference, ...]:
    """What is another behaviour in `live`; empty: the same."""
    return (*_inputs(recorded, live), *_calls(recorded, live), *_answers(recorded, live), *_endings(recorded, live))


def _inputs(recorded: Trace, live: Trace) -> Iterator[Difference]:
    before, now = inputs(recorded), inputs(live)
    for turn in sorted({*before, *now}):
        then, today = before.get(turn), now.get(turn)
        if then is None or today is None or _meaning(then[1]) != _meaning(today[1]):
            step = then or today
            yield Difference(
                kind="input",
                step=step[0] if step else None,
                recorded=then[1] if then else None,
                live=today[1] if today else None,
                message=f"turn {turn}: the user said {_words(then)} in the recording and {_words(today)} now",
            )


# ---------------------------------------------------------------- calls


def _calls(recorded: Trace, live: Trace) -> Iterator[Difference]:
    before, now = doings(recorded), doings(live)
    for turn in sorted({*before, *now}, key=lambda turn: turn or 0):
        yield from _turn(before.get(turn, []), now.get(turn, []))
        yield from _order(recorded, live, before.get(turn, []), now.get(turn, []))


def _turn(before: list[Doing], now: list[Doing]) -> Iterator[Difference]:
    """What is on one side alone: the same call more or less often, then the same tool with other arguments, then the rest."""
    recorded, live = _by_key(before), _by_key(now)
    missing: list[Doing] = []
    added: list[Doing] = []
    for key in dict.fromkeys([*recorded, *live]):
        ours, theirs = recorded.get(key, []), live.get(key, [])
        if ours and theirs:
            yield from _same_call(ours, theirs)
        else:
            missing += ours
            added += theirs
    yield from _unlike(missing, added)


def _by_key(calls: list[Doing]) -> dict[str, list[Doing]]:
    found: dict[str, list[Doing]] = defaultdict(list)
    for call in calls:
        found[call.key].append(call)
    return found


def _same_call(ours: list[Doing], theirs: list[Doing]) -> Iterator[Difference]:
    first = ours[0]
    if len(ours) != len(theirs):
        message = f"{first} {_times(len(ours))} in the recording and {_times(len(theirs))} now"
        yield Difference(kind=f"{first.word}-count", step=first.step, recorded=len(ours), live=len(theirs), message=message)
    elif Counter(call.state for call in ours) != Counter(call.state for call in theirs):
        before, now = _states(ours), _states(theirs)
        message = f"{first}: {before} in the recording, {now} now"
        yield Difference(kind="call-state", step=first.step, recorded=before, live=now, message=message)


def _unlike(missing: list[Doing], added: list[Doing]) -> Iterator[Difference]:
    for call in missing:
        other = next((each for each in added if (each.word, each.name) == (call.word, call.name)), None)
        if other is None:
            message = f"{call} in the recording and is not {call.verb} now"
            yield Difference(kind=f"{call.word}-missing", step=call.step, recorded=call.value, message=message)
            continue
        added.remove(other)
        message = f"{call} in the recording and {other.shown or other.verb} now"
        kind = "arguments" if call.word == "call" else f"{call.word}-changed"
        yield Difference(kind=kind, step=call.step, recorded=call.value, live=other.value, message=message)
    for call in added:
        message = f"{call.present} now and was not in the recording"
        yield Difference(kind=f"{call.word}-added", step=call.step, live=call.value, message=message)


def _states(calls: list[Doing]) -> str:
    return ", ".join(_WORDS[call.state] for call in calls)


_WORDS = {"asked": "asked for but not carried out", "executed": "carried out", "denied": "denied"}


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _order(recorded: Trace, live: Trace, before: list[Doing], now: list[Doing]) -> Iterator[Difference]:
    """The first call of the turn that no longer waits for a result, if any: what follows from it is no news."""
    then, today = asked(recorded, before), asked(live, now)
    both = [key for key in then if key in today]
    for key, earlier in product(both, both):
        if then[key].waited_for(then[earlier]) and not today[key].waited_for(today[earlier]):
            one, other = then[earlier].doing, then[key].doing
            how = "before it" if today[key].doing.step < today[earlier].doing.step else "without waiting for it"
            message = f"{other} after the result of {one.name} in the recording and {how} now"
            names = [one.name, other.name]
            yield Difference(kind="order", step=other.step, recorded=names, live=names[::-1], message=message)
            return


# ---------------------------------------------------------------- the end


def _answers(recorded: Trace, live: Trace) -> Iterator[Difference]:
    before, now = final_text(recorded), final_text(live)
    if (before is None) == (now is None) and (before is None or _meaning(before[1]) == _meaning((now or before)[1])):
        return
    then, today = _said(before, "was", "there was none"), _said(now, "is", "there is none")
    message = f"the final answer: {then} in the recording and {today} now"
    yield Difference(
        kind="answer",
        step=(before or now or (None, ""))[0],
        recorded=before[1] if before else None,
        live=now[1] if now else None,
        message=message,
    )


def _meaning(text: str) -> str:
    """White space aside; JSON by its values."""
    value = read(text)
    return " ".join(text.split()) if isinstance(value, str) else compact(value)


def _said(answer: tuple[int, str] | None, verb: str, none: str) -> str:
    return f"it {verb} {_short(answer[1])}" if answer else none


def _words(said: tuple[int, str] | None) -> str:
    return _short(said[1]) if said else "nothing"


def _short(text: str, limit: int = 200) -> str:
    quoted = compact(text)
    return quoted if len(quoted) <= limit else f'{quoted[: limit - 2]}…"'


def _endings(recorded: Trace, live: Trace) -> Iterator[Difference]:
    before, now = ending(recorded), ending(live)
    if before.meaning == now.meaning:
        return
    message = f"the run ended {before.words} in the recording and {now.words} now"
    yield Difference(kind="end", step=before.step or now.step, recorded=before.words, live=now.words, message=message)
