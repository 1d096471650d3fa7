"""From the bytes of an answer to what one provider's state makes of it: what every decoder here has in common.

What came decides how it is read, not what was asked for and not the content type (B111). An answer that begins with a brace or
a bracket is JSON: one value, or several one after another (NDJSON), or an array of them where the API streams so; one that
begins with a zero byte is frames of an AWS event stream; anything else is server-sent events. A provider adds a `State`, which
takes values and knows no bytes.
"""

from __future__ import annotations

import base64
import binascii
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from wiretape.traces.decoders.eventstream import Frame, FrameReader
from wiretape.traces.decoders.sse import SseEvent, SseReader
from wiretape.traces.decoders.values import error_words, parse, several
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

    arrays = False
    """An array at the top is a stream of its elements (Gemini without `alt=sse`)."""

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
        """The answer in one piece; `done` is set, and taken back where it says itself that more was to come."""

    def plain(self, data: str) -> None:
        """An event whose data is no JSON. Some gateways end every dialect with OpenAI's `[DONE]`."""
        self.unknown += data != _DONE

    def wrapped(self, text: str) -> None:
        """What a frame carried in base64: an event of the model's own API, named by itself."""
        try:
            self.event("", parse(text))
        except ValueError:
            self.plain(text)


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
        self._parsed: tuple[int, S, bool] | None = None
        self._value: Json = None
        self._sse = SseReader()
        self._frames = FrameReader()
        self._excerpt = b""

    @property
    def streamed(self) -> bool:
        return self._shape in ("events", "frames") or (self._shape == "json" and self._several)

    def feed(self, data: bytes) -> None:
        self._excerpt += data[: max(0, _EXCERPT - len(self._excerpt))]
        if self._shape is None:
            first = data.lstrip(_SPACE)[:1]
            if not first:
                self._before += data
                return
            self._shape = {b"{": "json", b"[": "json", b"\0": "frames"}.get(first, "events")
            data = bytes(self._before) + data
        if self._shape == "json":
            self._whole += data
        elif self._shape == "frames":
            for frame in self._frames.feed(data):
                _take_frame(self._live, frame)
        else:
            for event in self._sse.feed(data):
                _take(self._live, event)

    @property
    def complete(self) -> bool:
        return self.settled().done

    def settled(self) -> S:
        """What is known if nothing more comes. An event without its last blank line counts where it is whole."""
        if self._shape == "json":
            return self._from_json()[0]
        if self._shape == "frames":
            return self._from_frames()
        pending = self._sse.pending()
        if pending is None:
            return self._live
        state = copy.deepcopy(self._live)
        _take(state, pending, cut=True)
        return state

    @property
    def _several(self) -> bool:
        return self._from_json()[1]

    def _from_json(self) -> tuple[S, bool]:
        """(the state, whether the JSON was a stream of values)."""
        size = len(self._whole)
        if self._parsed is None or self._parsed[0] != size:
            self._value = None
            self._parsed = (size, *self._read_json())
        return self._parsed[1:]

    def _read_json(self) -> tuple[S, bool]:
        state = self._fresh()
        try:
            self._value = parse(self._whole)
        except ValueError:
            values = several(bytes(self._whole), arrays=state.arrays)
            for value in values:
                state.event("", value)
            state.unknown += not values
            return state, bool(values)
        if state.arrays and isinstance(self._value, list):
            for value in self._value:
                state.event("", value)
            return state, True
        state.done = True
        state.whole(self._value)
        return state, False

    def _from_frames(self) -> S:
        if not self._frames.broken:
            return self._live
        state = copy.deepcopy(self._live)
        state.error = state.error or self._frames.broken
        return state

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


def _take_frame(state: State, frame: Frame) -> None:
    """An exception in a frame is the end; JSON under `bytes` is an event of the model's own API, base64 around it."""
    text = frame.payload.decode("utf-8", "replace")
    try:
        value = parse(text) if text.strip() else {}
    except ValueError:
        state.plain(text)
        return
    if frame.headers.get(":message-type", "event") != "event":
        kind = frame.headers.get(":exception-type") or frame.headers.get(":error-code") or "error"
        words = error_words(value) or frame.headers.get(":error-message") or ""
        state.error, state.done = state.error or ": ".join(part for part in (kind, words) if part), True
        return
    name = frame.headers.get(":event-type", "")
    wrapped = value.get("bytes") if isinstance(value, dict) else None
    if isinstance(wrapped, str):
        _take_wrapped(state, wrapped)
    else:
        state.event(name, value)


def _take_wrapped(state: State, wrapped: str) -> None:
    try:
        text = base64.b64decode(wrapped, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        state.unknown += 1
        return
    state.wrapped(text)


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
