"""Gemini's Live over WebSocket (https://ai.google.dev/api/live): `setup` opens, then turns go both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from wiretape.traces.decoders.contents import raw, said
from wiretape.traces.decoders.gemini import asked_view, either, said_in, usage_in
from wiretape.traces.decoders.requests import history
from wiretape.traces.decoders.values import asked, dicts, error_words, mend, string
from wiretape.traces.types import Asked, Json, ModelView, Request, Said, Usage

__all__ = ["GeminiLive"]

_CLIENT = ("setup", "clientContent", "realtimeInput", "toolResponse")
_SERVER = (
    "setupComplete",
    "serverContent",
    "toolCall",
    "toolCallCancellation",
    "usageMetadata",
    "goAway",
    "sessionResumptionUpdate",
)


@dataclass(slots=True)
class _Turn:
    """One call of the model: until it asks for tools, or its turn ends."""

    said: list[Said]
    texts: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    """Transcript of what it said aloud."""
    asked: list[Asked] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    stop: str | None = None
    reasoning: bool = False


class GeminiLive:
    """Feed it the messages of both ends in their order; `views` has the calls of the model."""

    def __init__(self, request: Request, socket: str) -> None:
        self._request, self._socket = request, socket
        self._setup: dict[str, Json] = {}
        self._waiting: list[Said] = []
        self._heard: list[str] = []
        """Transcript of what the user said aloud since the last turn."""
        self._turns: list[_Turn] = []
        self._error: str | None = None
        self.unknown = 0

    @staticmethod
    def speaks(value: Json) -> bool:
        return isinstance(value, dict) and any(either(value, key) is not None for key in (*_CLIENT, *_SERVER))

    def client(self, value: Json) -> None:
        setup, content, result = (either(value, key) for key in ("setup", "clientContent", "toolResponse"))
        if isinstance(setup, dict):
            self._setup = setup
        if isinstance(content, dict):
            self._waiting += [said_in(turn) for turn in dicts(content.get("turns"))]
        if isinstance(result, dict):
            responses = [{"functionResponse": each} for each in dicts(either(result, "functionResponses"))]
            self._waiting.append(said_in({"role": "tool", "parts": responses}))
        spoken = either(value, "realtimeInput")
        if isinstance(spoken, dict) and string(spoken.get("text")):
            self._waiting.append(said("user", spoken["text"]))

    def server(self, value: Json) -> None:
        self.unknown += not self.speaks(value) and "error" not in (value if isinstance(value, dict) else {})
        if not isinstance(value, dict):
            return
        self._error = self._error or error_words(value.get("error"))
        content, call, usage = either(value, "serverContent"), either(value, "toolCall"), either(value, "usageMetadata")
        if isinstance(content, dict):
            self._content(content)
        if isinstance(call, dict):
            turn = self._open()
            for each in dicts(either(call, "functionCalls")):
                turn.asked.append(asked(each.get("name"), each.get("id"), each.get("args") or {}))
            turn.stop = "toolCall"
        if isinstance(usage, dict) and self._turns:
            self._turns[-1].usage |= usage_in(usage)

    def _open(self) -> _Turn:
        """The turn that is going on, or a new one."""
        if not self._turns or self._turns[-1].stop:
            if self._heard:
                self._waiting.append(said("user", "".join(self._heard)))
            self._turns.append(_Turn(self._waiting))
            self._waiting, self._heard = [], []
        return self._turns[-1]

    def _content(self, content: dict[str, Json]) -> None:
        heard, told = either(content, "inputTranscription"), either(content, "outputTranscription")
        if isinstance(heard, dict):
            self._heard.append(raw(heard.get("text")))
        model = either(content, "modelTurn")
        parts = list(dicts(model.get("parts"))) if isinstance(model, dict) else []
        if parts or isinstance(told, dict):
            turn = self._open()
            turn.spoken.append(raw(told.get("text")) if isinstance(told, dict) else "")
            for part in parts:
                turn.reasoning = turn.reasoning or part.get("thought") is True
                turn.texts.append("" if part.get("thought") is True else raw(part.get("text")))
        for word in ("turnComplete", "interrupted"):
            if either(content, word) is True and self._turns and not self._turns[-1].stop:
                self._turns[-1].stop = word

    def views(self) -> Iterator[ModelView]:
        turns = self._turns or ([_Turn(self._waiting)] if self._waiting or self._error else [])
        for turn in turns:
            yield self._view(turn, last=turn is turns[-1])

    def _view(self, turn: _Turn, *, last: bool) -> ModelView:
        model = string(self._setup.get("model"))
        asked_for = asked_view(self._setup, self._request, model, api="live")
        return asked_for.model_copy(
            update={
                "model": model.removeprefix("models/") if model and turn.stop else None,
                "said": history(turn.said),
                "streamed": True,
                "stop_reason": turn.stop,
                "usage": Usage(**turn.usage),
                "text": mend("".join(turn.texts) or "".join(turn.spoken)) if turn.stop or turn.texts or turn.spoken else None,
                "reasoning": turn.reasoning,
                "asked": tuple(turn.asked),
                "error": self._error if last else None,
                "complete": turn.stop is not None,
                "conversation_id": self._socket,
            }
        )
