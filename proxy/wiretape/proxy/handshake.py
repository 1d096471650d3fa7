"""A WebSocket's opening handshake (RFC 6455, section 4): who asks for one, what was agreed, how replay agrees anew. Pure."""

from __future__ import annotations

from websockets.exceptions import InvalidHeader, NegotiationError
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.headers import build_extension, parse_extension
from websockets.typing import ExtensionHeader
from websockets.utils import accept_key

from wiretape.traces.types import Headers, header

__all__ = ["accepted", "asks_for_socket", "offered_deflate", "unpackers"]

_DEFLATE = PerMessageDeflate.name
_BODY = frozenset({"content-length", "transfer-encoding"})


def asks_for_socket(headers: Headers) -> bool:
    upgrade, connection = (header(headers, name) or "" for name in ("upgrade", "connection"))
    tokens = [token.strip().lower() for token in connection.split(",")]
    return upgrade.lower() == "websocket" and "upgrade" in tokens and header(headers, "sec-websocket-key") is not None


def unpackers(agreed: Headers) -> tuple[PerMessageDeflate | None, PerMessageDeflate | None]:
    """What unpacks the client's and the server's messages, by the extensions in the server's answer."""
    for name, parameters in _extensions(agreed):
        if name == _DEFLATE:
            alone = {key for key, _ in parameters}
            return _unpacker("client_no_context_takeover" in alone), _unpacker("server_no_context_takeover" in alone)
    return None, None


def _unpacker(alone: bool) -> PerMessageDeflate:
    """Reads any window. `alone`: each message was packed by itself."""
    return PerMessageDeflate(alone, True, 15, 15)


def offered_deflate(recorded: Headers, live: Headers) -> tuple[str, PerMessageDeflate] | None:
    """The extension to agree on, as header text and as its coder: where the recorded server agreed and this client offers."""
    if not any(name == _DEFLATE for name, _ in _extensions(recorded)):
        return None
    for name, parameters in _extensions(live):
        if name == _DEFLATE:
            try:
                agreed, deflate = ServerPerMessageDeflateFactory().process_request_params(parameters, [])
            except NegotiationError:
                continue
            return build_extension([(name, agreed)]), deflate
    return None


def accepted(recorded: Headers, live: Headers, extension: str | None) -> Headers:
    """The recorded head of the 101 for this client's key, offers and subprotocols; all else as it was."""
    out: list[tuple[str, str]] = []
    for name, value in recorded:
        low = name.lower()
        if low == "sec-websocket-accept":
            out.append((name, accept_key(header(live, "sec-websocket-key") or "")))
        elif low == "sec-websocket-protocol":
            out += [(name, value)] if value.strip() in _listed(live, low) else []
        elif low == "sec-websocket-extensions":
            out += [(name, extension)] if extension else []
            extension = None
        elif low not in _BODY:
            out.append((name, value))
    return tuple(out)


def _listed(headers: Headers, wanted: str) -> list[str]:
    return [each.strip() for name, value in headers if name.lower() == wanted for each in value.split(",")]


def _extensions(headers: Headers) -> list[ExtensionHeader]:
    try:
        given = [value for name, value in headers if name.lower() == "sec-websocket-extensions"]
        return [each for value in given for each in parse_extension(value)]
    except InvalidHeader:
        return []
