"""Anthropic Messages (https://docs.anthropic.com/en/api/messages-streaming), also as Vertex and gateways serve it.

Blocks come one after another or interleaved, each under its index; arguments arrive as `partial_json`, none at all for a tool
without any. The usage of `message_delta` overrides that of `message_start`. Server tools run at the provider: they are asked
`by_provider`, their results stand in the answer itself.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import has_thinking, parts_of, said, text_of
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, clean, count, declared, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Declared, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["AnthropicMessages", "error_body"]

_NOT_PARAMETERS = ("model", "messages", "system", "tools", "stream", "anthropic_version", "mcp_servers", "container")
_USAGE = {
    "input": (("input_tokens",),),
    "output": (("output_tokens",),),
    "cached": (("cache_read_input_tokens",),),
}
_ASKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_EVENTS = frozenset({"message_stop", "ping", "content_block_stop"})


class AnthropicMessages:
    name = "anthropic-messages"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        """By path; on Vertex and behind `/invocations` by the body, which names an Anthropic version."""
        path = path_of(request)
        if not is_post(request):
            return False
        if path.endswith("/messages") and not path.endswith("/threads/messages"):
            body = body_of(request)
            return "/threads/" not in path and (body is None or _is_ours(body))
        shared = path.endswith((":rawpredict", ":streamrawpredict", "/invocations"))
        body = body_of(request) if shared else None
        return isinstance(body, dict) and "anthropic_version" in body

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), MessagesState, status)


def _is_ours(body: Json) -> bool:
    return isinstance(body, dict) and isinstance(body.get("messages"), list)


_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""https://docs.anthropic.com/en/api/errors"""


def error_body(status: int, message: str, code: str) -> Json:
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    return ModelView(
        provider=provider_of(request, "anthropic"),
        api="messages",
        requested_model=string(body.get("model")) or _model_in_path(request),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(parts_of(body.get("system"))),
        said=history(_said(message) for message in dicts(body.get("messages"))),
        tools=tuple(_tool(tool) for tool in dicts(body.get("tools"))),
    )


def _model_in_path(request: Request) -> str | None:
    """Vertex names the model in the path: …/models/claude-sonnet-4-5:rawPredict."""
    _, models, rest = path_of(request).partition("/models/")
    return rest.rpartition(":")[0] or None if models else None


def _tool(tool: dict[str, Json]) -> Declared:
    return declared(tool, tool.get("input_schema"))


def _said(message: dict[str, Json]) -> Said:
    role, content = string(message.get("role")) or "", message.get("content")
    blocks = list(dicts(content))
    asks = [_ask(block) for block in blocks if block.get("type") in _ASKS]
    results = [_result(block) for block in blocks if block.get("type") == "tool_result"]
    rest = [block for block in blocks if not _is_call(block)] if isinstance(content, list) else content
    return said(role, rest, asked=asks, handed=results)


def _is_call(block: dict[str, Json]) -> bool:
    return block.get("type") in _ASKS or _is_result(block)


def _is_result(block: dict[str, Json]) -> bool:
    return (string(block.get("type")) or "").endswith("tool_result")


def _ask(block: dict[str, Json]) -> Asked:
    return asked(block.get("name"), block.get("id"), block.get("input"), by_provider=block.get("type") != "tool_use")


def _result(block: dict[str, Json]) -> Handed:
    return handed(block.get("tool_use_id"), block.get("content"), is_error=block.get("is_error") is True)


# ---------------------------------------------------------------- the answer


class _Block:
    """One content block while it grows."""

    __slots__ = ("closed", "pieces", "start", "texts")

    def __init__(self, start: dict[str, Json]) -> None:
        self.start = start
        self.texts = [text_of([start])]
        self.pieces: list[str] = []
        self.closed = False

    def grow(self, delta: dict[str, Json]) -> bool:
        """Whether the delta was one that is known."""
        kind = delta.get("type")
        if kind == "text_delta":
            self.texts.append(string(delta.get("text")) or "")
        elif kind == "input_json_delta":
            piece = delta.get("partial_json")
            self.pieces.append(piece if isinstance(piece, str) else "")
        return kind in (
            "text_delta",
            "input_json_delta",
            "thinking_delta",
            "signature_delta",
            "citations_delta",
            "compaction_delta",
        )

    def asked(self, *, done: bool) -> Asked:
        """The arguments are the pieces put together; where there were none, those that the start gave."""
        text = "".join(self.pieces)
        given: Json = text if text.strip() else self.start.get("input") or ("" if self.closed or done else None)
        by_provider = self.start.get("type") != "tool_use"
        finished = self.closed or done
        return asked(self.start.get("name"), self.start.get("id"), given, finished=finished, by_provider=by_provider)


class MessagesState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._blocks: dict[int, _Block] = {}
        self._heads: dict[str, Json] = {}
        self._usage: dict[str, int] = {}

    def event(self, name: str, value: Json) -> None:
        kind = (string(value.get("type")) or name) if isinstance(value, dict) else ""
        if not isinstance(value, dict):
            self.unknown += 1
        elif error := error_in(name, value):
            self.error, self.done = self.error or error, True
        elif kind == "message_start":
            self._message(value.get("message"))
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            self._block(kind, value)
        elif kind == "message_delta":
            self._head(value.get("delta"))
            self._usage |= usage_of(value.get("usage"), _USAGE)
        elif kind == "message_stop":
            self.done = True
        else:
            self.unknown += kind not in _EVENTS

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            return
        self.error = error_in("", value)
        if not self.error:
            self._message(value)
            for block in self._blocks.values():
                block.closed = True

    def _message(self, message: Json) -> None:
        if not isinstance(message, dict):
            return
        self._answered = self._answered or "content" in message
        self._head(message)
        self._usage |= usage_of(message.get("usage"), _USAGE)
        for index, block in enumerate(dicts(message.get("content"))):
            self._blocks[index] = _Block(block)

    def _head(self, given: Json) -> None:
        if isinstance(given, dict):
            self._heads |= {key: text for key in ("id", "model", "stop_reason") if (text := string(given.get(key)))}

    def _block(self, kind: str, value: dict[str, Json]) -> None:
        index = count(value.get("index"))
        at = max(self._blocks, default=-1) + (kind == "content_block_start") if index is None else index
        if kind == "content_block_start":
            start = value.get("content_block")
            self._blocks[at] = _Block(start if isinstance(start, dict) else {})
            return
        block = self._blocks.setdefault(at, _Block({}))
        if kind == "content_block_stop":
            block.closed = True
            return
        delta = value.get("delta")
        self.unknown += not (isinstance(delta, dict) and block.grow(delta))

    def fields(self) -> dict[str, Json]:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        told: dict[str, Json] = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "stop_reason": self._heads.get("stop_reason"),
            "usage": Usage(**self._usage),
            "reasoning": has_thinking([block.start for block in blocks]),
            "asked": tuple(block.asked(done=self.done) for block in blocks if block.start.get("type") in _ASKS),
            "handed": tuple(_result(clean(block.start)) for block in blocks if _is_result(block.start)),
        }
        if self._answered:
            told["text"] = mend("".join(text for block in blocks for text in block.texts))
        return told
