"""OpenAI Responses (https://platform.openai.com/docs/api-reference/responses), also as Azure, xAI and gateways serve it.

A stream tells everything twice: in deltas, and whole in `response.output_item.done` and in the response that the terminal event
carries. What is whole counts; where the stream was cut, the deltas seen so far do.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import said, text_of
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, count, declared, dicts, error_words, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Declared, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["OpenAIResponses"]

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
_TERMINAL = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})

_CLIENT_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
}
"""Items that ask the client → where their arguments stand. Those without a name go by their type."""

_RESULTS = frozenset({f"{kind}_output" for kind in _CLIENT_CALLS})

_NO_CALLS = frozenset({"message", "reasoning", "compaction", "item_reference", "mcp_list_tools", "mcp_approval_request"})

_DELTAS = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


class OpenAIResponses:
    name = "openai-responses"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        return is_post(request) and path_of(request).endswith("/responses")

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), ResponsesState, status)


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    items = _items(body.get("input"))
    lead = next((at for at, item in enumerate(items) if item.get("role") not in ("system", "developer")), len(items))
    system = [
        text for text in (string(body.get("instructions")), *(text_of(item.get("content")) for item in items[:lead])) if text
    ]
    return ModelView(
        provider=provider_of(request, "openai"),
        api="responses",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(list(system)),
        said=history(element for item in items[lead:] if (element := _said(item))),
        tools=tuple(_tool(tool) for tool in dicts(body.get("tools"))),
        previous_id=string(body.get("previous_response_id")),
        conversation_id=_conversation(body.get("conversation")),
    )


def _items(given: Json) -> list[dict[str, Json]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return list(dicts(given))


def _conversation(given: Json) -> str | None:
    return string(given.get("id")) if isinstance(given, dict) else string(given)


def _tool(tool: dict[str, Json]) -> Declared:
    return declared(tool, tool.get("parameters"))


def _said(item: dict[str, Json]) -> Said | None:
    """An item of the history; None for what nobody said (reasoning, references)."""
    kind = string(item.get("type")) or "message"
    if kind in _CLIENT_CALLS:
        return said("assistant", None, asked=[_call(item)])
    if kind in _RESULTS:
        return said("tool", None, handed=[_result(item)])
    if kind == "message":
        return said(string(item.get("role")) or "", item.get("content"))
    if kind in _NO_CALLS:
        return None
    return said("assistant", None, asked=[_call(item)])


def _call(item: dict[str, Json], pieces: str | None = None, *, finished: bool = True) -> Asked:
    kind = string(item.get("type")) or ""
    given = item.get(_CLIENT_CALLS.get(kind, "arguments"))
    if given is None or given == "":
        given = pieces if pieces else "" if finished else None
    name = string(item.get("name")) or kind.removesuffix("_call")
    call_id = item.get("call_id") or item.get("id")
    if kind == "custom_tool_call" and isinstance(given, str):
        return Asked(tool=name, call_id=string(call_id), arguments=mend(given), arguments_text=mend(given))
    return asked(name, call_id, given, finished=finished, by_provider=kind not in _CLIENT_CALLS)


def _result(item: dict[str, Json]) -> Handed:
    return handed(item.get("call_id"), item.get("output"), is_error=item.get("status") == "incomplete")


# ---------------------------------------------------------------- the answer


class _Item:
    """One output item while it grows."""

    __slots__ = ("closed", "given", "pieces", "texts")

    def __init__(self, given: dict[str, Json]) -> None:
        self.given = given
        self.texts: dict[int, list[str]] = {}
        self.pieces: list[str] = []
        self.closed = False

    @property
    def kind(self) -> str:
        return string(self.given.get("type")) or ""

    def text(self) -> str:
        """Its whole content where it came, else the deltas, part by part."""
        whole = text_of(self.given.get("content")) if self.kind == "message" else ""
        return whole or "".join(piece for at in sorted(self.texts) for piece in self.texts[at])


class ResponsesState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._items: dict[int, _Item] = {}
        self._heads: dict[str, Json] = {}
        self._usage: dict[str, int] = {}

    def event(self, name: str, value: Json) -> None:
        kind = (string(value.get("type")) or name) if isinstance(value, dict) else ""
        if not isinstance(value, dict):
            self.unknown += 1
            return
        if kind == "error" or (not kind.startswith("response.") and error_in(name, value)):
            self.error, self.done = self.error or error_in(name, value) or "error", True
        elif isinstance(value.get("response"), dict):
            self._response(value["response"], terminal=kind in _TERMINAL)
            self.done = self.done or kind in _TERMINAL
        elif kind.startswith("response.output_item."):
            self._item(value, closed=kind.endswith(".done"))
        elif kind.endswith(".delta"):
            self._delta(kind, value)
        else:
            self.unknown += not kind.startswith("response.")

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            return
        if isinstance(value.get("output"), list):
            self._response(value, terminal=True)
        else:
            self.error = error_in("", value)

    def _response(self, response: dict[str, Json], *, terminal: bool) -> None:
        self._answered = True
        self._heads |= {key: text for key in ("id", "model", "status") if (text := string(response.get(key)))}
        self._usage |= usage_of(response.get("usage"), _USAGE)
        self.error = self.error or error_words(response.get("error"))
        if (conversation := _conversation(response.get("conversation"))) is not None:
            self._heads["conversation"] = conversation
        reason = response.get("incomplete_details")
        if isinstance(reason, dict) and string(reason.get("reason")):
            self._heads["incomplete"] = string(reason["reason"])
        if terminal:
            for index, item in enumerate(dicts(response.get("output"))):
                self._take(index, item, closed=True)

    def _item(self, value: dict[str, Json], *, closed: bool) -> None:
        given, index = value.get("item"), count(value.get("output_index"))
        if isinstance(given, dict):
            self._answered = True
            self._take(len(self._items) if index is None else index, given, closed=closed)

    def _take(self, index: int, given: dict[str, Json], *, closed: bool) -> None:
        item = self._items.setdefault(index, _Item(given))
        item.given, item.closed = given, item.closed or closed

    def _delta(self, kind: str, value: dict[str, Json]) -> None:
        delta, index = value.get("delta"), count(value.get("output_index"))
        if not isinstance(delta, str):
            self.unknown += not kind.startswith("response.")
            return
        item = self._items.setdefault(max(self._items, default=0) if index is None else index, _Item({}))
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self._answered = True
            item.texts.setdefault(count(value.get("content_index")) or 0, []).append(delta)
        elif kind in _DELTAS:
            item.pieces.append(delta)
        else:
            self.unknown += not kind.startswith("response.")

    def fields(self) -> dict[str, Json]:
        items = [self._items[index] for index in sorted(self._items)]
        calls = [item for item in items if item.kind and item.kind not in _NO_CALLS and item.kind not in _RESULTS]
        told: dict[str, Json] = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "conversation_id": self._heads.get("conversation"),
            "stop_reason": self._heads.get("incomplete") or self._heads.get("status"),
            "usage": Usage(**self._usage),
            "reasoning": any(item.kind == "reasoning" for item in items),
            "asked": tuple(_call(item.given, "".join(item.pieces), finished=item.closed or self.done) for item in calls),
        }
        if told["conversation_id"] is None:
            del told["conversation_id"]
        if self._answered:
            told["text"] = mend("".join(item.text() for item in items))
        return told
