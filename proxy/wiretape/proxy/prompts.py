"""Rules with `where: prompt`: the result of a tool that ran inside the agent is replaced on its way to the model.

A call id that was decided about stays decided for later requests, which carry the same result again, while the rule is on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from wiretape.proxy.dialects import DIALECTS, Result, dialect_of
from wiretape.proxy.rules.answers import value_of
from wiretape.proxy.rules.book import RuleBook, Touch
from wiretape.proxy.rules.model import Answer
from wiretape.proxy.rules.patch import merged
from wiretape.proxy.rules.placeholders import Setting, fill
from wiretape.proxy.rules.splice import Place, spliced
from wiretape.proxy.rules.subject import Names, Subject, Where
from wiretape.traces.decoders import decode
from wiretape.traces.decoders.requests import body_of
from wiretape.traces.types import Asked, Exchange, Json, ModelView, Request

__all__ = ["Prompts", "Rewritten"]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The request as the model gets it."""

    body: bytes
    replaced: tuple[tuple[str, str], ...]
    """(call id, rule) of each result that was not replaced before."""


class Prompts:
    """`setting` makes what placeholders are filled from; `read` reads a file beside the rule file."""

    def __init__(
        self, book: RuleBook, setting: Callable[[Touch], Setting], read: Callable[[str], bytes], writes: Callable[[str], bool]
    ) -> None:
        self._book = book
        self._setting = setting
        self._read = read
        self._writes = writes
        """Whether a tool may change something: nobody declared it read-only."""
        self._noted: set[tuple[str, str]] = set()
        """(session, call id) of replacements that were told before."""
        self._decided: dict[tuple[str, str], tuple[int, Touch | None]] = {}
        """(session, call id) → (version of the book, what is done to it)."""

    def rewrite(self, request: Request, names: Names, session: str) -> Rewritten | Touch | None:
        """None where nothing is replaced; a touch that has a `failure` where it may not be. The body is without coding."""
        api = dialect_of(request) if self._book.enabled(Where.PROMPT) else None
        if api is None:
            return None
        changes, replaced = list[tuple[Place, Json]](), list[tuple[str, str]]()
        calls = _calls(request)
        for result in DIALECTS[api].results(body_of(request)):
            call = calls.get(result.call_id)
            touch = self._touch(call, names, session) if call else None
            if touch is None:
                continue
            if touch.failure is None:
                touch = self._changed(touch, result, changes)
            if touch.failure:
                return touch
            if (session, result.call_id) not in self._noted:
                replaced.append((result.call_id, touch.rule.id))
                self._noted.add((session, result.call_id))
        return Rewritten(spliced(request.body or b"", changes), tuple(replaced)) if changes else None

    def _touch(self, call: Asked, names: Names, session: str) -> Touch | None:
        key = (session, call.call_id or "")
        version, known = self._decided.get(key, (-1, None))
        if known and self._book.holds(known.rule):
            return known
        if not known and version == self._book.version:
            return None
        subject = Subject({**names, **_tool_names(call.tool)}, call.arguments)
        touch = self._book.ask({Where.PROMPT: subject}, session, "")
        if touch and not touch.failure and not touch.rule.allow_write and self._writes(call.tool):
            return touch.failed(f"{call.tool}, which nobody declares read-only")
        self._decided[key] = (self._book.version, touch)
        return touch

    def _changed(self, touch: Touch, result: Result, changes: list[tuple[Place, Json]]) -> Touch:
        """Adds the change; the touch itself, or one that says why there is none."""
        answer = touch.answer or Answer()
        try:
            value = self._value(touch, answer, result)
        except (OSError, ValueError) as error:
            return replace(touch, failure=f"the rule {touch.rule.id} cannot answer: {error}")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        changes.append(result.change(text, answer.is_error))
        return touch

    def _value(self, touch: Touch, answer: Answer, result: Result) -> Json:
        """The new content; without any of its own the old one, as where only `is_error` is said."""
        setting = self._setting(touch)
        if "patch" in answer.said:
            return merged(_parsed(result.content), fill(answer.patch, setting))
        return value_of(answer, setting, self._read) if answer.said & {"json", "text", "file"} else result.content


def _calls(request: Request) -> Mapping[str, Asked]:
    """The tool calls in the history, by their ids."""
    view = decode(Exchange(0, request), b"")
    said = view.said if isinstance(view, ModelView) else ()
    return {call.call_id: call for each in said for call in each.asked if call.call_id}


def _tool_names(tool: str) -> Mapping[str, tuple[str, ...]]:
    """`mcp__files__read` is `read` of `files` as well."""
    parts = tool.split("__", 2)
    if parts[0] == "mcp" and len(parts) == 3:
        return {"tool": (tool, parts[2]), "server": (parts[1],)}
    return {"tool": (tool,), "server": ()}


def _parsed(content: Json) -> Json:
    try:
        return json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return None
