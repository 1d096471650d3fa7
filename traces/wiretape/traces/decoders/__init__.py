"""What passed, as one provider's API says it: bytes in, views out. Pure, incremental, total, linear.

An API is told by path and shape, never by the host. The tables below are all there is: a new API is a file and a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

from wiretape.traces.decoders import anthropic, bedrock, cohere, gemini, mcp, ollama, openai_chat, sockets, stdio
from wiretape.traces.decoders.a2a import A2a
from wiretape.traces.decoders.anthropic import AnthropicMessages
from wiretape.traces.decoders.aside import Aside
from wiretape.traces.decoders.bedrock import BedrockConverse
from wiretape.traces.decoders.bedrock_agent import BedrockAgent
from wiretape.traces.decoders.bedrock_invoke import BedrockInvoke
from wiretape.traces.decoders.cohere import Cohere
from wiretape.traces.decoders.cohere_v1 import CohereV1
from wiretape.traces.decoders.completions import Completions
from wiretape.traces.decoders.gemini import Gemini
from wiretape.traces.decoders.gemini_interactions import GeminiInteractions
from wiretape.traces.decoders.mcp import Mcp
from wiretape.traces.decoders.ollama import Ollama
from wiretape.traces.decoders.openai_chat import OpenAIChat
from wiretape.traces.decoders.openai_responses import OpenAIResponses
from wiretape.traces.decoders.readers import Decoder, Reader
from wiretape.traces.decoders.shapes import api_of_answer
from wiretape.traces.decoders.sockets import decode_socket
from wiretape.traces.decoders.stdio import decode_stdio
from wiretape.traces.decoders.values import clean
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Json, McpView, ModelView, Request, View, header

__all__ = ["DECODERS", "VERSIONS", "Decoder", "Reader", "decode", "decode_stdio", "detect", "error_response"]

DECODERS: dict[str, Decoder] = {
    "mcp": Mcp(),
    "a2a": A2a(),
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic-messages": AnthropicMessages(),
    "gemini": Gemini(),
    "gemini-interactions": GeminiInteractions(),
    "bedrock-converse": BedrockConverse(),
    "bedrock-invoke": BedrockInvoke(),
    "bedrock-agent": BedrockAgent(),
    "cohere": Cohere(),
    "cohere-v1": CohereV1(),
    "ollama": Ollama(),
    "completions": Completions(),
    "aside": Aside(),
}
"""Asked in this order: JSON-RPC is told by its body whatever its path."""

VERSIONS: dict[str, int] = {name: decoder.version for name, decoder in DECODERS.items()} | {
    "sockets": sockets.VERSION,
    "stdio": stdio.VERSION,
}


def detect(request: Request, content_type: str | None = None) -> str | None:
    """The name of the API that a request speaks; None where it is none of ours. Its body must be without content coding."""
    return next((name for name, decoder in DECODERS.items() if decoder.claims(request, content_type)), None)


def decode(exchange: Exchange, body: bytes) -> View | None:
    """What an exchange says; None where that is plain HTTP. `body`: the response's; both bodies without content coding.

    Where the request tells nothing (a path that nobody knows, a body that was not kept), an unmistakable answer does.
    """
    if exchange.kind is ExchangeKind.WEBSOCKET:
        return decode_socket(exchange)
    request, response = exchange.request, exchange.response
    content_type = header(response.headers, "content-type") if response else None
    name = detect(request, content_type) or ("mcp" if mcp.listens(request, body) else api_of_answer(request, body))
    if name is None or exchange.kind is not ExchangeKind.HTTP:
        return None
    reader = DECODERS[name].reader(request, response.status if response else 0, content_type)
    reader.feed(body)
    view = reader.view()
    if isinstance(view, McpView):
        return _with_session(view, response.headers if response else ())
    return _ended(view, exchange.end) if isinstance(view, ModelView) else view


def _with_session(view: McpView, headers: Headers) -> McpView:
    return view if view.session else view.model_copy(update={"session": header(headers, mcp.SESSION)})


def _ended(view: ModelView, end: End | None) -> ModelView:
    """Some servers of the chat dialect send no `[DONE]`: there a finish reason and a clean end of the stream are the end.

    Sound and pictures know no other end than that of the exchange.
    """
    told = view.aside or (view.api in ("chat", "completions") and view.stop_reason is not None)
    return view.model_copy(update={"complete": True}) if told and end is End.COMPLETE else view


def error_response(api: str | None, status: int, message: str, code: str, request: Request | None = None) -> tuple[str, bytes]:
    """(content type, body) of an error in the shape that clients of this API know; JSON-RPC takes its id from `request`."""
    text = cast(str, clean(message))
    if api in ("mcp", "a2a"):
        error = mcp.error_body(text, request)
    else:
        google = request is not None and gemini.speaks_google(request) and api != "anthropic-messages"
        error = (_ERRORS["gemini"] if google else _ERRORS.get(api or "", openai_chat.error_body))(status, text, code)
    return "application/json", json.dumps(error, ensure_ascii=False).encode()


_ERRORS: dict[str, Callable[[int, str, str], Json]] = {
    "anthropic-messages": lambda status, message, code: anthropic.error_body(status, message),
    "gemini": lambda status, message, code: gemini.error_body(status, message),
    "gemini-interactions": lambda status, message, code: gemini.error_body(status, message),
    "bedrock-converse": lambda status, message, code: bedrock.error_body(message),
    "bedrock-invoke": lambda status, message, code: bedrock.error_body(message),
    "bedrock-agent": lambda status, message, code: bedrock.error_body(message),
    "cohere": lambda status, message, code: cohere.error_body(message),
    "cohere-v1": lambda status, message, code: cohere.error_body(message),
    "ollama": lambda status, message, code: ollama.error_body(message),
}
"""API → the body of an error from (status, message, code); every other speaks OpenAI's."""
