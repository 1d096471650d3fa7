"""Text completions: OpenAI's first API (https://platform.openai.com/docs/api-reference/completions) as Together, vLLM and
Writer serve it too, and the one-text shapes of models behind Bedrock, Cohere's generate and Hugging Face's inference servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from wiretape.traces.decoders.contents import raw, said
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, is_post, parameters, path_of, provider_of
from wiretape.traces.decoders.values import count, dicts, mend, string, usage_of
from wiretape.traces.types import Json, ModelView, Request, Said, Usage

__all__ = ["CompletionState", "Completions", "completion_view"]

_PROMPTS = ("prompt", "inputText", "inputs")
_NOT_PARAMETERS = (*_PROMPTS, "model", "stream", "stream_options", "suffix")
_TEXTS = ("text", "value", "generation", "outputText", "generated_text", "completion")
"""Where the text stands, in a choice or at the top."""
_LISTS = ("choices", "generations", "outputs", "results")
_FINISHES = ("finish_reason", "stop_reason", "completionReason")
_USAGE = {
    "input": (
        ("usage", "prompt_tokens"),
        ("usage", "input_tokens"),
        ("prompt_token_count",),
        ("inputTextTokenCount",),
        ("meta", "tokens", "input_tokens"),
        ("meta", "billed_units", "input_tokens"),
    ),
    "output": (
        ("usage", "completion_tokens"),
        ("usage", "output_tokens"),
        ("generation_token_count",),
        ("totalOutputTextTokenCount",),
        ("meta", "tokens", "output_tokens"),
        ("meta", "billed_units", "output_tokens"),
    ),
    "cached": (("usage", "prompt_tokens_details", "cached_tokens"),),
    "reasoning": (("usage", "completion_tokens_details", "reasoning_tokens"),),
}


class Completions:
    name = "completions"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        path = path_of(request)
        if not is_post(request) or not path.endswith(("/completions", "/v1/generate", "/generate", "/generate_stream")):
            return False
        body = body_of(request)
        return isinstance(body, dict) and ("prompt" in body or "inputs" in body) and "messages" not in body

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(completion_view, request), CompletionState, status)


def completion_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    return ModelView(
        provider=provider_of(request, "openai"),
        api="completions",
        requested_model=string(body.get("model")),
        parameters=parameters(body, _NOT_PARAMETERS),
        said=tuple(_prompts(body)),
    )


def _prompts(body: dict[str, Json]) -> Iterator[Said]:
    """A text, several, or tokens, which are said as they stand."""
    for key in _PROMPTS:
        given = body.get(key)
        texts = given if isinstance(given, list) and all(isinstance(each, str) for each in given) else [given]
        for each in texts:
            if each not in (None, ""):
                yield said("user", each if isinstance(each, str) else [{"tokens": each}])


class CompletionState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._answered = False
        self._texts: dict[int, list[str]] = {}
        self._finishes: dict[int, str] = {}
        self._heads: dict[str, str] = {}
        self._usage: dict[str, int] = {}

    def plain(self, data: str) -> None:
        super().plain(data)
        self.done = self.done or data == "[DONE]"

    def event(self, name: str, value: Json) -> None:
        self.whole(value)
        self.done = self.done or bool(self.error or self._finishes)

    def whole(self, value: Json) -> None:
        if isinstance(value, list) and len(value) == 1:  # Hugging Face
            value = value[0]
        if not isinstance(value, dict):
            self.unknown += 1
            return
        self.error = self.error or error_in("", value)
        self._heads |= {key: text for key in ("id", "model") if (text := string(value.get(key)))}
        self._usage |= usage_of(value, _USAGE)
        choices = next((list(dicts(value[key])) for key in _LISTS if isinstance(value.get(key), list)), [value])
        for position, choice in enumerate(choices):
            index = count(choice.get("index"))
            self._choice(position if index is None or choice is value else index, choice)

    def _choice(self, index: int, choice: dict[str, Json]) -> None:
        text = next((choice[key] for key in _TEXTS if isinstance(choice.get(key), str)), None)
        token = choice.get("token")
        if text is None and isinstance(token, dict) and not token.get("special"):  # a text-generation-inference stream
            text = token.get("text")
        self._answered = self._answered or isinstance(text, str)
        self._texts.setdefault(index, []).append(raw(text))
        finish = next((word for key in _FINISHES if (word := string(choice.get(key)))), None)
        if finish:
            self._finishes[index] = finish
        if "tokenCount" in choice:
            self._usage |= usage_of(choice, {"output": (("tokenCount",),)})

    def fields(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "model": self._heads.get("model"),
            "response_id": self._heads.get("id"),
            "stop_reason": self._finishes.get(min(self._texts, default=0)),
            "usage": Usage(**self._usage),
        }
        if self._answered:
            texts = (mend("".join(self._texts[index])) for index in sorted(self._texts))
            told["text"] = "\n".join(text for text in texts if text)
        return told
