"""Cohere's chat, version 2 (https://docs.cohere.com/v2/reference/chat): requests like OpenAI's, answers like nobody's.

What the model plans before it calls tools (`tool_plan`) is thinking, not what it says to anybody.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import has_thinking, raw, system_before, texts_of
from wiretape.traces.decoders.openai_chat import chat_said, chat_tools
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, count, dicts, error_words, mend, string, usage_of
from wiretape.traces.types import Asked, Json, ModelView, Request, Usage

__all__ = ["USAGE", "Cohere", "error_body"]

_NOT_PARAMETERS = ("documents", "messages", "model", "stream", "tools")
USAGE = {
    "input": (("tokens", "input_tokens"), ("billed_units", "input_tokens")),
    "output": (("tokens", "output_tokens"), ("billed_units", "output_tokens")),
    "cached": (("cached_tokens",),),
}
_SILENT = ("content-end", "tool-call-end", "citation-start", "citation-end", "debug")


class Cohere:
    name = "cohere"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        body = body_of(request) if is_post(request) and path_of(request).endswith("/v2/chat") else None
        return isinstance(body, dict) and isinstance(body.get("messages"), list)

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), CohereState, status)


def error_body(message: str) -> Json:
    """https://docs.cohere.com/reference/errors"""
    return {"message": message}


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    system, rest = system_before(list(dicts(body.get("messages"))))
    return ModelView(
        provider=provider_of(request, "cohere"),
        api="chat",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(system),
        said=history(chat_said(message) for message in rest),
        tools=chat_tools(body.get("tools")),
    )


class _Call:
    def __init__(self) -> None:
        self.call_id: Json = None
        self.name: Json = None
        self.pieces: list[str] = []
        self.closed = False

    def take(self, given: dict[str, Json]) -> None:
        self.call_id = given.get("id") or self.call_id
        function = given.get("function")
        if isinstance(function, dict):
            self.name = function.get("name") or self.name
            self.pieces.append(raw(function.get("arguments")))

    def asked(self, *, done: bool) -> Asked:
        return asked(self.name, self.call_id, "".join(self.pieces), finished=done or self.closed)


class CohereState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._texts: dict[int, list[str]] = {}
        self._calls: dict[int, _Call] = {}
        self._id: str | None = None
        self._stop: str | None = None
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def event(self, name: str, value: Json) -> None:
        if not isinstance(value, dict):
            self.unknown += 1
            return
        kind = string(value.get("type")) or name
        delta = value.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        message = delta.get("message")
        message = message if isinstance(message, dict) else {}
        if kind == "message-start":
            self._id, self._answered = string(value.get("id")), True
        elif kind == "message-end":
            self._end(delta)
        elif error := error_in(name, value):
            self.error, self.done = self.error or error, True
        elif kind.startswith(("content-", "tool-")) and kind not in _SILENT:
            self._grow(count(value.get("index")) or 0, message)
        else:
            self._close(kind, value)

    def _close(self, kind: str, value: dict[str, Json]) -> None:
        call = self._calls.get(count(value.get("index")) or 0)
        if kind == "tool-call-end" and call:
            call.closed = True
        self.unknown += kind not in _SILENT

    def _grow(self, index: int, message: dict[str, Json]) -> None:
        content = message.get("content")
        parts = content if isinstance(content, list) else [content] if isinstance(content, dict) else []
        for part in dicts(parts):
            self._reasoning = self._reasoning or "thinking" in part
            self._texts.setdefault(index, []).append(raw(part.get("text")))
        self._reasoning = self._reasoning or bool(message.get("tool_plan"))
        calls = message.get("tool_calls")
        for position, call in enumerate(dicts([calls] if isinstance(calls, dict) else calls)):
            self._calls.setdefault(index + position, _Call()).take(call)

    def _end(self, given: dict[str, Json]) -> None:
        self._stop, self.done = string(given.get("finish_reason")), True
        self._usage |= usage_of(given.get("usage"), USAGE)
        self.error = self.error or error_words(given.get("error"))

    def whole(self, value: Json) -> None:
        message = value.get("message") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(message, dict):
            self.error = error_words(value)
            return
        self._id, self._answered = string(value.get("id")), True
        self._texts[0] = texts_of(message.get("content"))
        self._reasoning = has_thinking(message.get("content")) or bool(message.get("tool_plan"))
        for position, call in enumerate(dicts(message.get("tool_calls"))):
            self._calls.setdefault(position, _Call()).take(call)
        self._end(value)

    def fields(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "response_id": self._id,
            "stop_reason": self._stop,
            "usage": Usage(**self._usage),
            "reasoning": self._reasoning,
            "asked": tuple(self._calls[index].asked(done=self.done) for index in sorted(self._calls)),
        }
        if self._answered:
            told["text"] = mend("".join(text for index in sorted(self._texts) for text in self._texts[index]))
        return told
