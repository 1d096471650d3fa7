"""OpenAI's Responses over WebSocket (https://platform.openai.com/docs/guides/websocket-mode).

Each `response.create` is a request as one to the HTTP API would be, and is answered by the same events.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.traces.decoders.openai_responses import ResponsesState, responses_view
from wiretape.traces.decoders.values import string
from wiretape.traces.types import Json, ModelView, Request

__all__ = ["ResponsesSocket"]


class ResponsesSocket:
    """Feed it the messages of both ends in their order; `views` has the calls of the model."""

    def __init__(self, request: Request, socket: str) -> None:
        self._request = request
        self._calls: list[tuple[dict[str, Json], ResponsesState]] = []
        self.unknown = 0

    @staticmethod
    def speaks(value: Json) -> bool:
        return isinstance(value, dict) and value.get("type") == "response.create" and ("input" in value or "model" in value)

    def client(self, value: Json) -> None:
        if isinstance(value, dict) and value.get("type") == "response.create":
            given = value.get("response")
            body = {**value, **given} if isinstance(given, dict) else value
            self._calls.append(({key: item for key, item in body.items() if key not in ("type", "response")}, ResponsesState()))

    def server(self, value: Json) -> None:
        """An event belongs to the first call that is not answered to its end."""
        open_calls = [state for _, state in self._calls if not state.done]
        if open_calls:
            open_calls[0].event(string(value.get("type")) or "" if isinstance(value, dict) else "", value)
        else:
            self.unknown += 1

    def views(self) -> Iterator[ModelView]:
        for body, state in self._calls:
            told = state.fields()
            told |= {"error": state.error, "complete": state.done, "streamed": True, "unknown_events": state.unknown}
            yield responses_view(body, self._request).model_copy(update=told)
