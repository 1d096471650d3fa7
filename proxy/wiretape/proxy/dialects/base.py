from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from wiretape.proxy.rules.splice import Place
from wiretape.traces.decoders.values import text_alone
from wiretape.traces.types import Json

__all__ = ["Dialect", "Result", "blocks", "event", "no_results", "words"]


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result in a request to a model."""

    call_id: str
    place: Place
    """Of the block that holds it."""
    block: Mapping[str, Json]
    key: str
    """Of the block: what the tool said."""
    flag: str | None = None
    """Of the block: whether it is an error; None where this API has no such thing."""

    @property
    def content(self) -> Json:
        return text_alone(self.block.get(self.key))

    def change(self, text: str, is_error: bool) -> tuple[Place, Json]:
        """What to put where, so that this is the result."""
        if is_error and self.flag:
            return self.place, {**self.block, self.key: text, self.flag: True}
        return (*self.place, self.key), text


@dataclass(frozen=True, slots=True)
class Dialect:
    whole: Callable[[str, str, str], Json]
    """(text, model, response id) → the body of an answer."""
    stream: Callable[[str, str, str], Iterator[bytes]]
    """The same → the events of a streamed one, whose pieces are the text's words."""
    error: Callable[[bytes, str, str], bytes]
    """(what was sent, code, message) → the event of an error within the stream."""
    results: Callable[[Json], Iterator[Result]]
    """The body of a request → the tool results in its history."""
    streams: Callable[[str, dict[str, Json]], bool] = lambda _, body: body.get("stream") is True
    """(path in lower case, body) → whether the answer is to be streamed."""
    stream_type: str = "text/event-stream"


def no_results(_: Json) -> Iterator[Result]:
    """Of an API whose prompts rules do not change."""
    return iter(())


def blocks(value: Json, key: str) -> Iterator[tuple[Place, dict[str, Json]]]:
    """The objects in the list under a key, with their places."""
    found = value.get(key) if isinstance(value, dict) else None
    for at, block in enumerate(found if isinstance(found, list) else []):
        if isinstance(block, dict):
            yield (key, at), block


def event(data: Json, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def words(text: str) -> list[str]:
    """Each with the space after it; put together they are the text."""
    parts = text.split(" ")
    return [part + " " for part in parts[:-1]] + parts[-1:]
