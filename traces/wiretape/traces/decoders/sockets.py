"""What a WebSocket conversation says: the calls of a model in it. The first message that only one API sends tells which it is.

One conversation is one thread, whatever its calls are continued by; a call by a response's id is where that says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from wiretape.traces.decoders.gemini_live import GeminiLive
from wiretape.traces.decoders.realtime import Realtime
from wiretape.traces.decoders.responses_socket import ResponsesSocket
from wiretape.traces.decoders.values import clean, parse
from wiretape.traces.types import Exchange, Json, Message, ModelView, Request, SocketView

__all__ = ["SOCKETS", "VERSION", "decode_socket"]

VERSION = 1


class Conversation(Protocol):
    unknown: int
    """Messages that nobody knows."""

    def __init__(self, request: Request, socket: str) -> None: ...

    @staticmethod
    def speaks(value: Json) -> bool: ...

    def client(self, value: Json) -> None: ...

    def server(self, value: Json) -> None: ...

    def views(self) -> Iterator[ModelView]: ...


SOCKETS: dict[str, type[Conversation]] = {
    "openai-realtime": Realtime,
    "gemini-live": GeminiLive,
    "openai-responses-socket": ResponsesSocket,
}
_LOOK = 50


def decode_socket(exchange: Exchange) -> SocketView | None:
    """The calls of a model in a conversation; None where it is of no known API."""
    values = list(_values(exchange.messages))
    kind = next((kind for _, value in values[:_LOOK] for kind in SOCKETS.values() if kind.speaks(value)), None)
    if kind is None:
        return None
    conversation: Conversation = kind(exchange.request, f"socket {exchange.seq}")
    for sender, value in values:
        (conversation.client if sender == "client" else conversation.server)(value)
    return SocketView(calls=tuple(conversation.views()), unknown_events=conversation.unknown)


def _values(messages: Iterable[Message]) -> Iterator[tuple[str, Json]]:
    """(sender, JSON) of each message that is JSON, as text or as bytes."""
    for message in messages:
        if message.type in ("text", "binary"):
            try:
                yield message.sender, clean(parse(message.data))
            except ValueError:
                continue
