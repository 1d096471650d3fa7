"""Gemini's generateContent and streamGenerateContent (https://ai.google.dev/api/generate-content), on Vertex too.

A stream is server-sent events or, without `alt=sse`, one JSON array that grows. Tool calls come whole, with the finish reason
STOP and often without an id. JSON from Google is read in camelCase and in snake_case, as its servers read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from wiretape.traces.decoders.contents import parts_of, raw, said
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import (
    body_of,
    history,
    is_post,
    model_in_path,
    parameters,
    path_of,
    provider_of,
    system_digest,
)
from wiretape.traces.decoders.values import asked, count, declared, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Declared, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["Gemini", "GeminiState", "asked_view", "either", "error_body", "said_in", "speaks_google", "tools_of", "usage_in"]

_METHODS = (":generatecontent", ":streamgeneratecontent")
_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_NOT_PARAMETERS = ("contents", "model", "systemInstruction", "system_instruction", "tools", "labels")
_USAGE = {
    "input": (("promptTokenCount",),),
    "output": (("candidatesTokenCount",), ("responseTokenCount",)),
    "cached": (("cachedContentTokenCount",),),
    "reasoning": (("thoughtsTokenCount",),),
}
_RAN_BY_PROVIDER = {"executableCode": "code_execution", "executable_code": "code_execution"}


class Gemini:
    name = "gemini"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        return is_post(request) and path_of(request).endswith(_METHODS)

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), GeminiState, status)


def speaks_google(request: Request) -> bool:
    """Any method of Google's on a model, those that are read elsewhere too: their errors have one shape."""
    return re.search(r"/models/[^/]+:\w+$", path_of(request)) is not None


def error_body(status: int, message: str) -> Json:
    """https://cloud.google.com/apis/design/errors"""
    word = _STATUSES.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": word}}


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    return asked_view(given if isinstance(given, dict) else {}, request, model_in_path(request))


def asked_view(body: dict[str, Json], request: Request, model: str | None, api: str = "generateContent") -> ModelView:
    """The request's half of a view; `body` is the JSON of a request, or what opens a Live conversation."""
    system = either(body, "systemInstruction")
    return ModelView(
        provider=provider_of(request, "gemini"),
        api=api,
        requested_model=model or string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(_spoken(_parts(system)) if isinstance(system, dict) else parts_of(system)),
        said=history(said_in(content) for content in _contents(body.get("contents"))),
        tools=tools_of(body.get("tools")),
    )


def either(value: Json, name: str) -> Json:
    """The value under a camelCase name, or under the same in snake_case."""
    if not isinstance(value, dict):
        return None
    return value[name] if name in value else value.get(re.sub(r"(?=[A-Z])", "_", name).lower())


def _contents(given: Json) -> Iterable[dict[str, Json]]:
    if isinstance(given, str):
        return [{"role": "user", "parts": [{"text": given}]}]
    return [given] if isinstance(given, dict) else dicts(given)


def tools_of(tools: Json) -> tuple[Declared, ...]:
    """Functions by their names; a tool of the provider's own by its key (`googleSearch`)."""
    return tuple(tool for entry in dicts(tools) for tool in _tools(entry))


def _tools(entry: dict[str, Json]) -> Iterator[Declared]:
    for key, given in entry.items():
        if key in ("functionDeclarations", "function_declarations"):
            for function in dicts(given):
                schema = function.get("parameters")
                yield declared(function, either(function, "parametersJsonSchema") if schema is None else schema)
        elif given is not None:
            yield declared({"name": key}, None)


def _parts(content: Json) -> list[dict[str, Json]]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return [parts] if isinstance(parts, dict) else list(dicts(parts))


def said_in(content: dict[str, Json]) -> Said:
    """One element of a history; the model is its `assistant`."""
    parts = _parts(content)
    role = string(content.get("role")) or "user"
    return said(
        "assistant" if role == "model" else role,
        _spoken(parts),
        asked=[_call(call) for part in parts if (call := _function(part, "functionCall"))],
        handed=[_result(result) for part in parts if (result := _function(part, "functionResponse"))],
    )


def _function(part: dict[str, Json], name: str) -> dict[str, Json] | None:
    found = either(part, name)
    return found if isinstance(found, dict) else None


def _spoken(parts: list[dict[str, Json]]) -> list[Json]:
    """Parts in the words that all dialects share here; thoughts, calls and results left out."""
    spoken: list[Json] = []
    for part in parts:
        if part.get("thought") is True or _function(part, "functionCall") or _function(part, "functionResponse"):
            continue
        if isinstance(part.get("text"), str):
            spoken.append({"type": "text", "text": part["text"]})
        elif data := _function(part, "inlineData") or _function(part, "fileData"):
            kind = (string(either(data, "mimeType")) or "file").partition("/")[0]
            address = string(either(data, "fileUri"))
            payload = {"url": address} if address else {"data": data.get("data")}
            spoken.append({"type": kind if kind in ("image", "audio", "video") else "file", **payload})
        elif rest := {key: value for key, value in part.items() if key not in ("thoughtSignature", "thought_signature")}:
            spoken.append(rest)
    return spoken


def _call(call: dict[str, Json]) -> Asked:
    return asked(call.get("name"), call.get("id"), call.get("args") or {})


def _result(result: dict[str, Json]) -> Handed:
    """What the client put under `output` or `result` is the result, `error` an error, as Google's SDKs wrap them."""
    response = result.get("response")
    failed = isinstance(response, dict) and bool(response.get("error"))
    content = response
    if isinstance(response, dict) and len(response) == 1:
        content = next((response[key] for key in ("output", "result", "error", "content") if key in response), response)
    return handed(result.get("id"), content, tool=result.get("name"), is_error=failed)


# ---------------------------------------------------------------- the answer


@dataclass(slots=True)
class _Candidate:
    texts: list[str] = field(default_factory=list)
    calls: list[_Growing] = field(default_factory=list)
    finish: str | None = None


@dataclass(slots=True)
class _Growing:
    """A tool call; on Vertex its arguments may come in pieces, each under the JSON path of the string that it adds to."""

    call: dict[str, Json]
    by_provider: bool = False
    open: bool = False

    def take(self, given: dict[str, Json]) -> None:
        self.open = either(given, "willContinue") is True
        self.call |= {key: given[key] for key in ("id", "name", "args") if given.get(key) not in (None, "", {})}
        for piece in dicts(either(given, "partialArgs")):
            self._put(piece)

    def _put(self, piece: dict[str, Json]) -> None:
        names = re.findall(r"[^.\[\]'\"$]+", string(either(piece, "jsonPath")) or "")
        kinds = ("stringValue", "numberValue", "boolValue", "nullValue")
        value = next((either(piece, kind) for kind in kinds if either(piece, kind) is not None), None)
        place = self.call.setdefault("args", {})
        for name in names[:-1]:
            place = place.setdefault(name, {}) if isinstance(place, dict) else {}
        if names and isinstance(place, dict):
            before = place.get(names[-1])
            if isinstance(before, str) and isinstance(value, str):
                value = before + value
            place[names[-1]] = None if value == "NULL_VALUE" else value


class GeminiState(ModelState):
    arrays = True

    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._candidates: dict[int, _Candidate] = {}
        self._heads: dict[str, str] = {}
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def event(self, name: str, value: Json) -> None:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            self.unknown += 1
            return
        self._take(name, value)
        self.done = self.done or bool(self.error) or any(each.finish for each in self._candidates.values())

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self._take("", value)

    def _take(self, name: str, value: dict[str, Json]) -> None:
        self.error = self.error or error_in(name, value)
        known = ("candidates", "usageMetadata", "promptFeedback", "usage_metadata", "prompt_feedback", "error")
        self.unknown += all(key not in value for key in known)
        self._answered = self._answered or "candidates" in value
        self._heads |= {key: text for key in ("modelVersion", "responseId") if (text := string(either(value, key)))}
        self._usage |= usage_in(either(value, "usageMetadata"))
        self._blocked(either(value, "promptFeedback"))
        for position, candidate in enumerate(dicts(value.get("candidates"))):
            index = count(candidate.get("index"))
            self._candidate(self._candidates.setdefault(position if index is None else index, _Candidate()), candidate)

    def _blocked(self, feedback: Json) -> None:
        """A prompt that was refused has no candidates, but a reason."""
        reason = string(either(feedback, "blockReason"))
        if reason:
            self._answered = True
            self._candidates.setdefault(0, _Candidate()).finish = reason

    def _candidate(self, candidate: _Candidate, given: dict[str, Json]) -> None:
        for part in _parts(given.get("content")):
            self.part(candidate, part)
        candidate.finish = string(either(given, "finishReason")) or candidate.finish

    def part(self, candidate: _Candidate, part: dict[str, Json]) -> None:
        thought = part.get("thought") is True
        self._reasoning = self._reasoning or thought or bool(either(part, "thoughtSignature"))
        if not thought:
            candidate.texts.append(raw(part.get("text")))
        if call := _function(part, "functionCall"):
            last = candidate.calls[-1] if candidate.calls else None
            if last is None or not last.open or string(call.get("name")):
                last = _Growing({})
                candidate.calls.append(last)
            last.take(call)
        for key, tool in _RAN_BY_PROVIDER.items():
            if key in part:
                candidate.calls.append(_Growing({"name": tool, "args": part[key]}, by_provider=True))

    def fields(self) -> dict[str, Json]:
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        told: dict[str, Json] = {
            "model": self._heads.get("modelVersion"),
            "response_id": self._heads.get("responseId"),
            "usage": Usage(**self._usage),
            "stop_reason": candidates[0].finish if candidates else None,
            "reasoning": self._reasoning,
            "asked": tuple(_asked(call) for candidate in candidates for call in candidate.calls),
        }
        if self._answered:
            told["text"] = "\n".join(text for each in candidates if (text := mend("".join(each.texts))))
        return told


def _asked(growing: _Growing) -> Asked:
    call = _call(growing.call)
    return call.model_copy(update={"by_provider": True}) if growing.by_provider else call


def usage_in(given: Json) -> dict[str, int]:
    """The counts of a `usageMetadata`, by our names."""
    return usage_of({key: either(given, key) for paths in _USAGE.values() for (key,) in paths}, _USAGE)
