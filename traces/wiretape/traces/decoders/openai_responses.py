"""OpenAI Responses (https://platform.openai.com/docs/api-reference/responses), also as Azure, xAI and gateways serve it.

A stream tells everything twice: in deltas, and whole in `response.output_item.done` and in the response that the terminal event
carries. What is whole counts; where the stream was cut, the deltas seen so far do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from wiretape.traces.decoders.contents import parts_of, raw, said, system_before, texts_of
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import (
    body_of,
    distinct,
    history,
    is_post,
    parameters,
    path_of,
    provider_of,
    system_digest,
)
from wiretape.traces.decoders.values import asked, count, declared, dicts, error_words, handed, mend, string, usage_of
from wiretape.traces.types import Approval, Asked, Declared, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["OpenAIResponses", "ResponsesState", "responses_tools", "responses_view"]

_NOT_PARAMETERS = (
    "model",
    "input",
    "instructions",
    "tools",
    "stream",
    "stream_options",
    "previous_response_id",
    "conversation",
)
_USAGE = {
    "input": (("input_tokens",),),
    "output": (("output_tokens",),),
    "cached": (("input_tokens_details", "cached_tokens"),),
    "reasoning": (("output_tokens_details", "reasoning_tokens"),),
}
_CLIENT_CALLS = frozenset(
    {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"}
)
"""Items that ask the client; every other `…_call` is run by the provider."""
_ARGUMENTS = ("arguments", "input", "action", "operation", "code", "queries")
"""Where the arguments of a call stand, whatever its kind."""
_RESULTS = {"mcp_call": ("error", "output"), "code_interpreter_call": ("outputs",), "file_search_call": ("results",)}
"""Calls that hold their own result → where."""
_UNSAID = frozenset({"reasoning", "additional_tools", "mcp_list_tools"})
"""Input items that are no part of the conversation; clients leave reasoning out of later turns."""

_RUNNING = ("queued", "in_progress")
"""A response in the background is answered before it is made; what it says is asked for later, by its id."""
_TERMINAL = frozenset({"completed", "failed", "incomplete", "cancelled"})
_TEXT_KEYS = {"output_text": "text", "refusal": "refusal"}
_ARGUMENT_KEYS = {
    "function_call_arguments": "arguments",
    "mcp_call_arguments": "arguments",
    "custom_tool_call_input": "input",
    "code_interpreter_call_code": "code",
}
"""`response.X.delta` adds to it, `response.X.done` has it whole under this key."""
_SILENT = ("reasoning", "content_part", "output_text", "audio", "queued")
_PROGRESS = ("_call", "mcp_list_tools")


_POLLED = re.compile(r"/responses/(resp_[^/]+)$")
"""The answer of a response in the background."""


class OpenAIResponses:
    name = "openai-responses"
    version = 2

    def claims(self, request: Request, content_type: str | None) -> bool:
        """Any survey has a path that ends in `responses`: the body must ask a model, or the path be OpenAI's own."""
        path = path_of(request)
        if request.method == "GET":
            return _POLLED.search(request.url.partition("?")[0]) is not None
        if not is_post(request) or not path.endswith("/responses"):
            return False
        body = body_of(request)
        if body is None:
            return path.endswith(("/v1/responses", "/openai/responses"))
        return isinstance(body, dict) and ("model" in body or ("input" in body and "/openai/" in path))

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), ResponsesState, status)


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    if polled := _POLLED.search(request.url.partition("?")[0]):
        return ModelView(provider=provider_of(request, "openai"), api="responses", previous_id=polled[1], aside=True)
    given = body_of(request)
    return responses_view(given if isinstance(given, dict) else {}, request)


def responses_view(body: dict[str, Json], request: Request) -> ModelView:
    """The request's half of a view; `body` is a request's, or what asks for a response on a socket."""
    items = (
        [{"role": "user", "content": body["input"]}] if isinstance(body.get("input"), str) else list(dicts(body.get("input")))
    )
    system, rest = system_before([item for item in items if item.get("type") != "additional_tools"])
    return ModelView(
        provider=provider_of(request, "openai"),
        api="responses",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest([*parts_of(body.get("instructions")), *system]),
        said=history(_said(item) for item in rest if _kind(item) not in _UNSAID),
        tools=distinct(_tools([body.get("tools"), *(item.get("tools") for item in items)])),
        previous_id=string(body.get("previous_response_id")),
        conversation_id=_id_of(body.get("conversation")),
    )


def responses_tools(tools: Json) -> tuple[Declared, ...]:
    return tuple(_tools([tools]))


def _id_of(conversation: Json) -> str | None:
    return string(conversation.get("id")) if isinstance(conversation, dict) else string(conversation)


def _tools(places: Iterable[Json]) -> Iterable[Declared]:
    """Tools of a request and of items that bring more; a namespace stands for the tools in it."""
    for tool in (tool for tools in places for tool in dicts(tools)):
        if _kind(tool) == "namespace":
            yield from _tools([tool.get("tools")])
        else:
            schema = tool.get("parameters")
            yield declared(tool, tool.get("input_schema") if schema is None else schema)


def _kind(item: dict[str, Json]) -> str:
    return string(item.get("type")) or ("message" if "role" in item else "")


def _said(item: dict[str, Json]) -> Said:
    kind = _kind(item)
    if kind == "mcp_approval_response":
        word = said("user", [{key: value for key, value in item.items() if key != "id"}])
        decision = Approval(id=string(item.get("approval_request_id")), approved=item.get("approve") is True)
        return word.model_copy(update={"decided": (decision,)})
    if _is_result(kind):
        return said("tool", None, handed=[_result(item)])
    if kind.endswith("_call"):
        return said("assistant", None, asked=[_call(item)], handed=list(_own_result(item)))
    if kind == "message":
        return said(string(item.get("role")) or "", item.get("content"))
    return said(string(item.get("role")) or "assistant", [{key: value for key, value in item.items() if key != "status"}])


# ---------------------------------------------------------------- items, in input and output alike


def _call(item: dict[str, Json], pieces: str = "", *, finished: bool = True, answered: frozenset[str] = frozenset()) -> Asked:
    """`pieces`: arguments that came as deltas; `answered`: ids of calls whose result stands in the same answer."""
    kind, call_id = _kind(item), string(item.get("call_id"))
    whole = next((item[key] for key in _ARGUMENTS if item.get(key) not in (None, "")), None)
    given = {key: value for key, value in whole.items() if key != "sources"} if isinstance(whole, dict) else whole
    ours = kind in _CLIENT_CALLS or (kind == "tool_search_call" and item.get("execution") == "client")
    return asked(
        string(item.get("name")) or kind.removesuffix("_call"),
        call_id or item.get("id"),
        pieces or None if given is None else given,
        finished=finished,
        by_provider=not ours or call_id in answered,
        free=kind == "custom_tool_call",
    )


def _is_result(kind: str) -> bool:
    """What a tool search found are tools to declare, no result."""
    return kind.endswith("_output") and kind != "tool_search_output"


def _result(item: dict[str, Json]) -> Handed:
    return handed(item.get("call_id"), item.get("output"))


def _own_result(item: dict[str, Json]) -> Iterable[Handed]:
    for key in _RESULTS.get(_kind(item), ()):
        if item.get(key):
            tool = string(item.get("name")) or _kind(item).removesuffix("_call")
            yield handed(item.get("call_id") or item.get("id"), item[key], tool=tool, is_error=key == "error")
            return


# ---------------------------------------------------------------- the answer


class _Item:
    """One output item while it grows."""

    def __init__(self) -> None:
        self.given: dict[str, Json] = {}
        self.parts: dict[int, list[str]] = {}
        self.pieces: list[str] = []
        self.closed = False

    @property
    def kind(self) -> str:
        return _kind(self.given)

    @property
    def text(self) -> str:
        """Its whole content where it came, else the deltas, part by part."""
        whole = "".join(texts_of(self.given.get("content"))) if self.kind == "message" else ""
        return whole or "".join(piece for at in sorted(self.parts) for piece in self.parts[at])


class ResponsesState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._items: dict[int, _Item] = {}
        self._places: dict[str, int] = {}
        self._newest = 0
        self._heads: dict[str, Json] = {}
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def event(self, name: str, value: Json) -> None:
        if not isinstance(value, dict):
            self.unknown += 1
            return
        kind = (string(value.get("type")) or name).removeprefix("response.")
        error = error_in(name, value)
        if error:
            self.error, self.done = self.error or error, True
        elif isinstance(value.get("response"), dict):
            self._response(value["response"], final=kind in _TERMINAL)
            self.done = self.done or kind in _TERMINAL
        else:
            self._piece(kind, value)

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            return
        if isinstance(value.get("output"), list) or value.get("object") == "response":
            self._response(value, final=True)
            self.done = self._heads.get("status") not in _RUNNING
        else:
            self.error = error_in("", value)

    def _response(self, given: dict[str, Json], *, final: bool) -> None:
        self._answered = True
        self._heads |= {key: text for key in ("id", "model", "status") if (text := string(given.get(key)))}
        self._heads["conversation"] = _id_of(given.get("conversation")) or self._heads.get("conversation")
        self._usage |= usage_of(given.get("usage"), _USAGE)
        self.error = (
            self.error or error_words(given.get("error")) or ("failed" if self._heads.get("status") == "failed" else None)
        )
        why = given.get("incomplete_details")
        self._heads["why"] = string(why.get("reason")) if isinstance(why, dict) else None
        output = list(dicts(given.get("output")))
        if final and output:
            self._items = {}
            for index, item in enumerate(output):
                self._take(index, item, closed=True)

    def _piece(self, kind: str, value: dict[str, Json]) -> None:
        subject, _, verb = kind.rpartition(".")
        if subject == "output_item" and isinstance(value.get("item"), dict):
            self._take(self._index(value, len(self._items)), value["item"], closed=verb == "done")
        elif subject in _TEXT_KEYS and verb in ("delta", "done"):
            self._text(value, verb, _TEXT_KEYS[subject])
        elif subject in _ARGUMENT_KEYS and verb in ("delta", "done"):
            self._argument(value, verb, _ARGUMENT_KEYS[subject])
        else:
            self._reasoning = self._reasoning or subject.startswith("reasoning")
            self.unknown += not (kind.startswith(_SILENT) or subject.endswith(_PROGRESS))

    def _index(self, value: dict[str, Json], otherwise: int) -> int:
        index, place = count(value.get("output_index")), self._places.get(string(value.get("item_id")) or "")
        return index if index is not None else otherwise if place is None else place

    def _at(self, index: int) -> _Item:
        self._answered, self._newest = True, index
        return self._items.setdefault(index, _Item())

    def _take(self, index: int, given: dict[str, Json], *, closed: bool) -> None:
        item = self._at(index)
        item.given, item.closed = given, item.closed or closed
        if item_id := string(given.get("id")):
            self._places[item_id] = index

    def _text(self, value: dict[str, Json], verb: str, key: str) -> None:
        parts = self._at(self._index(value, self._newest)).parts
        part = parts.setdefault(count(value.get("content_index")) or 0, [])
        _grow(part, value, verb, key)

    def _argument(self, value: dict[str, Json], verb: str, key: str) -> None:
        _grow(self._at(self._index(value, self._newest)).pieces, value, verb, key)

    def fields(self) -> dict[str, Json]:
        items = [self._items[index] for index in sorted(self._items)]
        status = self._heads.get("status")
        told: dict[str, Json] = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "stop_reason": self._heads.get("why") or (status if status in _TERMINAL else None),
            "usage": Usage(**self._usage),
            "reasoning": self._reasoning or any(item.kind == "reasoning" for item in items),
            "asked": tuple(self._asked(items)),
            "handed": tuple(self._handed(items)),
            "approvals": tuple(
                Approval(id=string(item.given.get("id")), tool=string(item.given.get("name")))
                for item in items
                if item.kind == "mcp_approval_request"
            ),
        }
        if self._heads.get("conversation"):
            told["conversation_id"] = self._heads["conversation"]
        if self._answered:
            told["text"] = mend("".join(item.text for item in items))
        if status not in _RUNNING:
            told["aside"] = False
        return told

    def _asked(self, items: list[_Item]) -> Iterable[Asked]:
        results = (item.given for item in items if item.kind.endswith("_output"))
        answered = frozenset(call_id for each in results if (call_id := string(each.get("call_id"))))
        for item in (item for item in items if item.kind.endswith("_call")):
            finished = item.closed or self.done
            yield _call(item.given, "".join(item.pieces), finished=finished, answered=answered)

    def _handed(self, items: list[_Item]) -> Iterable[Handed]:
        for item in items:
            if _is_result(item.kind):
                yield _result(item.given)
            else:
                yield from _own_result(item.given)


def _grow(pieces: list[str], value: dict[str, Json], verb: str, key: str) -> None:
    if verb == "delta":
        pieces.append(raw(value.get("delta")))
    elif isinstance(value.get(key), str):
        pieces[:] = [value[key]]
