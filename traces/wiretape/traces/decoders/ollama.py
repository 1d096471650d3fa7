"""Ollama's /api/chat and /api/generate (https://docs.ollama.com/api): JSON, or a line of JSON an event.

A stream is what an answer without `"stream": false` is. Tool calls come whole, their arguments as JSON; ids are recent.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import raw, said, system_before
from wiretape.traces.decoders.openai_chat import chat_said, chat_tools
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, dicts, mend, string, usage_of
from wiretape.traces.types import Asked, Json, ModelView, Request, Said, Usage

__all__ = ["Ollama", "error_body"]

_NOT_PARAMETERS = ("context", "images", "messages", "model", "prompt", "stream", "suffix", "system", "tools")
_USAGE = {"input": (("prompt_eval_count",),), "output": (("eval_count",),)}


class Ollama:
    name = "ollama"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        """Chat front ends have an `/api/chat` of their own: the body must name a model."""
        if not is_post(request) or not path_of(request).endswith(("/api/chat", "/api/generate")):
            return False
        body = body_of(request)
        ours = ("messages" in body or "prompt" in body) if isinstance(body, dict) else False
        return ours and string(body.get("model")) is not None

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), OllamaState, status)


def error_body(message: str) -> Json:
    return {"error": message}


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    system, rest = system_before(list(dicts(body.get("messages"))))
    if string(body.get("system")):
        system = [{"type": "text", "text": body["system"]}, *system]
    return ModelView(
        provider=provider_of(request, "ollama"),
        api="generate" if path_of(request).endswith("/generate") else "chat",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(system),
        said=history([*(_said(message) for message in rest), *_prompt(body)]),
        tools=chat_tools(body.get("tools")),
    )


def _said(message: dict[str, Json]) -> Said:
    """Results name their tool; images stand beside the text, as base64 alone."""
    if message.get("role") == "tool":
        return chat_said({**message, "name": message.get("tool_name") or message.get("name")})
    images = message.get("images")
    if not isinstance(images, list) or not images:
        return chat_said(message)
    parts = [{"type": "text", "text": raw(message.get("content"))}, *({"type": "image", "data": each} for each in images)]
    return chat_said({**message, "content": parts})


def _prompt(body: dict[str, Json]) -> list[Said]:
    if not string(body.get("prompt")):
        return []
    images = body.get("images")
    pictures = [{"type": "image", "data": each} for each in images] if isinstance(images, list) else []
    return [said("user", [{"type": "text", "text": body["prompt"]}, *pictures])]


# ---------------------------------------------------------------- the answer


class OllamaState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._texts: list[str] = []
        self._asked: list[Asked] = []
        self._model: str | None = None
        self._stop: str | None = None
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def event(self, name: str, value: Json) -> None:
        self.whole(value)

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            self.unknown += 1
            return
        self.error = self.error or error_in("", value)
        message = value.get("message")
        self.unknown += not self.error and not isinstance(message, dict) and "response" not in value and "done" not in value
        self._model = string(value.get("model")) or self._model
        self._stop = string(value.get("done_reason")) or self._stop
        self._usage |= usage_of(value, _USAGE)
        self._said(message if isinstance(message, dict) else value)
        if isinstance(value.get("done"), bool):
            self.done = value["done"]
        self.done = self.done or bool(self.error)

    def _said(self, given: dict[str, Json]) -> None:
        pieces = [given[key] for key in ("content", "response") if isinstance(given.get(key), str)]
        self._answered = self._answered or bool(pieces)
        self._texts += map(raw, pieces)
        self._reasoning = self._reasoning or bool(given.get("thinking"))
        for call in dicts(given.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, dict):
                arguments = function.get("arguments")
                self._asked.append(asked(function.get("name"), call.get("id"), {} if arguments is None else arguments))

    def fields(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "model": self._model,
            "stop_reason": self._stop,
            "usage": Usage(**self._usage),
            "reasoning": self._reasoning,
            "asked": tuple(self._asked),
        }
        if self._answered or self._asked:
            told["text"] = mend("".join(self._texts))
        return told
