"""OpenAI's Realtime over WebSocket (https://platform.openai.com/docs/guides/realtime), as Azure and xAI serve it too.

The history lives on the provider's side: items are added to a conversation by either end, and each `response.create`, or the
end of the user's speech, makes one call of the model. What was said aloud counts by its transcript.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from wiretape.traces.decoders.contents import parts_of, raw, said
from wiretape.traces.decoders.openai_responses import responses_tools
from wiretape.traces.decoders.requests import history, parameters, provider_of, query_of, system_digest
from wiretape.traces.decoders.values import asked, dicts, error_words, handed, mend, string, usage_of
from wiretape.traces.types import Asked, Json, ModelView, Request, Said, Usage

__all__ = ["Realtime"]

_NOT_PARAMETERS = ("client_secret", "expires_at", "id", "instructions", "model", "object", "tools", "type")
_USAGE = {
    "input": (("input_tokens",),),
    "output": (("output_tokens",),),
    "cached": (("input_token_details", "cached_tokens"),),
}
_TEXT = ("output_text", "text", "output_audio_transcript", "audio_transcript")
_SILENT = (
    "session.",
    "conversation.",
    "input_audio_buffer.",
    "output_audio_buffer.",
    "rate_limits.",
    "response.",
    "transcription_session.",
    "mcp_list_tools.",
    "ping",
)
_ENDED = frozenset({"completed", "cancelled", "failed", "incomplete"})


@dataclass(slots=True)
class _Output:
    """One output item while it grows."""

    given: dict[str, Json] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def text(self) -> str:
        whole = [raw(part.get("text")) or raw(part.get("transcript")) for part in dicts(self.given.get("content"))]
        return "".join(whole) or "".join(self.texts)

    def asked(self, done: bool) -> Asked:
        given = raw(self.given.get("arguments")) or "".join(self.pieces)
        return asked(self.given.get("name"), self.given.get("call_id") or self.given.get("id"), given, finished=done)


@dataclass(slots=True)
class _Call:
    """One call of the model: what was new before it, how it was asked, what it answered."""

    said: list[dict[str, Json]]
    session: dict[str, Json]
    given: dict[str, Json] = field(default_factory=dict)
    outputs: dict[str, _Output] = field(default_factory=dict)
    error: str | None = None

    def output(self, value: dict[str, Json]) -> _Output:
        item = value.get("item")
        name = string(item.get("id")) if isinstance(item, dict) else string(value.get("item_id"))
        return self.outputs.setdefault(name or "", _Output())


class Realtime:
    """Feed it the messages of both ends in their order; `views` has the calls of the model."""

    def __init__(self, request: Request, socket: str) -> None:
        self._request, self._socket = request, socket
        self._session: dict[str, Json] = {}
        self._items: list[dict[str, Json]] = []
        """Of the conversation since the last call of the model."""
        self._own: list[dict[str, Json]] = []
        """Those that the client made and the server did not confirm yet."""
        self._known: dict[str, dict[str, Json]] = {}
        self._calls: dict[str, _Call] = {}
        self._asked: dict[str, Json] = {}
        self.unknown = 0

    @staticmethod
    def speaks(value: Json) -> bool:
        kind = string(value.get("type")) or "" if isinstance(value, dict) else ""
        return kind.startswith(("session.", "input_audio_buffer.", "conversation.item.", "transcription_session."))

    def client(self, value: Json) -> None:
        kind = string(value.get("type")) if isinstance(value, dict) else None
        if kind == "session.update" and isinstance(value.get("session"), dict):
            self._session |= value["session"]
        elif kind == "conversation.item.create" and isinstance(value.get("item"), dict):
            item = dict(value["item"])
            self._items.append(item)
            self._own.append(item)
        elif kind == "response.create":
            response = value.get("response")
            self._asked = response if isinstance(response, dict) else {}

    def server(self, value: Json) -> None:
        kind = (string(value.get("type")) or "") if isinstance(value, dict) else ""
        if kind in ("session.created", "session.updated") and isinstance(value.get("session"), dict):
            self._session |= value["session"]
        elif kind.startswith("conversation.item."):
            self._item(kind, value)
        elif kind == "error":
            self._failed(value)
        elif kind.startswith("response."):
            self._response(kind.removeprefix("response."), value)
        else:
            self.unknown += not kind.startswith(_SILENT)

    def _item(self, kind: str, value: dict[str, Json]) -> None:
        item, item_id = value.get("item"), string(value.get("item_id"))
        if isinstance(item, dict) and kind.endswith((".created", ".added", ".done")):
            self._confirm(item)
        elif kind.endswith("input_audio_transcription.completed") and item_id in self._known:
            self._known[item_id]["transcript"] = raw(value.get("transcript"))

    def _confirm(self, item: dict[str, Json]) -> None:
        """An item that the server tells of is the client's own, or one that it made of the user's speech."""
        name = string(item.get("id")) or ""
        if name in self._known or item.get("role") == "assistant" or item.get("type") == "function_call":
            return
        own = next((each for each in self._own if each.get("type") == item.get("type")), None)
        if own is not None:
            self._own.remove(own)
            self._known[name] = own
            return
        self._known[name] = dict(item)
        self._items.append(self._known[name])

    def _failed(self, value: dict[str, Json]) -> None:
        running = [call for call in self._calls.values() if call.given.get("status") not in _ENDED]
        if running:
            running[-1].error = error_words(value)

    def _response(self, kind: str, value: dict[str, Json]) -> None:
        response = value.get("response")
        given = response if isinstance(response, dict) else {}
        name = string(given.get("id")) or string(value.get("response_id")) or ""
        if kind == "created":
            self._calls[name] = _Call(self._items, {**self._session, **self._asked}, given)
            self._items, self._asked = [], {}
            return
        call = self._calls.setdefault(name, _Call([], dict(self._session)))
        if kind == "done":
            self._done(call, given)
            return
        subject, _, verb = kind.rpartition(".")
        if subject == "output_item" and isinstance(value.get("item"), dict):
            call.output(value).given |= {key: item for key, item in value["item"].items() if item not in (None, "", [])}
        elif subject in _TEXT and verb in ("delta", "done"):
            _grow(call.output(value).texts, verb, value, "transcript" if subject.endswith("transcript") else "text")
        elif subject == "function_call_arguments":
            _grow(call.output(value).pieces, verb, value, "arguments")

    def _done(self, call: _Call, given: dict[str, Json]) -> None:
        call.given = given
        for item in dicts(given.get("output")):
            call.output({"item": item}).given |= {key: value for key, value in item.items() if value not in (None, "", [])}
        details = given.get("status_details")
        if given.get("status") == "failed":
            call.error = error_words(details if isinstance(details, dict) else None) or call.error or "failed"

    def views(self) -> Iterator[ModelView]:
        for call in self._calls.values():
            yield self._view(call)
        if self._items:
            yield self._view(_Call(self._items, self._session))

    def _view(self, call: _Call) -> ModelView:
        status = string(call.given.get("status"))
        ended = status in _ENDED
        outputs = list(call.outputs.values())
        model = string(call.session.get("model"))
        return ModelView(
            provider=provider_of(self._request, "openai"),
            api="realtime",
            requested_model=query_of(self._request, "model") or query_of(self._request, "deployment") or model,
            model=model if call.given else None,
            parameters=parameters(call.session, _NOT_PARAMETERS),
            system_digest=system_digest(parts_of(call.session.get("instructions"))),
            said=history(_said(item) for item in call.said),
            tools=responses_tools(call.session.get("tools")),
            streamed=True,
            stop_reason=status if ended else None,
            usage=Usage(**usage_of(call.given.get("usage"), _USAGE)),
            text=mend("".join(each.text() for each in outputs if each.given.get("type") != "function_call"))
            if call.given
            else None,
            asked=tuple(each.asked(ended) for each in outputs if each.given.get("type") == "function_call"),
            error=call.error,
            complete=ended,
            response_id=string(call.given.get("id")),
            conversation_id=self._socket,
        )


def _said(item: dict[str, Json]) -> Said:
    if item.get("type") == "function_call_output":
        return said("tool", None, handed=[handed(item.get("call_id"), item.get("output"))])
    parts = [_spoken(part, item) for part in dicts(item.get("content"))]
    return said(string(item.get("role")) or "user", parts)


def _spoken(part: dict[str, Json], item: dict[str, Json]) -> Json:
    words = string(part.get("transcript")) or string(item.get("transcript"))
    return {"type": "text", "text": words} if words and part.get("type") in ("input_audio", "audio", "output_audio") else part


def _grow(pieces: list[str], verb: str, value: dict[str, Json], key: str) -> None:
    if verb == "delta":
        pieces.append(raw(value.get("delta")))
    elif isinstance(value.get(key), str):
        pieces[:] = [value[key]]
