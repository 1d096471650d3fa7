"""Gemini's Interactions (https://ai.google.dev/gemini-api/docs/interactions): a history that lives on the provider's side.

What came back stands in `steps` (a `model_output` with `content`, a `function_call`), in the API's first version in `outputs`.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.contents import parts_of, raw, said, texts_of
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of, system_digest
from wiretape.traces.decoders.values import asked, count, declared, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Declared, Json, ModelView, Request, Said, Usage

__all__ = ["GeminiInteractions"]

_NOT_PARAMETERS = ("agent", "input", "model", "previous_interaction_id", "stream", "system_instruction", "tools")
_USAGE = {
    "input": (("total_input_tokens",),),
    "output": (("total_output_tokens",),),
    "cached": (("total_cached_tokens",),),
    "reasoning": (("total_thought_tokens",), ("total_reasoning_tokens",)),
}
_TERMINAL = ("interaction.completed", "interaction.complete", "interaction.failed", "interaction.cancelled")
_SILENT = ("interaction.", "step.stop", "content.stop")


class GeminiInteractions:
    name = "gemini-interactions"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        body = body_of(request) if is_post(request) and path_of(request).endswith("/interactions") else None
        return isinstance(body, dict) and "input" in body and ("model" in body or "agent" in body)

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), InteractionState, status)


# ---------------------------------------------------------------- the request


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    return ModelView(
        provider=provider_of(request, "gemini"),
        api="interactions",
        requested_model=string(body.get("model")) or string(body.get("agent")),
        parameters=parameters(body, _NOT_PARAMETERS),
        system_digest=system_digest(parts_of(body.get("system_instruction"))),
        said=history(_history(body.get("input"))),
        tools=tuple(_tool(tool) for tool in dicts(body.get("tools"))),
        previous_id=string(body.get("previous_interaction_id")),
    )


def _history(given: Json) -> list[Said]:
    """A text, parts of one message, or turns and steps."""
    items = [given] if isinstance(given, dict) else given
    if not isinstance(items, list):
        return [said("user", given)] if given is not None else []
    if all(isinstance(item, dict) and "role" not in item and not _is_step(item) for item in items):
        return [said("user", items)]
    return [_said(item) for item in dicts(items)]


def _is_step(item: dict[str, Json]) -> bool:
    kind = string(item.get("type")) or ""
    return kind.endswith(("_call", "_result", "_output", "_input")) or kind == "thought"


def _said(item: dict[str, Json]) -> Said:
    kind = string(item.get("type")) or ""
    if kind.endswith("_call"):
        return said("assistant", None, asked=[_call(item)])
    if kind.endswith("_result"):
        result = handed(item.get("call_id"), item.get("result"), tool=item.get("name"), is_error=item.get("is_error") is True)
        return said("tool", None, handed=[result])
    role = string(item.get("role")) or ("user" if kind == "user_input" else "model")
    content = item.get("content")
    calls = [_call(part) for part in dicts(content) if part.get("type") == "function_call"]
    spoken = [part for part in dicts(content) if part.get("type") != "function_call"] if calls else content
    return said("assistant" if role == "model" else role, spoken, asked=calls)


def _call(item: dict[str, Json]) -> Asked:
    kind = string(item.get("type")) or ""
    name = string(item.get("name")) or kind.removesuffix("_call")
    return asked(name, item.get("id"), item.get("arguments") or {}, by_provider=kind != "function_call")


def _tool(tool: dict[str, Json]) -> Declared:
    return declared(tool, tool.get("parameters"))


# ---------------------------------------------------------------- the answer


class _Step:
    def __init__(self, given: dict[str, Json]) -> None:
        self.given = given
        self.kind = string(given.get("type")) or ""
        self.texts = texts_of(given.get("content")) if self.kind == "model_output" else texts_of([given])
        self.pieces: list[str] = []

    def grow(self, delta: dict[str, Json]) -> None:
        kind = string(delta.get("type")) or ""
        self.kind = self.kind or kind
        if kind == "text":
            self.texts.append(raw(delta.get("text")))
        elif isinstance(delta.get("arguments"), str):
            self.pieces.append(delta["arguments"])
        elif kind.endswith(("_call", "_result")):
            self.given |= {key: value for key, value in delta.items() if value not in (None, "", {})}

    def asked(self) -> Asked:
        text = "".join(self.pieces)
        return _call({**self.given, "type": self.kind, **({"arguments": text} if text else {})})


class InteractionState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[int, _Step] = {}
        self._heads: dict[str, str] = {}
        self._usage: dict[str, int] = {}
        self._answered = False

    def event(self, name: str, value: Json) -> None:
        if not isinstance(value, dict):
            self.unknown += 1
            return
        kind = string(value.get("event_type")) or name
        self.error = self.error or error_in(kind, value)
        interaction = value.get("interaction")
        if isinstance(interaction, dict):
            self._interaction(interaction)
        if kind in ("step.start", "content.start", "step.delta", "content.delta"):
            self._grow(kind, value)
        elif not kind.startswith(_SILENT) and not self.error:
            self.unknown += 1
        self.done = self.done or bool(self.error) or kind in _TERMINAL

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self.error = error_in("", value)
            self._interaction(value)

    def _interaction(self, given: dict[str, Json]) -> None:
        self._heads |= {key: text for key in ("id", "model", "agent", "status") if (text := string(given.get(key)))}
        self._usage |= usage_of(given.get("usage"), _USAGE)
        for key in ("steps", "outputs"):
            for index, step in enumerate(dicts(given.get(key))):
                self._answered = True
                self._steps[index] = _Step(step)

    def _grow(self, kind: str, value: dict[str, Json]) -> None:
        self._answered = True
        index = count(value.get("index"))
        at = max(self._steps, default=0) if index is None else index
        start = value.get("step") or value.get("content")
        if kind.endswith(".start"):
            self._steps[at] = _Step(dict(start) if isinstance(start, dict) else {})
        elif isinstance(value.get("delta"), dict):
            self._steps.setdefault(at, _Step({})).grow(value["delta"])

    def fields(self) -> dict[str, Json]:
        steps = [self._steps[index] for index in sorted(self._steps)]
        told: dict[str, Json] = {
            "model": self._heads.get("model") or self._heads.get("agent"),
            "response_id": self._heads.get("id"),
            "stop_reason": self._heads.get("status"),
            "usage": Usage(**self._usage),
            "reasoning": any(step.kind == "thought" for step in steps),
            "asked": tuple(step.asked() for step in steps if step.kind.endswith("_call")),
        }
        if self._answered:
            told["text"] = mend("".join(text for step in steps if step.kind in ("model_output", "text") for text in step.texts))
        return told
