"""Bedrock's InvokeAgent (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_InvokeAgent.html).

An agent of the provider's own answers with frames: `chunk` with its text, `trace` with what it did, `returnControl` with the
functions that the client is to carry out; their results come in the next request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from urllib.parse import unquote

from wiretape.traces.decoders.contents import said
from wiretape.traces.decoders.readers import ModelReader, ModelState, error_in
from wiretape.traces.decoders.requests import body_of, history, is_post, parameters, path_of, provider_of
from wiretape.traces.decoders.values import asked, dicts, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Handed, Json, ModelView, Request, Said, Usage

__all__ = ["BedrockAgent"]

_PLACE = re.compile(r"/agents/([^/]+)/agentaliases/([^/]+)/sessions/([^/]+)/text$", re.IGNORECASE)
_USAGE = {"input": (("inputTokens",),), "output": (("outputTokens",),)}
_EVENTS = frozenset({"chunk", "trace", "files", "returnControl"})


class BedrockAgent:
    name = "bedrock-agent"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        return is_post(request) and _PLACE.search(path_of(request)) is not None

    def reader(self, request: Request, status: int, content_type: str | None) -> ModelReader:
        return ModelReader(partial(_asked_view, request), AgentState, status)


def _asked_view(request: Request) -> ModelView:
    given = body_of(request)
    body = given if isinstance(given, dict) else {}
    place = _PLACE.search(request.url.partition("?")[0].rstrip("/"))
    agent, _, session = (unquote(name) for name in place.groups()) if place else ("", "", "")
    return ModelView(
        provider=provider_of(request, "bedrock"),
        api="agent",
        requested_model=agent or None,
        parameters=parameters(body, ("inputText", "sessionState")),
        said=history(_said(body)),
        conversation_id=session or None,
    )


def _said(body: dict[str, Json]) -> Iterator[Said]:
    state = body.get("sessionState")
    results = state.get("returnControlInvocationResults") if isinstance(state, dict) else None
    given = [_handed(result) for result in dicts(results)]
    if given:
        yield said("tool", None, handed=given)
    if string(body.get("inputText")):
        yield said("user", body["inputText"])


def _handed(result: dict[str, Json]) -> Handed:
    inner = next((value for value in result.values() if isinstance(value, dict)), {})
    body = inner.get("responseBody")
    text = body.get("TEXT") if isinstance(body, dict) else None
    content = text.get("body") if isinstance(text, dict) else body
    name = inner.get("function") or inner.get("apiPath")
    return handed(None, content, tool=name, is_error=inner.get("responseState") == "FAILURE")


class AgentState(ModelState):
    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._asked: list[Asked] = []
        self._usage: dict[str, int] = {}
        self._reasoning = False

    def wrapped(self, text: str) -> None:
        """A chunk is text, also where that happens to be JSON."""
        self._texts.append(text)
        self.done = True

    def event(self, name: str, value: Json) -> None:
        if not isinstance(value, dict) or (name and name not in _EVENTS):
            self.unknown += 1
        elif name == "returnControl":
            self._asked += _asked(value)
            self.done = True
        elif name == "trace":
            self._trace(value)

    def whole(self, value: Json) -> None:
        if isinstance(value, dict):
            self.error = error_in("", value)

    def _trace(self, value: dict[str, Json]) -> None:
        found = [value]
        while found:
            each = found.pop()
            for key, inner in each.items():
                if key == "usage":
                    for name, number in usage_of(inner, _USAGE).items():
                        self._usage[name] = self._usage.get(name, 0) + number
                elif isinstance(inner, dict):
                    found.append(inner)
                self._reasoning = self._reasoning or key == "rationale"

    def fields(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "usage": Usage(**self._usage),
            "reasoning": self._reasoning,
            "asked": tuple(self._asked),
            "stop_reason": "returnControl" if self._asked else None,
        }
        if self._texts or self._asked:
            told["text"] = mend("".join(self._texts))
        return told


def _asked(value: dict[str, Json]) -> Iterator[Asked]:
    for each in dicts(value.get("invocationInputs")):
        inner = next((given for given in each.values() if isinstance(given, dict)), {})
        name = inner.get("function") or inner.get("apiPath")
        pairs = {str(one.get("name")): one.get("value") for one in dicts(inner.get("parameters"))}
        yield asked(name, value.get("invocationId"), pairs)
