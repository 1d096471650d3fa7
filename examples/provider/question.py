"""What a request asks: the one thing the provider looks at before it picks an answer. Pure, one reader an API.

A turn is told from another by the last thing the user said and by the tools whose results came since. Everything else in the
request (system prompt, older turns, what a tool said) is not looked at: an agent may change those and is still answered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["READERS", "Question", "read"]


@dataclass(frozen=True)
class Question:
    api: str
    """`chat`, `responses` or `messages`."""
    model: str
    streaming: bool
    text: str
    """The last user text, lower case, without white space: `Florence,Italy` and `Florence, Italy` are one question."""
    results: tuple[str, ...] = ()
    """Names of the tools whose results follow that text, sorted: parallel calls may come back in any order."""


@dataclass(frozen=True)
class _Said:
    text: str


@dataclass(frozen=True)
class _Called:
    id: str
    tool: str


@dataclass(frozen=True)
class _Returned:
    id: str


type _Event = _Said | _Called | _Returned


def read(api: str, body: Mapping[str, Any]) -> Question:
    """Raises LookupError, TypeError or AttributeError where the body is not of the API's shape."""
    text, results = "", list[str]()
    tools: dict[str, str] = {}
    for event in READERS[api](body):
        match event:
            case _Said():
                text, results = event.text, []
            case _Called():
                tools[event.id] = event.tool
            case _Returned():
                results.append(tools.get(event.id, "?"))
    return Question(api, str(body["model"]), body.get("stream") is True, "".join(text.lower().split()), tuple(sorted(results)))


def _chat(body: Mapping[str, Any]) -> Iterator[_Event]:
    for message in body["messages"]:
        if message["role"] == "user":
            yield _Said(_text(message["content"]))
        elif message["role"] == "tool":
            yield _Returned(message["tool_call_id"])
        for call in message.get("tool_calls") or ():
            yield _Called(call["id"], call["function"]["name"])


def _responses(body: Mapping[str, Any]) -> Iterator[_Event]:
    items = body["input"]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if item.get("role") == "user":
            yield _Said(_text(item["content"]))
        elif item.get("type") == "function_call":
            yield _Called(item["call_id"], item["name"])
        elif item.get("type") == "function_call_output":
            yield _Returned(item["call_id"])


def _messages(body: Mapping[str, Any]) -> Iterator[_Event]:
    for message in body["messages"]:
        blocks = [] if isinstance(message["content"], str) else message["content"]
        if message["role"] == "user" and (said := _text(message["content"])):
            yield _Said(said)
        for block in blocks:
            if block["type"] == "tool_use":
                yield _Called(block["id"], block["name"])
            elif block["type"] == "tool_result":
                yield _Returned(block["tool_use_id"])


def _text(content: str | Iterable[Mapping[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


READERS: dict[str, Callable[[Mapping[str, Any]], Iterator[_Event]]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}
