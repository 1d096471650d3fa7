"""Exchanges as JSON values, with nothing lost: what `show --exchanges --format json` prints and a line of jsonl holds."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from typing import Any

from wiretape.traces.types import Exchange, Headers, Message

__all__ = ["as_json"]


def as_json(exchange: Exchange) -> dict[str, Any]:
    """One exchange; bodies in base64 with their content coding on, absent ones null."""
    request, response = exchange.request, exchange.response
    return {
        "seq": exchange.seq,
        "kind": exchange.kind,
        "session": exchange.session,
        "started_at": exchange.started_at,
        "source": exchange.source,
        "upstream": exchange.upstream,
        "rule": exchange.rule,
        "noise": exchange.noise,
        "method": request.method,
        "url": request.url,
        "http_version": request.http_version,
        "request_headers": _pairs(request.headers),
        "request_body_base64": _base64(request.body),
        "status": response.status if response else None,
        "reason": response.reason if response else None,
        "response_http_version": response.http_version if response else None,
        "response_headers": _pairs(response.headers) if response else [],
        "response_body_base64": _base64(response.body) if response else None,
        "trailers": _pairs(response.trailers) if response else [],
        "chunks": [list(chunk) for chunk in response.chunks] if response else [],
        "messages": [_message(message) for message in exchange.messages],
        "end": exchange.end,
        "error": exchange.error,
        "match": exchange.match,
        "fingerprint": exchange.fingerprint,
        "timings_us": asdict(exchange.timings),
    }


def _pairs(headers: Headers) -> list[list[str]]:
    return [[name, value] for name, value in headers]


def _base64(body: bytes | None) -> str | None:
    return None if body is None else b64encode(body).decode("ascii")


def _message(message: Message) -> dict[str, Any]:
    text = _text(message)
    data = {"data_base64": b64encode(message.data).decode("ascii")} if text is None else {"data": text}
    return {"at": message.at, "from": message.sender, "type": message.type, **data, "code": message.code}


def _text(message: Message) -> str | None:
    if message.type == "binary":
        return None
    try:
        return message.data.decode()
    except UnicodeDecodeError:
        return None
