"""Cohere's chat, version 1 (https://docs.cohere.com/v1/reference/chat): a message beside a history; JSON or NDJSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from wiretape.traces.decoders.cohere import USAGE
from wiretape.traces.decoders.contents import parts_of, raw, said
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, declared, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["CohereV1", "CohereV1State", "asked_view"]

_NOT_PARAMETERS = (
    "chat_history",
    "conversation_id",
    "documents",
    "message",
    "model",
    "preamble",
    "stream",
    "tool_results",
    "tools",
)
_SILENT = ("stream-start", "search-queries-generation", "search-results", "citation-generation", "tool-calls-chunk", "debug")


class CohereV1:
    name = "cohere-v1"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        body = body_of(request) if is_post(request) and path_of(request).endswith("/chat") else None
        return isinstance(body, dict) and isinstance(body.get("message"), str) and "messages" not in body

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(asked_view, request), CohereV1State, status)


def asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    return ModelView(
        provider=provider_of(request, "cohere"),
        api="chat",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(parts_of(body.get("preamble"))),
        said=history(_said(body)),
        tools=tuple(declared(tool, tool.get("parameter_definitions")) for tool in dicts(body.get("tools"))),
        conversation_id=string(body.get("conversation_id")),
    )


def _said(body: dict[str, Json]) -> Iterator[Said]:
    for each in dicts(body.get("chat_history")):
        role = (string(each.get("role")) or "").lower()
        calls = [_asked(call) for call in dicts(each.get("tool_calls"))]
        results = [_handed(result) for result in dicts(each.get("tool_results"))]
        yield said({"chatbot": "assistant"}.get(role, role), each.get("message"), asked=calls, handed=results)
    results = [_handed(result) for result in dicts(body.get("tool_results"))]
    if results:
        yield said("tool", None, handed=results)
    if string(body.get("message")):
        yield said("user", body["message"])


def _handed(result: dict[str, Json]) -> Handed:
    call = result.get("call")
    return handed(None, result.get("outputs"), tool=call.get("name") if isinstance(call, dict) else None)


def _asked(call: dict[str, Json]) -> Asked:
    return asked(call.get("name"), call.get("id"), call.get("parameters") or {})


class CohereV1State(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._texts: list[str] = []
        self._asked: list[Asked] = []
        self._heads: dict[str, str] = {}
        self._usage: dict[str, int] = {}

    def event(self, name: str, value: Json) -> None:
        kind = string(value.get("event_type")) or name if isinstance(value, dict) else ""
        if not isinstance(value, dict):
            self.unknown += 1
        elif kind == "text-generation":
            self._answered = True
            self._texts.append(raw(value.get("text")))
        elif kind == "tool-calls-generation":
            self._asked = [_asked(call) for call in dicts(value.get("tool_calls"))]
        elif kind == "stream-end":
            self._end(value)
        else:
            self.error = self.error or error_in("", value)
            self.unknown += kind not in _SILENT and not self.error

    def _end(self, value: dict[str, Json]) -> None:
        response = value.get("response")
        if isinstance(response, dict):
            self.whole(response)
        self._heads["finish_reason"] = string(value.get("finish_reason")) or self._heads.get("finish_reason", "")
        self.error = self.error or error_in("", value)
        self.done = True

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            return
        if "event_type" in value:  # the first line of a stream that was cut
            self.done = False
            self.event("", value)
            return
        self.error = error_in("", value)
        if isinstance(value.get("text"), str):
            self._answered, self._texts = True, [value["text"]]
        self._heads |= {
            key: text for key in ("generation_id", "response_id", "finish_reason") if (text := string(value.get(key)))
        }
        self._asked = [_asked(call) for call in dicts(value.get("tool_calls"))] or self._asked
        self._usage |= usage_of(value.get("meta"), USAGE)

    def fields(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "response_id": self._heads.get("response_id") or self._heads.get("generation_id"),
            "stop_reason": self._heads.get("finish_reason"),
            "usage": Usage(**self._usage),
            "asked": tuple(self._asked),
        }
        if self._answered or self._asked:
            told["text"] = mend("".join(self._texts))
        return told
