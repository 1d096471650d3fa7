"""From the bytes of an answer to what one provider's state makes of it: what every decoder here has in common.

What came decides how it is read, not what was asked for and not the content type: an answer that begins with a brace is
JSON, anything else a stream of events (B111). A provider adds a `State`, which takes values and knows no bytes.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from wiretape.traces.decoders.sse import SseEvent, SseReader
from wiretape.traces.decoders.values import error_words, parse
from wiretape.traces.types import Json, ModelView, Request, View

__all__ = ["BodyReader", "Decoder", "ModelReader", "ModelState", "Reader", "State", "error_in"]

_SPACE = b" \t\r\n\xef\xbb\xbf"
_EXCERPT = 2000
_DONE = "[DONE]"


class Reader(Protocol):
    """Takes one answer piece by piece, cut anywhere; never raises, whatever comes."""

    def feed(self, data: bytes) -> None: ...

    @property
    def complete(self) -> bool:
        """The terminal event of the API was seen, or the whole JSON. Costs a parse where it is JSON: ask at the end."""
        ...

    def view(self) -> View: ...


class Decoder(Protocol):
    """One API: which requests are its own, and who reads their answers. `version` grows when the same bytes read otherwise."""

    name: str
    version: int

    def claims(self, request: Request, content_type: str | None) -> bool: ...

    def reader(self, request: Request, status: int, content_type: str | None) -> Reader: ...


class State(ABC):
    """What was understood so far."""

    def __init__(self) -> None:
        self.done = False
        """The terminal event was seen, or this was the whole JSON."""
        self.error: str | None = None
        self.unknown = 0

    @abstractmethod
    def event(self, name: str, value: Json) -> None:
        """One event of a stream, `value` its data."""

    @abstractmethod
    def whole(self, value: Json) -> None:
        """The answer in one piece."""

    def plain(self, data: str) -> None:
        """An event whose data is no JSON. Some gateways end every dialect with OpenAI's `[DONE]`."""
        self.unknown += data != _DONE


class ModelState(State):
    @abstractmethod
    def fields(self) -> dict[str, Json]:
        """The fields of ModelView that the answer tells; `text` is left out where there was no answer."""


class BodyReader[S: State]:
    """Finds out the shape of an answer and feeds it to a state."""

    def __init__(self, fresh: Callable[[], S]) -> None:
        self._fresh = fresh
        self._live = fresh()
        self._shape: str | None = None
        self._before = bytearray()
        self._whole = bytearray()
        self._parsed: tuple[int, S] | None = None
        self._value: Json = None
        self._sse = SseReader()
        self._excerpt = b""

    @property
    def streamed(self) -> bool:
        return self._shape == "events"

    def feed(self, data: bytes) -> None:
        self._excerpt += data[: max(0, _EXCERPT - len(self._excerpt))]
        if self._shape is None:
            first = data.lstrip(_SPACE)[:1]
            if not first:
                self._before += data
                return
            self._shape = "json" if first in b"{[" else "events"
            data = bytes(self._before) + data
        if self._shape == "json":
            self._whole += data
        else:
            for event in self._sse.feed(data):
                _take(self._live, event)

    @property
    def complete(self) -> bool:
        return self.settled().done

    def settled(self) -> S:
        """What is known if nothing more comes. An event without its last blank line counts where it is whole."""
        if self._shape == "json":
            return self._from_json()
        pending = self._sse.pending()
        if pending is None:
            return self._live
        state = copy.deepcopy(self._live)
        _take(state, pending, cut=True)
        return state

    def _from_json(self) -> S:
        size = len(self._whole)
        if self._parsed is None or self._parsed[0] != size:
            state, self._value = self._fresh(), None
            try:
                self._value = parse(self._whole)
                state.whole(self._value)
                state.done = True
            except ValueError:
                state.unknown += 1
            self._parsed = (size, state)
        return self._parsed[1]

    def failure(self, status: int) -> str:
        """What an error status says: the provider's words, else the beginning of the text."""
        text = self._excerpt.decode("utf-8", "ignore").strip()
        return self.settled().error or error_words(self._value) or text or f"HTTP {status}"


def _take(state: State, event: SseEvent, *, cut: bool = False) -> None:
    data = event.data.strip()
    if not data:
        return
    try:
        value = parse(data)
    except ValueError:
        if not cut or data == _DONE:
            state.plain(data)
        return
    state.event(event.name, value)


class ModelReader(BodyReader[ModelState]):
    """`asked` reads the request; it is not called before somebody wants a view."""

    def __init__(self, asked: Callable[[], ModelView], fresh: Callable[[], ModelState], status: int) -> None:
        super().__init__(fresh)
        self._asked, self._status = asked, status

    def view(self) -> ModelView:
        state = self.settled()
        told = state.fields()
        if self._status >= 400:
            told.pop("text", None)
        error = self.failure(self._status) if self._status >= 400 else state.error
        told |= {"error": error, "complete": state.done, "streamed": self.streamed, "unknown_events": state.unknown}
        return self._asked().model_copy(update=told)


def error_in(name: str, value: dict[str, Json]) -> str | None:
    """The error that an event or a whole answer carries in place of, or beside, what was asked for."""
    carried = value.get("error")
    if carried:
        return error_words(value)
    if name == "error" or value.get("type") == "error" or value.get("object") == "error":
        return error_words(value) or "error"
    return None
