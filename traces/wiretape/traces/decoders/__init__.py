"""What passed, as one provider's API says it: bytes in, views out. Pure, incremental, total, linear.

An API is told by path and shape, never by the host. The tables below are all there is: a new API is a file and a line.
"""

from __future__ import annotations

import json
import re

from wiretape.traces.decoders import anthropic, mcp, openai_chat
from wiretape.traces.decoders.anthropic import AnthropicMessages
from wiretape.traces.decoders.mcp import Mcp
from wiretape.traces.decoders.openai_chat import OpenAIChat
from wiretape.traces.decoders.openai_responses import OpenAIResponses
from wiretape.traces.decoders.readers import Decoder, Reader
from wiretape.traces.decoders.requests import path_of
from wiretape.traces.types import Exchange, Json, Request, View, header

__all__ = ["DECODERS", "VERSIONS", "Decoder", "Reader", "decode", "detect", "error_response"]

DECODERS: dict[str, Decoder] = {
    decoder.name: decoder for decoder in (Mcp(), OpenAIChat(), OpenAIResponses(), AnthropicMessages())
}
"""Asked in this order: JSON-RPC is told by its body, the others by their path."""

VERSIONS: dict[str, int] = {name: decoder.version for name, decoder in DECODERS.items()}

_GEMINI = re.compile(r":(stream)?generatecontent$|:counttokens$")


def detect(request: Request, content_type: str | None = None) -> str | None:
    """The name of the API that a request speaks; None where it is none of ours. Its body must be without content coding."""
    return next((name for name, decoder in DECODERS.items() if decoder.claims(request, content_type)), None)


def decode(exchange: Exchange, body: bytes) -> View | None:
    """What an exchange says; None for one of no known API. `body` is the response's; both bodies are without coding."""
    kind = header(exchange.response.headers, "content-type") if exchange.response else None
    name = detect(exchange.request, kind)
    if name is None:
        return None
    reader = DECODERS[name].reader(exchange.request, exchange.response.status if exchange.response else 0, kind)
    reader.feed(body)
    return reader.view()


def error_response(api: str | None, status: int, message: str, code: str, request: Request) -> tuple[str, bytes]:
    """(content type, body) of an error in the shape that clients of this API know."""
    return "application/json", json.dumps(_error(api, status, message, code, request), ensure_ascii=False).encode()


def _error(api: str | None, status: int, message: str, code: str, request: Request) -> Json:
    if api == Mcp.name:
        return mcp.error_body(message, request)
    if api == AnthropicMessages.name:
        return anthropic.error_body(status, message, code)
    if api is None and _GEMINI.search(path_of(request)):
        # https://cloud.google.com/apis/design/errors
        return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
    return openai_chat.error_body(status, message, code)
