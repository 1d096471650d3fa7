"""tool-declared: each tool that a model asked for had been offered to it in that very call.

Names are compared exactly, as providers do. An execution that no model was seen to ask for is not judged.
"""

from __future__ import annotations

from wiretape.oracles.base import Check, Finding, NoParameters, failed, passed, skipped
from wiretape.oracles.reading import asked_by, counted, shown, tool_calls, unobserved
from wiretape.traces.types import ModelCall, Trace

__all__ = ["ORACLE"]


def check(trace: Trace, _: NoParameters) -> Finding:
    asked = [(call, model) for call in tool_calls(trace) if (model := asked_by(trace, call)) is not None]
    if not asked:
        return _none_asked(trace)
    wrong = [(call, model) for call, model in asked if call.tool not in {tool.name for tool in model.tools}]
    if wrong:
        names = ", ".join(dict.fromkeys(call.tool for call, _ in wrong))
        evidence = (f"{shown(call)}, {_offered(model)}" for call, model in wrong)
        return failed(f"called without having been offered: {names}", evidence, (call.seq for call, _ in wrong))
    return passed(f"{counted(len(asked), 'call')} to offered tools", (), (call.seq for call, _ in asked))


def _none_asked(trace: Trace) -> Finding:
    if tool_calls(trace):
        return skipped("no model was seen to ask for the tools that were called, so what it had been offered is not known")
    return unobserved(trace, "tools", "no tool was called") or passed("no tool was called")


def _offered(model: ModelCall) -> str:
    names = ", ".join(tool.name for tool in model.tools[:10])
    return f"offered were {names}{' …' if len(model.tools) > 10 else ''}" if names else "no tool was offered"


ORACLE = Check("tool-declared", NoParameters, check)
