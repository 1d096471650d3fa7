"""The draft of a scenario for a fresh recording: it runs as it is, and asserts nothing until a person says what must hold.

Oracles are proposed as comments, from what the trace shows and only where they hold of it. The command is the recorded one
without its secrets: a value that a variable holds becomes that variable, another that looks like a secret a variable to set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wiretape.oracles import judge
from wiretape.oracles.base import OracleUse
from wiretape.scenarios.argv import without_secrets
from wiretape.traces.types import ApprovalDecision, ApprovalRequest, FinalAnswer, ToolCall, Trace, UserMessage

__all__ = ["FILL_IN", "draft"]

FILL_IN = "FILL IN: words that the answer must hold"

_HEAD = """\
# A draft, written when this was first recorded. Say in `title` what it shows; docs/scenarios.md has every field.
"""
_SECRETS = """\
# Values that look like secrets were taken out of the command: ${NAME} is read from the environment when it runs.
"""
_PROPOSED = """\
# Nothing is asserted until you uncomment: `replay check` fails until then. These hold of what was recorded, but for FILL IN,
# where words of yours belong; keep what must stay true.
# oracles:
"""
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./=@+-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"})
_MOST_TOOLS = 20


def draft(
    name: str,
    trace: Trace,
    argv: Sequence[str],
    folder: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """The text of `folder`/NAME.yaml; `cwd` is where the command ran, the working directory where absent."""
    command = without_secrets(argv, environment)
    place = os.path.relpath(cwd or Path.cwd(), folder)
    lines = [
        "wiretape: 1",
        f"id: {_scalar(name)}",
        f"title: {_scalar(_title(name, trace))}",
        "risk: high",
        "agent:",
        "  via: command",
        f"  command: [{', '.join(map(_scalar, command))}]",
        f"  cwd: {_scalar(place)}",
    ]
    proposals = "".join(f"#   - {line}\n" for line in _proposals(trace))
    hidden = _SECRETS if any("${" in word.replace("$${", "") for word in command) else ""
    return _HEAD + hidden + "\n".join(lines) + "\n" + (_PROPOSED + proposals if proposals else "")


def _title(name: str, trace: Trace) -> str:
    said = [step for step in trace.steps if isinstance(step, UserMessage) and _short(step.text, 80)]
    main = [step for step in said if step.thread == trace.main_thread]
    return _short((main or said)[0].text, 80) if said else name


def _short(text: str, limit: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _proposals(trace: Trace) -> Iterator[str]:
    calls = [step for step in trace.steps if isinstance(step, ToolCall)]
    for tool in list(dict.fromkeys(call.tool for call in calls))[:_MOST_TOOLS]:
        if _holds(trace, "tool-called", tool=tool):
            yield f"{{oracle: tool-called, tool: {_scalar(tool)}}}"
    for asked in dict.fromkeys(step.tool for step in trace.steps if isinstance(step, ApprovalRequest | ApprovalDecision)):
        if _holds(trace, "approval-required", **({"tool": asked} if asked else {})):
            yield f"{{oracle: approval-required{f', tool: {_scalar(asked)}' if asked else ''}}}"
    if _holds(trace, "max-tool-calls", limit=len(calls)):
        yield f"{{oracle: max-tool-calls, limit: {len(calls)}}}"
    if _holds(trace, "no-error"):
        yield "{oracle: no-error}"
    answers = [step.text for step in trace.steps if isinstance(step, FinalAnswer)]
    if answers:
        yield f"{{oracle: final-answer-contains, value: {_scalar(FILL_IN)}}}  # it said: {_short(answers[-1], 60)}"


def _holds(trace: Trace, oracle: str, **parameters: str | int) -> bool:
    return judge(trace, OracleUse(oracle=oracle, parameters=dict(parameters))).status == "passed"


def _scalar(text: str) -> str:
    """`text` as YAML of one line: plain where nobody could read it otherwise, else in double quotes."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # bytes of an argument that are no text
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escape(char) for char in quoted)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
