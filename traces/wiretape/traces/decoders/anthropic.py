"""Anthropic Messages (https://docs.anthropic.com/en/api/messages-streaming), also as Vertex and gateways serve it.

Blocks come one after another or interleaved, each under its index; arguments arrive as `partial_json`, none at all for a tool
without any. The usage of `message_delta` overrides that of `message_start`. Server tools run at the provider: they are asked
`by_provider`, their results stand in the answer itself.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import has_thinking, parts_of, raw, said, texts_of
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
from wiretape.traces.decoders.values import asked, clean, count, declared, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Declared, Handed, Json, ModelView, Request, Said, Usage, header

__all__ = ["AnthropicMessages", "MessagesState", "asked_view", "error_body"]

_NOT_PARAMETERS = (
    "model",
    "messages",
    "system",
    "tools",
    "stream",
    "anthropic_version",
    "cache_control",
    "container",
    "mcp_servers",
)
_USAGE = {
    "input": (("input_tokens",),),
    "output": (("output_tokens",),),
    "cached": (("cache_read_input_tokens",),),
    "reasoning": (("output_tokens_details", "thinking_tokens"),),
}
_ASKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_SILENT = frozenset({"thinking_delta", "signature_delta", "citations_delta", "compaction_delta"})
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicMessages:
    name = "anthropic-messages"
    version = 2

    def claims(self, request: Request, content_type: str | None) -> bool:
        """Many APIs have a path that ends in `messages`: the body must be a history for a model, or the header be there."""
        path = path_of(request)
        if not is_post(request) or not path.endswith(("/messages", "rawpredict", "/invocations")):
            return False
        body = body_of(request)
        if path.endswith("/messages"):
            versioned = header(request.headers, "anthropic-version") is not None
            return _is_history(body) and (versioned or _asks_model(path, body)) if body is not None else versioned
        return _is_history(body) and ("anthropic_version" in body or "/publishers/anthropic/" in path)

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(asked_view, request), MessagesState, status)


def _is_history(body: Json) -> bool:
    return isinstance(body, dict) and isinstance(body.get("messages"), list)


def _asks_model(path: str, body: dict[str, Json]) -> bool:
    return path.endswith("/v1/messages") or ("model" in body and "max_tokens" in body)


def error_body(status: int, message: str) -> Json:
    """https://docs.anthropic.com/en/api/errors"""
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


# ---------------------------------------------------------------- the request


def asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    return ModelView(
        provider=provider_of(request, "anthropic"),
        api="messages",
        requested_model=string(body.get("model")) or model_in_path(request),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(parts_of(body.get("system"))),
        said=history(_said(message) for message in dicts(body.get("messages"))),
        tools=tuple(_tool(tool) for tool in dicts(body.get("tools"))),
    )


def _tool(tool: dict[str, Json]) -> Declared:
    return declared(tool, tool.get("input_schema"))


def _said(message: dict[str, Json]) -> Said:
    """Results of server tools stay in the content: nobody handed them back."""
    role, content = string(message.get("role")) or "", message.get("content")
    asks = [_ask(block) for block in dicts(content) if _kind(block) in _ASKS]
    results = [_result(block) for block in dicts(content) if _kind(block) == "tool_result"]
    rest = [block for block in dicts(content) if _kind(block) not in {*_ASKS, "tool_result"}]
    return said(role, rest if isinstance(content, list) else content, asked=asks, handed=results)


def _kind(block: dict[str, Json]) -> str:
    return string(block.get("type")) or ""


def _ask(block: dict[str, Json]) -> Asked:
    return asked(block.get("name"), block.get("id"), block.get("input"), by_provider=_kind(block) != "tool_use")


def _result(block: dict[str, Json], tool: str | None = None) -> Handed:
    content = block.get("content")
    failed = isinstance(content, dict) and _kind(content).endswith("_error")
    return handed(block.get("tool_use_id"), content, tool=tool, is_error=failed or block.get("is_error") is True)


# ---------------------------------------------------------------- the answer


class _Block:
    """One content block while it grows; `start` is what opened it, {} where that was never seen."""

    def __init__(self, index: int, start: dict[str, Json]) -> None:
        self.index, self.start, self.kind = index, start, _kind(start)
        self.texts = texts_of([start])
        self.pieces: list[str] = []
        self.closed = False

    def grow(self, delta: dict[str, Json]) -> bool:
        """Whether the delta was one that is known."""
        kind = _kind(delta)
        if kind == "text_delta":
            self.texts.append(raw(delta.get("text")))
        elif kind == "input_json_delta":
            self.pieces.append(raw(delta.get("partial_json")))
        return kind in _SILENT or kind in ("text_delta", "input_json_delta")

    @property
    def text(self) -> str:
        return "".join(self.texts) if self.kind in ("text", "") else ""

    def asked(self, done: bool) -> Asked:
        """The arguments are the pieces put together; where there were none, those that the start gave."""
        text = "".join(self.pieces)
        given = text if text.strip() else self.start.get("input") or None
        finished = self.closed or done
        return asked(
            self.start.get("name"), self.start.get("id"), given, finished=finished, by_provider=self.kind != "tool_use"
        )


class MessagesState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._blocks: list[_Block] = []
        self._newest: dict[int | None, _Block] = {}
        self._heads: dict[str, Json] = {}
        self._usage: dict[str, int] = {}

    def event(self, name: str, value: Json) -> None:
        kind = _kind(value) or name if isinstance(value, dict) else ""
        if not isinstance(value, dict):
            self.unknown += 1
        elif error := error_in(name, value):
            self.error, self.done = self.error or error, True
        elif kind in ("message_start", "message_delta"):
            message = value.get("message" if kind == "message_start" else "delta")
            self._message(message if isinstance(message, dict) else {})
            self._usage |= usage_of(value.get("usage"), _USAGE)
        elif kind.startswith("content_block_"):
            self._block(kind, value)
        else:
            self.done = self.done or kind == "message_stop"
            self.unknown += kind not in ("message_stop", "ping")

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self.error = error_in("", value)
            self._message(value)
        for block in self._blocks:
            block.closed = True

    def _message(self, message: dict[str, Json]) -> None:
        self._answered = self._answered or "content" in message
        self._heads |= {key: text for key in ("id", "model", "stop_reason") if (text := string(message.get(key)))}
        self._usage |= usage_of(message.get("usage"), _USAGE)
        self._blocks += [_Block(index, block) for index, block in enumerate(dicts(message.get("content")))]

    def _block(self, kind: str, value: dict[str, Json]) -> None:
        if kind == "content_block_start":
            start = value.get("content_block")
            self._open(count(value.get("index")), start if isinstance(start, dict) else {})
            return
        block, delta = self._known(count(value.get("index"))), value.get("delta")
        if kind == "content_block_stop":
            block.closed = True
        else:
            self.unknown += not (kind == "content_block_delta" and isinstance(delta, dict) and block.grow(delta))

    def _open(self, index: int | None, start: dict[str, Json]) -> _Block:
        self._answered = True
        block = _Block(len(self._blocks) if index is None else index, start)
        self._blocks.append(block)
        self._newest[None] = self._newest[block.index] = block
        return block

    def _known(self, index: int | None) -> _Block:
        """The newest block of an index; without an index the newest of all. One that nobody opened is opened."""
        return self._newest.get(index) or self._open(index, {})

    def fields(self) -> dict[str, Json]:
        blocks = sorted(self._blocks, key=lambda block: block.index)
        asks = [block.asked(self.done) for block in blocks if block.kind in _ASKS]
        tools = {ask.call_id: ask.tool for ask in asks}
        results = [clean(block.start) for block in blocks if block.kind.endswith("tool_result")]
        told: dict[str, Json] = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "stop_reason": self._heads.get("stop_reason"),
            "usage": Usage(**self._usage),
            "reasoning": has_thinking([block.start for block in blocks]),
            "asked": tuple(asks),
            "handed": tuple(_result(block, tools.get(string(block.get("tool_use_id")))) for block in results),
        }
        if self._answered:
            told["text"] = mend("".join(block.text for block in blocks))
        return told
