"""The real captures in tests/wire, as exchanges with the facts that are certain about them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wiretape.traces import codings
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request, Response

WIRE = Path(__file__).parent.parent / "wire"


@dataclass(frozen=True)
class Capture:
    name: str
    exchange: Exchange
    """As on the wire."""
    plain: Exchange
    """Both bodies without content coding, as decoders take them."""
    expected: dict[str, Any]
    provider: str
    api: str

    @property
    def body(self) -> bytes:
        return self.plain.response.body if self.plain.response else b""


def captures(folder: Path = WIRE) -> Iterator[Capture]:
    for path in sorted(folder.rglob("*.json")):
        if path.name == "MANIFEST.json":
            continue
        for number, each in enumerate(json.loads(path.read_text(encoding="utf-8"))["exchanges"]):
            known = each.get("class") or {}
            exchange = _socket(number + 1, each) if each.get("kind") == "websocket" else _exchange(number + 1, each)
            yield Capture(
                f"{path.stem}[{number}]",
                exchange,
                _plain(exchange) if exchange.response else exchange,
                each.get("expected") or {},
                str(known.get("provider")),
                str(known.get("api")),
            )


def _socket(seq: int, given: dict[str, Any]) -> Exchange:
    url = (given.get("request") or {}).get("url") or given.get("url") or "wss://unknown.invalid/"
    senders: dict[str, Literal["client", "server"]] = {"sent": "client", "received": "server"}
    messages = tuple(
        Message(at, senders[each["direction"]], "text", json.dumps(each["json"]).encode())
        for at, each in enumerate(given["messages"])
    )
    return Exchange(seq, Request("GET", url, ()), kind=ExchangeKind.WEBSOCKET, messages=messages, end=End.COMPLETE)


def _exchange(seq: int, given: dict[str, Any]) -> Exchange:
    request = given.get("request") or {"method": "POST", "url": "https://unknown.invalid/"}
    response = given.get("response") or {"status": 0}
    return Exchange(
        seq,
        Request(request["method"], request["url"], _pairs(request), _bytes(request) or None),
        Response(response["status"], _pairs(response), _bytes(response)),
        end=End.COMPLETE,
    )


def _plain(exchange: Exchange) -> Exchange:
    request, response = exchange.request, exchange.response
    assert response is not None
    body = codings.undo(response.body, response.headers)
    sent = codings.undo(request.body, request.headers) if request.body else request.body
    return Exchange(
        exchange.seq,
        Request(request.method, request.url, request.headers, sent if sent is not None else request.body),
        Response(response.status, response.headers, response.body if body is None else body),
        end=End.COMPLETE,
    )


def _pairs(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in given.get("headers") or [])


def _bytes(given: dict[str, Any]) -> bytes:
    if given.get("body_base64"):
        return base64.b64decode(given["body_base64"])
    return (given.get("body") or "").encode()
