"""Calls of models that are no part of a conversation: embeddings, images, sound, moderation, reranking, token counts, batches.

They are labelled by their path and keep the model and the tokens where request or answer names them; what they say is not read.
"""

from __future__ import annotations

from functools import partial

from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, is_post, model_in_path, parameters, path_of, provider_of
from wiretape.traces.decoders.values import dicts, string, usage_of
from wiretape.traces.types import Json, ModelView, Request, Usage

__all__ = ["Aside", "AsideState", "aside_view"]

_APIS = {
    "/embeddings": "embeddings",
    "/embed": "embeddings",
    "/api/embed": "embeddings",
    ":embedcontent": "embeddings",
    ":batchembedcontents": "embeddings",
    "/images/generations": "images",
    "/images/edits": "images",
    "/images/variations": "images",
    ":generateimages": "images",
    "/audio/speech": "audio",
    "/audio/transcriptions": "audio",
    "/audio/translations": "audio",
    "/videos": "videos",
    "/moderations": "moderations",
    "/rerank": "rerank",
    "/ocr": "ocr",
    "/messages/count_tokens": "count_tokens",
    "/responses/input_tokens": "count_tokens",
    ":counttokens": "count_tokens",
    "/count-tokens": "count_tokens",
    "/messages/batches": "batches",
    "/v1/batches": "batches",
    "/threads/runs": "assistants",
    "/runs": "assistants",
}
"""End of the path → what the call is for. Under shared words (`/runs`, `/embed`, `/videos`) a body must ask a model."""
_SURE = ("/images/", "/audio/", "/embeddings", "/moderations", "contents", "tokens", "/batches", "/threads/")
_NOT_PARAMETERS = (
    "model",
    "input",
    "prompt",
    "texts",
    "content",
    "contents",
    "requests",
    "messages",
    "tools",
    "system",
    "inputs",
)
_USAGE = {
    "input": (
        ("usage", "prompt_tokens"),
        ("usage", "input_tokens"),
        ("usage", "inputTokens"),
        ("usageMetadata", "promptTokenCount"),
        ("meta", "tokens", "input_tokens"),
        ("meta", "billed_units", "input_tokens"),
        ("prompt_eval_count",),
        ("inputTextTokenCount",),
        ("input_tokens",),
        ("totalTokens",),
    ),
    "output": (("usage", "completion_tokens"), ("usage", "output_tokens"), ("meta", "billed_units", "output_tokens")),
    "cached": (("cachedContentTokenCount",),),
}


class Aside:
    name = "aside"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        path = path_of(request)
        if not is_post(request) or _api(path) is None:
            return False
        body = body_of(request)
        return any(word in path for word in _SURE) or (isinstance(body, dict) and ("model" in body or "assistant_id" in body))

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(aside_view, request, _api(path_of(request)) or ""), AsideState, status)


def _api(path: str) -> str | None:
    ends = sorted((end for end in _APIS if path.endswith(end)), key=len)
    return _APIS[ends[-1]] if ends else None


def aside_view(request: Request, api: str) -> ModelView:
    """The request's half of a view of a call for `api`."""
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    inner = next(dicts(body.get("requests")), {})
    model = string(body.get("model")) or string(inner.get("model")) or model_in_path(request) or _model_in_form(request)
    return ModelView(
        provider=provider_of(request, "openai"),
        api=api,
        aside=True,
        requested_model=model,
        parameters=parameters(body, _NOT_PARAMETERS),
    )


def _model_in_form(request: Request) -> str | None:
    """Sound and pictures are sent as a form (RFC 7578), of which this field alone is of interest."""
    body = request.body or b""
    at = body.find(b'name="model"')
    start = body.find(b"\r\n\r\n", at)
    if at < 0 or start < 0:
        return None
    return string(body[start + 4 : start + 200].partition(b"\r\n")[0].decode("utf-8", "replace"))


class AsideState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._model: str | None = None
        self._usage: dict[str, int] = {}

    def event(self, name: str, value: Json) -> None:
        """Images and transcriptions may come as a stream; its last event carries the tokens."""
        kind = string(value.get("type")) or name if isinstance(value, dict) else ""
        self.whole(value)
        self.done = self.done or kind.endswith((".done", ".completed")) or bool(self.error)

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self.error = self.error or error_in("", value)
            self._model = string(value.get("model")) or self._model
            self._usage |= usage_of(value, _USAGE)

    def plain(self, data: str) -> None:
        """Sound and pictures are bytes of their own kind."""
        self.done = self.done or data == "[DONE]"

    def fields(self) -> dict[str, Json]:
        return {"model": self._model, "usage": Usage(**self._usage)}
