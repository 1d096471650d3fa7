"""What passed, as one provider's API says it: bytes in, views out. Pure, incremental, total, linear.

An API is told by path and shape, never by the host. The tables below are all there is: a new API is a file and a line.
"""

from __future__ import annotations

import json
from typing import cast

from wiretape.traces.decoders import anthropic, gemini, mcp, openai_chat
from wiretape.traces.decoders.anthropic import AnthropicMessages
from wiretape.traces.decoders.mcp import Mcp
from wiretape.traces.decoders.openai_chat import OpenAIChat
from wiretape.traces.decoders.openai_responses import OpenAIResponses
from wiretape.traces.decoders.readers import Decoder, Reader
from wiretape.traces.decoders.values import clean
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Json, McpView, ModelView, Request, View, header

__all__ = ["DECODERS", "VERSIONS", "Decoder", "Reader", "decode", "detect", "error_response"]

DECODERS: dict[str, Decoder] = {
    "mcp": Mcp(),
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic-messages": AnthropicMessages(),
}
"""Asked in this order: JSON-RPC is told by its body whatever its path."""

VERSIONS: dict[str, int] = {name: decoder.version for name, decoder in DECODERS.items()}


def detect(request: Request, content_type: str | None = None) -> str | None:
    """The name of the API that a request speaks; None where it is none of ours. Its body must be without content coding."""
    return next((name for name, decoder in DECODERS.items() if decoder.claims(request, content_type)), None)


def decode(exchange: Exchange, body: bytes) -> View | None:
    """What an exchange says; None where that is plain HTTP. `body`: the response's; both bodies without content coding."""
    request, response = exchange.request, exchange.response
    content_type = header(response.headers, "content-type") if response else None
    name = detect(request, content_type) or ("mcp" if mcp.listens(request, body) else None)
    if name is None or exchange.kind is not ExchangeKind.HTTP:
        return None
    reader = DECODERS[name].reader(request, response.status if response else 0, content_type)
    reader.feed(body)
    view = reader.view()
    if isinstance(view, McpView):
        return _with_session(view, response.headers if response else ())
    return _ended(view, exchange.end)


def _with_session(view: McpView, headers: Headers) -> McpView:
    return view if view.session else view.model_copy(update={"session": header(headers, mcp.SESSION)})


def _ended(view: ModelView, end: End | None) -> ModelView:
    """Some servers of the chat dialect send no `[DONE]`: there a finish reason and a clean end of the stream are the end."""
    whole = view.api == "chat" and view.stop_reason is not None and end is End.COMPLETE
    return view.model_copy(update={"complete": True}) if whole else view


def error_response(api: str | None, status: int, message: str, code: str, request: Request | None = None) -> tuple[str, bytes]:
    """(content type, body) of an error in the shape that clients of this API know; JSON-RPC takes its id from `request`."""
    error = _error(api, status, cast(str, clean(message)), code, request)
    return "application/json", json.dumps(error, ensure_ascii=False).encode()


def _error(api: str | None, status: int, message: str, code: str, request: Request | None) -> Json:
    if api == "mcp":
        return mcp.error_body(message, request)
    if api == "anthropic-messages":
        return anthropic.error_body(status, message)
    if api is None and request is not None and gemini.speaks(request):
        return gemini.error_body(status, message)
    return openai_chat.error_body(status, message, code)
