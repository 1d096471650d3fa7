"""Bedrock's Converse and ConverseStream (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).

The stream is frames of an AWS event stream; a text block begins without an event of its own. Amazon's models speak the same
under `invoke`, each event under its name as the only key.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from wiretape.traces.decoders.contents import raw, said
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
from wiretape.traces.types import Asked, Declared, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["BedrockConverse", "ConverseState", "converse_view", "error_body"]

_NOT_PARAMETERS = ("messages", "modelId", "requestMetadata", "schemaVersion", "system", "toolConfig")
_USAGE = {
    "input": (("inputTokens",),),
    "output": (("outputTokens",),),
    "cached": (("cacheReadInputTokens",), ("cacheReadInputTokenCount",)),
}
_ATTACHMENTS = ("image", "document", "video", "audio")
_EVENTS = frozenset({"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"})


class BedrockConverse:
    name = "bedrock-converse"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        return (
            is_post(request) and "/model/" in path_of(request) and path_of(request).endswith(("/converse", "/converse-stream"))
        )

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(converse_view, request), ConverseState, status)


def error_body(message: str) -> Json:
    """The SDKs take the kind of the error from the status and the header `x-amzn-errortype`, or from `__type`."""
    return {"__type": "ValidationException", "message": message}


# ---------------------------------------------------------------- the request


def converse_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    config = body.get("toolConfig")
    config = config if isinstance(config, dict) else {}
    steering = parameters(body, _NOT_PARAMETERS)
    if config.get("toolChoice") is not None:
        steering["toolChoice"] = config["toolChoice"]
    return ModelView(
        provider=provider_of(request, "bedrock"),
        api="converse",
        requested_model=model_in_path(request),
        parameters=steering,
        system_digest=system_digest(_spoken(body.get("system"))),
        said=history(_said(message) for message in dicts(body.get("messages"))),
        tools=tuple(_tools(config.get("tools"))),
    )


def _tools(tools: Json) -> Iterator[Declared]:
    for tool in dicts(tools):
        spec = tool.get("toolSpec")
        if isinstance(spec, dict):
            schema = spec.get("inputSchema")
            yield declared(spec, schema.get("json") if isinstance(schema, dict) else None)
        elif isinstance(own := tool.get("systemTool"), dict):
            yield declared(own, None)


def _said(message: dict[str, Json]) -> Said:
    blocks = list(dicts(message.get("content")))
    calls = [_ask(block["toolUse"]) for block in blocks if isinstance(block.get("toolUse"), dict)]
    results = [_result(block["toolResult"]) for block in blocks if isinstance(block.get("toolResult"), dict)]
    return said(string(message.get("role")) or "", _spoken(message.get("content")), asked=calls, handed=results)


def _spoken(content: Json) -> list[Json]:
    """Blocks in the words that all dialects share here; thinking, calls, results and cache markers left out."""
    if isinstance(content, str):
        return [content]
    spoken: list[Json] = []
    for block in dicts(content):
        if isinstance(block.get("text"), str):
            spoken.append({"type": "text", "text": block["text"]})
            continue
        kind = next((each for each in _ATTACHMENTS if isinstance(block.get(each), dict)), None)
        if kind:
            spoken.append(_attachment(kind, block[kind]))
        elif not {"toolUse", "toolResult", "reasoningContent", "cachePoint"} & block.keys():
            spoken.append(block)
    return spoken


def _attachment(kind: str, given: dict[str, Json]) -> Json:
    source = given.get("source")
    source = source if isinstance(source, dict) else {}
    data = source.get("bytes")
    return {"type": kind, "format": given.get("format"), **({"data": data} if data is not None else source)}


def _ask(given: dict[str, Json], pieces: str = "") -> Asked:
    return asked(given.get("name"), given.get("toolUseId"), pieces or given.get("input") or {}, by_provider=_is_own(given))


def _is_own(given: dict[str, Json]) -> bool:
    return given.get("type") == "server_tool_use"


def _result(given: dict[str, Json]) -> Handed:
    parts = list(dicts(given.get("content")))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    content: Json = "\n".join(texts) if texts and len(texts) == len(parts) else given.get("content")
    if len(parts) == 1 and "json" in parts[0]:
        content = parts[0]["json"]
    return handed(given.get("toolUseId"), content, is_error=given.get("status") == "error")


# ---------------------------------------------------------------- the answer


class _Block:
    def __init__(self, start: dict[str, Json] | None = None) -> None:
        self.call: dict[str, Json] | None = None
        self.result: dict[str, Json] | None = None
        self.texts: list[str] = []
        self.pieces: list[str] = []
        self.closed = False
        self.reasoning = False
        self.take(start or {})

    def take(self, given: dict[str, Json]) -> None:
        """What opens a block, adds to it, or is the whole of it."""
        self.texts.append(raw(given.get("text")))
        self.reasoning = self.reasoning or "reasoningContent" in given
        if isinstance(call := given.get("toolUse"), dict):
            if isinstance(call.get("input"), str):
                self.pieces.append(call["input"])
            else:
                self.call = {**(self.call or {}), **call}
        if isinstance(result := given.get("toolResult"), dict):
            self.result = {**(self.result or {}), **result}


class ConverseState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None

    def event(self, name: str, value: Json) -> None:
        if isinstance(value, dict) and len(value.keys() & _EVENTS) == 1:
            name = next(iter(value.keys() & _EVENTS))
            value = value[name]
        if not isinstance(value, dict):
            self.unknown += 1
        elif name.startswith("contentBlock"):
            self._block(name, value)
        elif name == "metadata":
            self._usage |= usage_of(value.get("usage"), _USAGE)
        elif name == "messageStop":
            self._stop, self.done = string(value.get("stopReason")) or self._stop, True
        elif name == "messageStart":
            self._answered = True
        else:
            self.error = self.error or error_in(name, value)
            self.unknown += not self.error

    def _block(self, name: str, value: dict[str, Json]) -> None:
        self._answered = True
        index = count(value.get("contentBlockIndex"))
        block = self._blocks.setdefault(len(self._blocks) if index is None else index, _Block())
        given = value.get("start") if name == "contentBlockStart" else value.get("delta")
        if isinstance(given, dict):
            block.take(given)
        block.closed = block.closed or name == "contentBlockStop"

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict):
            return
        output = value.get("output")
        message = output.get("message") if isinstance(output, dict) else None
        self._answered = isinstance(message, dict)
        for index, block in enumerate(dicts(message.get("content") if isinstance(message, dict) else None)):
            self._blocks[index] = _Block(block)
        self._stop = string(value.get("stopReason"))
        self._usage |= usage_of(value.get("usage"), _USAGE)
        self.error = error_in("", value)

    def fields(self) -> dict[str, Json]:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        told: dict[str, Json] = {
            "stop_reason": self._stop,
            "usage": Usage(**self._usage),
            "reasoning": any(block.reasoning for block in blocks),
            "asked": tuple(_asked(block, done=self.done) for block in blocks if block.call),
            "handed": tuple(_result(clean(block.result)) for block in blocks if block.result),
        }
        if self._answered:
            told["text"] = mend("".join(text for block in blocks for text in block.texts))
        return told


def _asked(block: _Block, *, done: bool) -> Asked:
    """A call that was cut before its first argument has unknown ones."""
    call, text = block.call or {}, "".join(block.pieces)
    given: Json = text or call.get("input") or ({} if block.closed or done else None)
    return asked(call.get("name"), call.get("toolUseId"), given, finished=block.closed or done, by_provider=_is_own(call))
