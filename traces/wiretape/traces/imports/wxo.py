"""Recorded conversations of watsonx Orchestrate's evaluation framework (`messages_*.json`): steps, and no exchange.

A list of messages with `role`, `content` and `type`: text of user or assistant, and tool calls and their answers as JSON within
`content`. An assistant's last text of a turn is that turn's answer; what it says before a call is an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from wiretape.traces.errors import InvalidFile
from wiretape.traces.imports.documents import read_json
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, whole
from wiretape.traces.steps.events import step_event
from wiretape.traces.types import Event, FinalAnswer, Json, Step, ToolCall, ToolResult, UserMessage

__all__ = ["MOST", "read"]

MOST = 64 << 20


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    found = read_json(whole(file, path, MOST), path)
    if not isinstance(found, list) or not all(isinstance(each, dict) and {"role", "type"} <= each.keys() for each in found):
        raise InvalidFile(path, "expected a recorded conversation, a list of messages with `role` and `type`, got other JSON")
    messages = list(Fields(path, "", {"messages": found}).each("messages"))
    answered = {_content(each).text("tool_call_id", "") for each in messages if each["type"] == "tool_response"}
    for number, message in enumerate(messages, 1):
        step = _step(message, answered, last=_is_last(messages, number))
        if step is None:
            yield Item(number, refused="a message that is no text, tool call or tool answer of a user or an assistant")
        else:
            yield Item(number, event=step_event(step))


def _is_last(messages: list[Fields], number: int) -> bool:
    """Whether no message of the agent's own follows in its turn."""
    following = messages[number]["role"] if number < len(messages) else "user"
    return following == "user"


def _step(message: Fields, answered: set[str], *, last: bool) -> Step | None:
    match (message["role"], message["type"]):
        case ("user", "text"):
            return UserMessage(text=message.text("content"))
        case ("assistant", "text"):
            text = message.text("content")
            return FinalAnswer(text=text) if last else Event(name="said", data={"text": text})
        case ("assistant", "tool_call"):
            return _call(_content(message), answered)
        case (_, "tool_response"):
            given = _content(message)
            return ToolResult(tool=given.text("name"), call_id=given.text("tool_call_id", "") or None, content=given["content"])
    return None


def _call(given: Fields, answered: set[str]) -> ToolCall:
    arguments, call_id = given.within("args").values, given.text("id", "")
    return ToolCall(
        tool=given.text("name"),
        call_id=call_id or None,
        arguments=arguments,
        arguments_text=json.dumps(arguments, ensure_ascii=False),
        state="executed" if call_id in answered else "asked",
    )


def _content(message: Fields) -> Fields:
    """The JSON that a tool's message holds as text."""
    try:
        found: Json = json.loads(message.text("content"))
    except (ValueError, RecursionError):
        raise message.fault("content", "expected JSON in text, as a tool call and its answer are written") from None
    return Fields.of(found, message.path, f"{message.place}.content")
