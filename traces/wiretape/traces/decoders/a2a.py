"""A2A, agents that ask agents (https://a2a-protocol.org/latest/specification): JSON-RPC, answered as JSON or as a stream.

Version 1 wraps each result under the name of its kind and drops `kind` from parts; both are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.traces.decoders.contents import raw
from wiretape.traces.decoders.readers import BodyReader, State
from wiretape.traces.decoders.requests import body_of, is_post
from wiretape.traces.decoders.values import clean, dicts, error_words, mend, string
from wiretape.traces.types import A2aView, Json, Request

__all__ = ["A2a"]

_METHODS = frozenset({"message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"})
_METHODS_1 = frozenset({"SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"})
_WRAPPED = ("task", "message", "statusUpdate", "artifactUpdate")
_ENDED = ("completed", "failed", "canceled", "rejected", "input-required", "auth-required")


class A2a:
    name = "a2a"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        if not is_post(request) or b'"jsonrpc"' not in (request.body or b""):
            return False
        body = body_of(request)
        return isinstance(body, dict) and string(body.get("method")) in _METHODS | _METHODS_1

    def reader(self, request: Request, status: int, content_type: str | None) -> A2aReader:
        return A2aReader(request, status)


class A2aState(State):
    """What the other agent answered so far."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.artifacts: dict[str, list[str]] = {}
        self.task: str | None = None
        self.context: str | None = None
        self.state: str | None = None

    def event(self, name: str, value: Json) -> None:
        self.whole(value)

    def whole(self, value: Json) -> None:
        if not isinstance(value, dict) or not isinstance(value.get("result", value.get("error")), dict):
            self.unknown += 1
            return
        self.error = self.error or error_words(value.get("error"))
        self.done = self.done or self.error is not None
        if isinstance(value.get("result"), dict):
            self._result(clean(value["result"]))

    def _result(self, given: dict[str, Json]) -> None:
        result = next((given[key] for key in _WRAPPED if isinstance(given.get(key), dict)), given)
        if "parts" in result:
            self.texts.append(_text(result))
            self.done = True
        self.task = string(result.get("taskId")) or (string(result.get("id")) if "status" in result else None) or self.task
        self.context = string(result.get("contextId")) or self.context
        for artifact in (*dicts(result.get("artifacts")), *dicts([result.get("artifact")])):
            pieces = self.artifacts.setdefault(string(artifact.get("artifactId")) or "", [])
            if result.get("append") is not True:
                pieces.clear()
            pieces.append(_text(artifact))
        if isinstance(status := result.get("status"), dict):
            self._status(status)

    def _status(self, status: dict[str, Json]) -> None:
        word = string(status.get("state"))
        if word:
            self.state = word.removeprefix("TASK_STATE_").lower().replace("_", "-")
            self.done = self.done or self.state in _ENDED
        message = status.get("message")
        if isinstance(message, dict) and self.state in _ENDED:
            self.texts.append(_text(message))

    def text(self) -> str | None:
        """What it said at the end, else what it made."""
        said = [text for text in self.texts if text] or [
            text for pieces in self.artifacts.values() if (text := "".join(pieces))
        ]
        return mend("\n".join(said)) if said or self.done else None


def _text(holder: dict[str, Json]) -> str:
    return "\n".join(_texts(holder.get("parts")))


def _texts(parts: Json) -> Iterator[str]:
    return (raw(part.get("text")) for part in dicts(parts) if isinstance(part.get("text"), str))


class A2aReader(BodyReader[A2aState]):
    def __init__(self, request: Request, status: int) -> None:
        super().__init__(A2aState)
        self._request, self._status = request, status

    @property
    def complete(self) -> bool:
        return self.settled().done

    def view(self) -> A2aView:
        given, state = body_of(self._request), self.settled()
        body = given if isinstance(given, dict) else {}
        params = body.get("params")
        message = params.get("message") if isinstance(params, dict) else None
        return A2aView(
            method=string(body.get("method")) or "",
            said=mend(_text(message)) if isinstance(message, dict) else None,
            text=state.text(),
            task=state.task,
            context=state.context,
            state=state.state,
            error=self.failure(self._status) if self._status >= 400 else state.error,
            complete=state.done,
            unknown_events=state.unknown,
        )
