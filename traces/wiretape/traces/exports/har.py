"""HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), with Chrome's fields for events and WebSocket messages.

Bodies stand there without their content coding: as text where they are UTF-8, else in base64. What the format has no place for
is in fields that begin with `_`, as the specification asks.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from wiretape.traces import codings
from wiretape.traces.cost import Prices
from wiretape.traces.decoders.sse import SseReader
from wiretape.traces.exports.recorded import Recorded
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Json, Message, Request, Response, Timings, header

__all__ = ["export"]

type Fields = dict[str, Any]

_OPCODES = {"text": 1, "binary": 2, "close": 8, "ping": 9, "pong": 10}
"""RFC 6455 section 5.2."""

_LAST_MOMENT = 253402300799
"""31 December 9999, after which there are no dates."""

_NO_ANSWER: Fields = {
    "status": 0,
    "statusText": "",
    "httpVersion": "",
    "headers": [],
    "cookies": [],
    "content": {"size": 0, "mimeType": "x-unknown"},
    "redirectURL": "",
    "headersSize": -1,
    "bodySize": -1,
}
"""What Chrome writes where none came."""


def export(recorded: Recorded, prices: Prices) -> Iterator[bytes]:
    info = recorded.info
    creator = {"name": "wiretape", "version": info.tool_version}
    yield b'{"log": {"version": "1.2", "creator": %b, "pages": [], ' % _json(creator)
    yield b'"_recording": %b, "entries": [' % _json(info.model_dump(mode="json"))
    for number, exchange in enumerate(recorded.exchanges()):
        yield (b",\n" if number else b"\n") + _json(_entry(exchange))
    yield b"\n]}}\n"


def _json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _entry(exchange: Exchange) -> Fields:
    timings = _timings(exchange.timings)
    entry: Fields = {
        "startedDateTime": _moment(exchange.started_at),
        "time": round(sum(each for each in timings.values() if each > 0), 3),
        "request": _request(exchange.request),
        "response": _response(exchange),
        "cache": {},
        "timings": timings,
    }
    if exchange.kind is ExchangeKind.WEBSOCKET or (exchange.messages and exchange.kind is ExchangeKind.HTTP):
        entry["_resourceType"] = "websocket"
    if events := _events(exchange):
        entry["_eventSourceMessages"] = events
    if exchange.messages:
        entry["_webSocketMessages"] = [_message(exchange, message) for message in exchange.messages]
    about = {"_seq": exchange.seq, "_kind": exchange.kind, "_source": exchange.source, "_end": exchange.end}
    about |= {"_error": exchange.error, "_session": exchange.session, "_upstream": exchange.upstream, "_rule": exchange.rule}
    about |= {"_match": exchange.match, "_noise": exchange.noise}
    return entry | {name: value for name, value in about.items() if value}


def _moment(at: float) -> str:
    moment = datetime.fromtimestamp(min(max(at, 0), _LAST_MOMENT), UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _timings(times: Timings) -> dict[str, float]:
    """Milliseconds of each phase; -1 where it is not known, but for the three that must be there: these are 0 then."""
    connected = times.connected or 0
    sent = max(connected, times.request_sent or 0)
    first = max(sent, times.first_byte or 0)
    ended = max(first, times.ended or 0)
    answered = ended if times.first_byte is None else first
    return {
        "blocked": -1,
        "dns": -1,
        "connect": -1 if times.connected is None else connected / 1000,
        "ssl": -1,
        "send": (sent - connected) / 1000,
        "wait": (answered - sent) / 1000,
        "receive": (ended - answered) / 1000,
    }


# ---------------------------------------------------------------- the request


def _request(request: Request) -> Fields:
    found: Fields = {
        "method": request.method,
        "url": request.url,
        "httpVersion": request.http_version,
        "headers": _pairs(request.headers),
        "queryString": _query(request.url),
        "cookies": [_cookie(pair) for value in _all(request.headers, "cookie") for pair in value.split(";") if pair.strip()],
        "headersSize": -1,
        "bodySize": len(request.body or b""),
    }
    if request.body is not None:
        plain = codings.undo(request.body, request.headers)
        text = _text(request.body if plain is None else plain)
        found["postData"] = {"mimeType": header(request.headers, "content-type") or "", "params": [], **text}
    return found


def _pairs(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _query(url: str) -> list[dict[str, str]]:
    try:
        return _pairs(tuple(parse_qsl(urlsplit(url).query, keep_blank_values=True)))
    except ValueError:
        return []


def _all(headers: Headers, name: str) -> list[str]:
    return [value for key, value in headers if key.lower() == name]


def _cookie(pair: str) -> Fields:
    name, _, value = pair.strip().partition("=")
    return {"name": name, "value": value}


# ---------------------------------------------------------------- the response


def _response(exchange: Exchange) -> Fields:
    response, failed = exchange.response, exchange.error or exchange.end
    told = {} if exchange.end in (End.COMPLETE, None) else {"_error": failed}
    if response is None:
        return _NO_ANSWER | told
    found: Fields = {
        "status": response.status,
        "statusText": response.reason,
        "httpVersion": response.http_version,
        "headers": _pairs(response.headers),
        "cookies": [_set_cookie(value) for value in _all(response.headers, "set-cookie")],
        "content": _content(response, cut=exchange.end is not End.COMPLETE),
        "redirectURL": header(response.headers, "location") or "",
        "headersSize": -1,
        "bodySize": len(response.body),
    }
    if response.chunks:
        found["_chunks"] = [list(chunk) for chunk in response.chunks]
    if response.trailers:
        found["_trailers"] = _pairs(response.trailers)
    return found | told


def _set_cookie(value: str) -> Fields:
    first, *others = value.split(";")
    said = {name.strip().lower(): text.strip() for name, _, text in (each.partition("=") for each in others)}
    where = {name: said[name] for name in ("path", "domain") if name in said}
    return _cookie(first) | where | {"httpOnly": "httponly" in said, "secure": "secure" in said}


def _content(response: Response, *, cut: bool) -> Fields:
    """`size` is what a reader gets, `compression` what the content coding saved on the wire."""
    kind = header(response.headers, "content-type") or "x-unknown"
    plain = codings.undo(response.body, response.headers, partial=cut)
    if plain is None:
        body = {"size": len(response.body), "mimeType": kind, **_text(response.body)}
        return body | {"comment": "The content coding could not be taken off: this is the body as it was on the wire."}
    saved = {"compression": len(plain) - len(response.body)} if codings.codings(response.headers) else {}
    return {"size": len(plain), "mimeType": kind, **saved, **_text(plain)}


def _events(exchange: Exchange) -> list[Fields]:
    """Of a stream without content coding: each event with the moment at which it was whole, in seconds since the epoch."""
    response = exchange.response
    if response is None or codings.codings(response.headers):
        return []
    if not (header(response.headers, "content-type") or "").lower().startswith("text/event-stream"):
        return []
    reader, body, found = SseReader(), BytesIO(response.body), list[Fields]()
    for at, length in response.chunks:
        when = {"time": _after(exchange, at)}
        found += [when | {"eventName": each.name, "eventId": "", "data": each.data} for each in reader.feed(body.read(length))]
    return found


def _after(exchange: Exchange, at: int) -> float:
    return round(exchange.started_at + at / 1e6, 6)


def _text(body: bytes) -> dict[str, str]:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": b64encode(body).decode(), "encoding": "base64"}


def _message(exchange: Exchange, message: Message) -> Fields:
    """As Chrome writes it: seconds since the epoch, binary data in base64."""
    text = {"text": b64encode(message.data).decode()} if message.type == "binary" else _text(message.data)
    found: Fields = {
        "type": "send" if message.sender == "client" else "receive",
        "time": _after(exchange, message.at),
        "opcode": _OPCODES[message.type],
        "data": text["text"],
    }
    return found if message.code is None else found | {"_code": message.code}
