"""MCP over stdio (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio): a JSON-RPC message a line.

A conversation lasts as long as its server and holds many requests, so it is read as what HTTP would have made of it: a view for
each message of the client, at the time of that message, with the answer that came to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wiretape.traces.decoders.mcp import asked_and_answered, declared_tools, messages
from wiretape.traces.decoders.values import clean, parse
from wiretape.traces.types import Json, McpAnswer, McpRequest, McpView, Message

__all__ = ["VERSION", "decode_stdio"]

VERSION = 1


def decode_stdio(conversation: Iterable[Message]) -> list[tuple[int, McpView]]:
    """(microseconds since its start, view) of each of the client's messages, in their order; empty where it is no MCP."""
    talk = _Talk()
    for message in conversation:
        asked, answers = asked_and_answered(messages(_value(message)))
        if message.sender == "client":
            talk.client(message.at, asked, answers)
        else:
            talk.server(message.at, asked, answers)
    return [(turn.at, turn.view()) for turn in talk.turns]


@dataclass
class _Turn:
    """What the client said at once, and what came of it."""

    at: int
    requests: list[McpRequest] = field(default_factory=list)
    replies: list[McpAnswer] = field(default_factory=list)
    answers: list[McpAnswer] = field(default_factory=list)
    from_server: list[McpRequest] = field(default_factory=list)

    def view(self) -> McpView:
        listed = {each.id for each in self.requests if each.method == "tools/list"}
        return McpView(
            requests=tuple(self.requests),
            answers=tuple(self.answers),
            declared=tuple(tool for each in self.answers if each.id in listed for tool in declared_tools(each.result)),
            from_server=tuple(self.from_server),
            replies=tuple(self.replies),
        )


class _Talk:
    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self._open: dict[str, _Turn] = {}
        """JSON text of the id of each request without an answer → its turn, the earliest first."""

    def client(self, at: int, asked: list[McpRequest], answers: list[McpAnswer]) -> None:
        if asked or answers:
            turn = _Turn(at, asked, answers)
            self.turns.append(turn)
            self._open |= {each.id: turn for each in asked if each.id is not None}

    def server(self, at: int, asked: list[McpRequest], answers: list[McpAnswer]) -> None:
        """What it says by itself belongs to the latest request that it works on."""
        if asked:
            turn = next(reversed(self._open.values()), None) or self._own(at)
            turn.from_server += asked
        for answer in answers:
            if answer.id in self._open:
                self._open.pop(answer.id).answers.append(answer)

    def _own(self, at: int) -> _Turn:
        self.turns.append(_Turn(at))
        return self.turns[-1]


def _value(message: Message) -> Json:
    try:
        return clean(parse(message.data)) if message.type == "text" else None
    except ValueError:
        return None
