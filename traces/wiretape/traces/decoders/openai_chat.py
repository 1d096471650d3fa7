"""OpenAI Chat Completions, and the many servers that speak its dialect.

https://platform.openai.com/docs/api-reference/chat. A tool call arrives in fragments that belong to a (choice, index); others
leave the index out (Mistral), use one index for all (Cerebras), send an empty id (Alibaba) or the whole call at once. Usage
may come after the finish reason, with `choices: []`, or as a running figure in every chunk: what comes last counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from wiretape.traces.decoders.contents import has_thinking, raw, said, system_before, texts_of
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import (
    arguments_of,
    asked,
    clean,
    compact,
    count,
    declared,
    dicts,
    handed,
    mend,
    string,
    usage_of,
)
from wiretape.traces.types import Asked, Declared, Json, ModelView, Request, Said, Usage

__all__ = ["ChatState", "OpenAIChat", "asked_view", "chat_said", "chat_tools", "error_body"]

_NOT_PARAMETERS = ("model", "messages", "tools", "functions", "stream", "stream_options")
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks")
_USAGE = {
    "input": (("prompt_tokens",), ("input_tokens",)),
    "output": (("completion_tokens",), ("output_tokens",)),
    "cached": (
        ("prompt_tokens_details", "cached_tokens"),
        ("prompt_cache_hit_tokens",),
        ("cached_tokens",),
        ("cache_read_input_tokens",),
        ("num_cached_tokens",),
    ),
    "reasoning": (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",)),
}
_OURS = frozenset({"choices", "usage", "x_groq"})
"""Keys of which a chunk has at least one."""


class OpenAIChat:
    name = "openai-chat"
    version = 2

    def claims(self, request: Request, content_type: str | None) -> bool:
        """By path; where others use the path too (`/v1/chat`, `/invocations`, `:rawPredict`), by the body as well."""
        path = path_of(request)
        if not is_post(request):
            return False
        if path.endswith("/chat/completions"):
            return True
        shared = path.endswith(("/v1/chat", "/invocations", "rawpredict")) and "/publishers/anthropic/" not in path
        body = body_of(request) if shared else None
        return isinstance(body, dict) and isinstance(body.get("messages"), list) and "anthropic_version" not in body

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(asked_view, request), ChatState, status)


def error_body(status: int, message: str, code: str) -> Json:
    """https://platform.openai.com/docs/guides/error-codes"""
    kind = "rate_limit_error" if status == 429 else "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# ---------------------------------------------------------------- the request


def asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    system, rest = system_before(list(dicts(body.get("messages"))))
    return ModelView(
        provider=provider_of(request, "openai"),
        api="chat",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(system),
        said=history(chat_said(message) for message in rest),
        tools=(*chat_tools(body.get("tools")), *(_tool(each) for each in dicts(body.get("functions")))),
    )


def chat_tools(tools: Json) -> tuple[Declared, ...]:
    return tuple(_tool(_inner(tool)) for tool in dicts(tools))


def _inner(tool: dict[str, Json]) -> dict[str, Json]:
    """Functions and custom tools stand under their type; a provider's own tool has no name but that."""
    inner = tool.get(string(tool.get("type")) or "function")
    return inner if isinstance(inner, dict) and "name" in inner else tool


def _tool(tool: dict[str, Json]) -> Declared:
    return declared(tool, tool.get("parameters"))


def chat_said(message: dict[str, Json]) -> Said:
    role, content = string(message.get("role")) or "", message.get("content")
    if role in ("tool", "function"):
        result = handed(message.get("tool_call_id"), content, tool=message.get("name"))
        return said(role, None, handed=[result])
    return said(role, content, asked=[_whole_call(call) for call in _calls_in(message)])


def _calls_in(message: dict[str, Json]) -> list[dict[str, Json]]:
    """The tool calls of a whole message, the one of the days before `tool_calls` among them."""
    old = message.get("function_call")
    legacy = [{"function": old}] if isinstance(old, dict) and string(old.get("name")) else []
    return [*dicts(message.get("tool_calls")), *legacy]


def _whole_call(call: dict[str, Json]) -> Asked:
    name, given = _function(call)
    return asked(name, call.get("id"), given, free=_is_custom(call))


def _function(call: dict[str, Json]) -> tuple[str, Json]:
    """(name or "", arguments as text or JSON); a custom tool has an `input` in their place."""
    function = call.get("function") or call.get("custom")
    function = function if isinstance(function, dict) else {}
    given = function.get("arguments")
    return string(function.get("name")) or "", function.get("input") if given is None else given


def _is_custom(call: dict[str, Json]) -> bool:
    return isinstance(call.get("custom"), dict) and not call.get("function")


# ---------------------------------------------------------------- the answer


@dataclass(slots=True)
class _Call:
    index: int
    call_id: str = ""
    name: str = ""
    custom: bool = False
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def whole(self) -> bool:
        """Its arguments are complete: another named fragment is another call."""
        return bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and arguments_of(self.text) is not None


@dataclass(slots=True)
class _Choice:
    texts: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    finish: str | None = None

    def take(self, fragments: list[dict[str, Json]]) -> None:
        bare = len(fragments) > 1 and not any(_named(each) or "index" in each for each in fragments)
        for position, fragment in enumerate(fragments):
            call = self._call_for({**fragment, "index": position} if bare else fragment)
            name, given = _function(fragment)
            call.call_id = call.call_id or string(fragment.get("id")) or ""
            call.name = call.name or name
            call.custom = call.custom or _is_custom(fragment)
            call.pieces.append(_text(given))

    def take_whole(self, calls: list[dict[str, Json]]) -> None:
        for position, call in enumerate(calls):
            name, given = _function(call)
            self.calls.append(_Call(position, string(call.get("id")) or "", name, _is_custom(call), [_text(given)]))

    def _call_for(self, fragment: dict[str, Json]) -> _Call:
        """The call that a fragment continues, by index, else by id, else the open one; a new one where it opens one."""
        index, call_id = count(fragment.get("index")), string(fragment.get("id"))
        if index is not None:
            known = next((call for call in reversed(self.calls) if call.index == index), None)
        elif call_id:
            known = next((call for call in self.calls if call.call_id == call_id), None)
        else:
            known = self.calls[-1] if self.calls else None
        if known is None or self._opens_another(known, fragment):
            known = _Call(len(self.calls) if index is None else index)
            self.calls.append(known)
        return known

    def _opens_another(self, known: _Call, fragment: dict[str, Json]) -> bool:
        name, given = _function(fragment)
        call_id = string(fragment.get("id"))
        if not name or not known.name:
            return False
        if call_id and known.call_id:
            return call_id != known.call_id
        return name != known.name or (bool(given) and known.whole)

    def text(self) -> str:
        return mend("".join(self.texts) or "".join(self.transcript))

    def asked(self, done: bool) -> list[Asked]:
        """In order of their index, those of one index as they came."""
        finished = done or self.finish is not None
        calls = sorted(self.calls, key=lambda call: call.index)
        return [asked(c.name, c.call_id, c.text, finished=finished, free=c.custom) for c in calls]


def _text(given: Json) -> str:
    """Arguments as text: some servers send the object itself."""
    return "" if given is None else given if isinstance(given, str) else compact(clean(given))


def _fragments(part: dict[str, Json]) -> list[dict[str, Json]]:
    old = part.get("function_call")
    if isinstance(old, dict) and (old.get("name") or old.get("arguments")):
        return [*dicts(part.get("tool_calls")), {"function": old}]
    return list(dicts(part.get("tool_calls")))


def _named(fragment: dict[str, Json]) -> bool:
    return bool(string(fragment.get("id")) or _function(fragment)[0])


class ChatState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._choices: dict[int, _Choice] = {}
        self._heads: dict[str, Json] = {}
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def plain(self, data: str) -> None:
        super().plain(data)
        self.done = self.done or data == "[DONE]"

    def event(self, name: str, value: Json) -> None:
        if not isinstance(value, dict):
            self.unknown += 1
            return
        self._take(name, value, "delta")
        if self.error:
            self.done = True

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self._take("", value, "message")

    def _take(self, name: str, value: dict[str, Json], key: str) -> None:
        groq = value.get("x_groq")
        groq = groq if isinstance(groq, dict) else {}
        self.error = self.error or error_in(name, value) or error_in("", groq)
        self.unknown += not self.error and _OURS.isdisjoint(value)
        self._answered = self._answered or "choices" in value
        self._heads |= {field: text for field in ("id", "model") if (text := string(value.get(field)))}
        self._usage |= usage_of(value.get("usage") or groq.get("usage"), _USAGE)
        for position, choice in enumerate(dicts(value.get("choices"))):
            self._choice(choice, position, key)

    def _choice(self, given: dict[str, Json], position: int, key: str) -> None:
        index = count(given.get("index"))
        choice = self._choices.setdefault(position if index is None else index, _Choice())
        part: dict[str, Json] = next(
            (given[each] for each in (key, "delta", "message") if isinstance(given.get(each), dict)), {}
        )
        self._said(choice, part)
        if key == "message":
            choice.take_whole(_calls_in(part))
        else:
            choice.take(_fragments(part))
        choice.finish = string(given.get("finish_reason")) or choice.finish
        self.error = self.error or error_in("", given)

    def _said(self, choice: _Choice, part: dict[str, Json]) -> None:
        content, audio = part.get("content"), part.get("audio")
        choice.texts += [*texts_of(content), raw(part.get("refusal"))]
        choice.transcript.append(raw(audio.get("transcript")) if isinstance(audio, dict) else "")
        self._reasoning = self._reasoning or has_thinking(content) or any(part.get(name) for name in _REASONING)

    def fields(self) -> dict[str, Json]:
        choices = [self._choices[index] for index in sorted(self._choices)]
        told = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "usage": Usage(**self._usage),
            "stop_reason": choices[0].finish if choices else None,
            "reasoning": self._reasoning,
            "asked": tuple(call for choice in choices for call in choice.asked(self.done)),
        }
        if self._answered:
            told["text"] = "\n".join(text for choice in choices if (text := choice.text()))
        return told
