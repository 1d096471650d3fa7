"""What a URL says of the exchange that goes there."""

from __future__ import annotations

from wiretape.traces.types import ExchangeKind

__all__ = ["kind_of", "socket_url"]

_SOCKETS = {"http": "ws", "https": "wss"}


def socket_url(url: str) -> str:
    """The URL of a WebSocket whose handshake went to this one."""
    scheme, colon, rest = url.partition(":")
    return _SOCKETS.get(scheme, scheme) + colon + rest


def kind_of(url: str) -> ExchangeKind:
    return ExchangeKind.WEBSOCKET if url.startswith(("ws:", "wss:")) else ExchangeKind.HTTP
