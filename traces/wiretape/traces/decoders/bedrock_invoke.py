"""Bedrock's InvokeModel, with a stream and without (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html).

Each family of models has a dialect of its own under the same path; the body tells which. Anthropic's, Amazon's and the
chat-completions ones have decoders; the others say one text in a shape of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from wiretape.traces.decoders import anthropic, cohere_v1, openai_chat
from wiretape.traces.decoders.aside import AsideState, aside_view
from wiretape.traces.decoders.bedrock import ConverseState, converse_view
from wiretape.traces.decoders.completions import CompletionState, completion_view
from wiretape.traces.decoders.readers import ModelReader, ModelState
from wiretape.traces.decoders.requests import body_of, is_post, model_in_path, path_of, provider_of
from wiretape.traces.decoders.values import dicts
from wiretape.traces.types import Json, ModelView, Request

__all__ = ["BedrockInvoke"]

_ASIDE = {
    "embed": "embeddings",
    "rerank": "rerank",
    "image": "images",
    "canvas": "images",
    "stability": "images",
    "reel": "videos",
}
"""Words in the name of a model that does not converse → what it is for."""

type _Dialect = tuple[Callable[[Request], ModelView], Callable[[], ModelState]]


class BedrockInvoke:
    name = "bedrock-invoke"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        path = path_of(request)
        return is_post(request) and "/model/" in path and path.endswith(("/invoke", "/invoke-with-response-stream"))

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        if use := next((use for word, use in _ASIDE.items() if word in (model_in_path(request) or "").lower()), None):
            return ModelReader(partial(aside_view, request, use), AsideState, status)
        view, state = _dialect(request)
        return ModelReader(partial(_asked_view, request, view), state, status)


def _asked_view(request: Request, view: Callable[[Request], ModelView]) -> ModelView:
    told = {"provider": provider_of(request, "bedrock"), "requested_model": model_in_path(request)}
    return view(request).model_copy(update=told)


def _dialect(request: Request) -> _Dialect:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    if isinstance(body.get("message"), str):
        return cohere_v1.asked_view, cohere_v1.CohereV1State
    if not isinstance(body.get("messages"), list):
        return completion_view, CompletionState
    if "anthropic_version" in body:
        return anthropic.asked_view, anthropic.MessagesState
    if "inferenceConfig" in body or "toolConfig" in body or _untyped(body["messages"]):
        return converse_view, ConverseState
    return openai_chat.asked_view, openai_chat.ChatState


def _untyped(messages: Json) -> bool:
    """Amazon's parts of a message name no type."""
    return any("type" not in part for message in dicts(messages) for part in dicts(message.get("content")))
