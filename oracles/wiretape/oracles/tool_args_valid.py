"""tool-args-valid: arguments satisfy the JSON Schema that the agent itself declared in the model call that asked.

A call is judged where a model was seen to ask for it and had been given a schema; of the others nothing is said. A schema
that cannot be judged (not valid, refers elsewhere) makes the verdict skipped unless another call failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiretape.oracles.base import Check, Finding, NoParameters, failed, passed, skipped
from wiretape.oracles.reading import asked_by, counted, shown, tool_calls, unobserved
from wiretape.oracles.schema import CannotJudge, problems
from wiretape.traces.types import Json, ToolCall, Trace

__all__ = ["ORACLE"]


@dataclass(frozen=True, slots=True)
class Judged:
    call: ToolCall
    wrong: tuple[str, ...] = ()
    unclear: str = ""
    """Why its schema says nothing."""


def check(trace: Trace, _: NoParameters) -> Finding:
    calls = tool_calls(trace)
    if not calls:
        return unobserved(trace, "tools", "no tool was called") or passed("no tool was called")
    judged = [_judge(call, schema) for call, schema in _declared(trace, calls)]
    if not judged:
        return skipped("no schema was seen for any of the tools that were called")
    return _finding(judged, len(calls) - len(judged))


def _declared(trace: Trace, calls: tuple[ToolCall, ...]) -> Iterator[tuple[ToolCall, Json]]:
    for call in calls:
        model = asked_by(trace, call)
        offered = model.tools if model is not None else ()
        schema = next((tool.parameters for tool in offered if tool.name == call.tool), None)
        if schema is not None:
            yield call, schema


def _judge(call: ToolCall, schema: Json) -> Judged:
    arguments, text = call.arguments, call.arguments_text.strip()
    if arguments is None and text not in {"", "null"}:
        return Judged(call, ("the arguments are not JSON",))
    if arguments is None and not text:
        arguments = {}
    try:
        return Judged(call, problems(schema, arguments))
    except CannotJudge as error:
        return Judged(call, unclear=str(error))


def _finding(judged: list[Judged], others: int) -> Finding:
    wrong = [each for each in judged if each.wrong]
    if wrong:
        names = ", ".join(dict.fromkeys(each.call.tool for each in wrong))
        evidence = (f"{shown(each.call, 80)}: {'; '.join(each.wrong[:3])}" for each in wrong)
        return failed(f"arguments do not fit the declared schema: {names}", evidence, (each.call.seq for each in wrong))
    unclear = [each for each in judged if each.unclear]
    if unclear:
        names = ", ".join(dict.fromkeys(each.call.tool for each in unclear))
        reasons = dict.fromkeys(f"the schema of {each.call.tool}: {each.unclear}" for each in unclear)
        return skipped(f"the declared schema cannot be judged: {names}", reasons, (each.call.seq for each in unclear))
    unseen = [f"{counted(others, 'call')} without a schema, not judged"] if others else []
    message = f"{counted(len(judged), 'call')} with arguments that fit the declared schema"
    return passed(message, unseen, (each.call.seq for each in judged))


ORACLE = Check("tool-args-valid", NoParameters, check)
