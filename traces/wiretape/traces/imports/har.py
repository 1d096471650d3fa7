"""HTTP archives (http://www.softwareishard.com/blog/har-12-spec/) as browsers, mitmproxy and wiretape itself write them.

`content.text` holds a body without its content coding; `_webSocketMessages` a conversation (Chrome's extension); `_error` why
an exchange failed, status 0 that nothing was answered; `_wiretape` what the format has no place for (end, error, session,
chunks).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO, Literal
from urllib.parse import urlencode

from wiretape.traces.errors import InvalidFile
from wiretape.traces.imports import parts
from wiretape.traces.imports.documents import from_base64, read_json
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, Losses, Read, end_of, items, whole
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Message, Request, Response, Timings, header

__all__ = ["MOST", "read"]

MOST = 256 << 20
"""Bytes of a file: parsed it takes several times as much memory."""

_TYPES: dict[int, Literal["text", "binary", "close", "ping", "pong"]]
_TYPES = {1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}
"""Opcodes of RFC 6455, section 5.2."""


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    archive = read_json(whole(file, path, MOST), path)
    log = archive.get("log") if isinstance(archive, dict) else None
    if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
        raise InvalidFile(path, "expected an HTTP archive, a mapping with `log.entries`, got other JSON")
    found = list(items(Fields(path, "log", log).each("entries"), _exchange))
    return iter(sorted(found, key=lambda item: item.exchange.started_at if item.exchange else 0.0))


def _exchange(entry: Fields) -> Read:
    request, lost = _request(entry.required("request"))
    timings = _timings(entry)
    started, undated = _started(entry)
    socket = isinstance(entry["_webSocketMessages"], list) or entry["_resourceType"] == "websocket"
    end, error = _end(entry)
    response, answer_lost = _response(entry.required("response"), request.method, timings, cut=end is not End.COMPLETE)
    exchange = Exchange(
        seq=0,
        request=request,
        response=response,
        kind=ExchangeKind.WEBSOCKET if socket else ExchangeKind.HTTP,
        started_at=started,
        messages=tuple(_messages(entry, started)),
        timings=timings,
        end=end,
        error=error,
    )
    unclosed = ("how its socket was closed",) if socket and end is End.COMPLETE and not _closed(exchange) else ()
    return _ours(entry, exchange), (*lost, *answer_lost, *undated, *unclosed)


def _started(entry: Fields) -> tuple[float, Losses]:
    try:
        return datetime.fromisoformat(entry.text("startedDateTime")).timestamp(), ()
    except (ValueError, OverflowError, InvalidFile):
        return 0.0, ("when it started",)


def _timings(entry: Fields) -> Timings:
    """Phases in milliseconds, -1 where there was none → when each was over; DNS, connecting and TLS come before sending."""
    given = entry.within("timings")
    phase = {name: max(given.number(name, -1), 0) for name in ("blocked", "dns", "connect", "send", "wait", "receive")}
    connected = phase["blocked"] + phase["dns"] + phase["connect"]
    sent = connected + phase["send"]
    first = sent + phase["wait"]
    return Timings(*(round(each * 1000) for each in (connected, sent, first, first + phase["receive"])))


def _end(entry: Fields) -> tuple[End, str | None]:
    answer = entry.within("response")
    error = answer.text("_error", "") or entry.text("_error", "")
    if error:
        return end_of(error, answered=answer["status"] != 0), error
    return (End.INTERRUPTED if answer["status"] == 0 else End.COMPLETE), None


# ---------------------------------------------------------------- heads and bodies


def _request(given: Fields) -> tuple[Request, Losses]:
    headers, dropped = _headers(given)
    posted = given.within("postData")
    body, lost = _body(posted, posted.text("mimeType", "") or header(headers, "content-type") or "")
    if not body and posted["params"]:
        body, headers, lost = _form(posted, headers)
    if not body and given.number("bodySize", -1) > 0:
        raise given.fault("postData", "the request had a body, and none of it is in the file; save the archive with content")
    http_version, other = parts.version(given.text("httpVersion", ""))
    request, changed = parts.request(given, given.text("url"), given.text("method"), headers, body, http_version)
    return request, (*dropped, *lost, *changed, *other)


def _response(given: Fields, method: str, timings: Timings, *, cut: bool) -> tuple[Response | None, Losses]:
    status = given.whole("status", 0)
    if status == 0:
        return None, ()
    headers, dropped = _headers(given)
    content = given.within("content")
    body, lost = _body(content, content.text("mimeType", "") or header(headers, "content-type") or "")
    bodiless = method == "HEAD" or status in (204, 304) or 100 <= status < 200
    if bodiless and body:  # a browser shows what its cache holds
        body, lost = b"", ()
    if not (body or bodiless or cut) and content.number("size", 0) > 0:
        raise given.fault("content", "the answer had a body, and none of it is in the file; save the archive with content")
    http_version, other = parts.version(given.text("httpVersion", ""))
    reason, at = given.text("statusText", ""), timings.ended or 0
    response, changed = parts.response(status, reason, headers, body, at=at, http_version=http_version, cut=cut)
    return response, (*dropped, *lost, *changed, *other)


def _headers(given: Fields) -> tuple[Headers, Losses]:
    return parts.fields((field.text("name"), field.text("value", "")) for field in given.each("headers"))


def _body(given: Fields, content_type: str) -> tuple[bytes, Losses]:
    text, encoding = given.text("text", ""), given.text("encoding", "")
    if not encoding:
        return parts.encoded(text, content_type)
    body = from_base64(text) if encoding == "base64" else None
    if body is None or (text.strip() and not body):
        raise given.fault("text", "expected base64, as `encoding` says, got something else")
    return body, ()


def _form(posted: Fields, headers: Headers) -> tuple[bytes, Headers, Losses]:
    """A body that stands as its parameters alone."""
    if "multipart/" not in posted.text("mimeType", ""):
        pairs = [(field.text("name"), field.text("value", "")) for field in posted.each("params")]
        return urlencode(pairs).encode(), headers, ("the spelling of its form, written anew from `params`",)
    boundary = "wiretape-imported-form"
    body = b"".join(_part(field, boundary) for field in posted.each("params")) + f"--{boundary}--\r\n".encode()
    kept = tuple(pair for pair in headers if pair[0].lower() != "content-type")
    kind = ("Content-Type", f"multipart/form-data; boundary={boundary}")
    return body, (*kept, kind), ("the spelling and boundary of its form, written anew from `params`",)


def _part(field: Fields, boundary: str) -> bytes:
    name, file, kind = field.text("name"), field.text("fileName", ""), field.text("contentType", "")
    if file and not field["value"]:
        raise field.fault("value", "a file was sent, and its content is not in the archive")
    disposition = f'form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
    lines = [f"--{boundary}", f"Content-Disposition: {disposition}", *([f"Content-Type: {kind}"] if kind else ()), "", ""]
    return "\r\n".join(lines).encode() + field.text("value", "").encode() + b"\r\n"


# ---------------------------------------------------------------- sockets


def _messages(entry: Fields, started: float) -> Iterator[Message]:
    """`time` is in seconds since the epoch; where it lies before the start it counts from the first message."""
    given = list(entry.each("_webSocketMessages"))
    times = [each.number("time", started) for each in given]
    begin = started if times and times[0] >= started else min(times, default=0.0)
    for each, time in zip(given, times, strict=True):
        kind = _TYPES.get(each.whole("opcode", 1))
        sender = {"send": "client", "receive": "server"}.get(each.text("type"))
        if kind is None or sender is None:
            raise each.fault("opcode", "expected a message of RFC 6455 with the type send or receive")
        data = each.text("data", "")
        content = from_base64(data) if kind == "binary" else data.encode("utf-8", "surrogateescape")
        if content is None:
            raise each.fault("data", "expected base64, as a binary message has it")
        yield Message(max(0, round((time - begin) * 1e6)), _sender(sender), kind, content)


def _sender(name: str) -> Literal["client", "server"]:
    return "client" if name == "client" else "server"


def _closed(exchange: Exchange) -> bool:
    return any(message.type == "close" for message in exchange.messages)


# ---------------------------------------------------------------- our own


def _ours(entry: Fields, exchange: Exchange) -> Exchange:
    given = entry.within("_wiretape")
    changed: dict[str, Any] = {"session": given.text("session", ""), "error": given.text("error", "") or exchange.error}
    if end := given.text("end", ""):
        if end not in list(End):
            raise given.fault("end", f"expected one of {', '.join(End)}")
        changed["end"] = End(end)
    pieces = given["chunks"]
    if exchange.response and isinstance(pieces, list) and _fits(pieces, len(exchange.response.body)):
        changed["response"] = replace(exchange.response, chunks=tuple((at, size) for at, size in pieces))
    return replace(exchange, **changed)


def _fits(pieces: list[Any], size: int) -> bool:
    pairs = all(isinstance(each, list) and len(each) == 2 and all(type(number) is int for number in each) for each in pieces)
    return pairs and sum(length for _, length in pieces) == size and all(at >= 0 and length >= 0 for at, length in pieces)
