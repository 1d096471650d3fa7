"""HTTP archives (http://www.softwareishard.com/blog/har-12-spec/) as browsers, mitmproxy and wiretape itself write them.

Beside the specification: `_webSocketMessages` is a conversation (Chrome, mitmproxy), `_error` why an exchange failed, status 0
that nothing was answered; our own archives say `_end`, `_session`, the `_chunks` of an answer and the `_code` of a close.
har_bodies.py has the requests and answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal

from wiretape.traces.errors import InvalidFile
from wiretape.traces.imports import har_bodies, parts
from wiretape.traces.imports.documents import from_base64, read_json
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, Losses, Read, end_of, items, whole
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Timings
from wiretape.traces.urls import socket_url

__all__ = ["MOST", "read"]

MOST = 256 << 20
"""Bytes of a file: parsed it takes several times as much memory."""

_TYPES: dict[int, Literal["text", "binary", "close", "ping", "pong"]]
_TYPES = {1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}
"""Opcodes of RFC 6455, section 5.2."""
_SENDERS: dict[str, Literal["client", "server"]] = {"send": "client", "receive": "server"}


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    archive = read_json(whole(file, path, MOST), path)
    log = archive.get("log") if isinstance(archive, dict) else None
    if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
        raise InvalidFile(path, "expected an HTTP archive, a mapping with `log.entries`, got other JSON")
    return items(Fields(path, "log", log).each("entries"), _exchange)


def _exchange(entry: Fields) -> Read:
    request, lost = har_bodies.request(entry.required("request"))
    timings = _timings(entry)
    started, undated = _started(entry)
    socket = isinstance(entry["_webSocketMessages"], list) or entry["_resourceType"] == "websocket"
    end, error = _end(entry)
    answer = entry.required("response")
    cut = end is not End.COMPLETE
    response, answer_lost = har_bodies.response(answer, request.method, timings.ended or 0, cut=cut)
    exchange = Exchange(
        seq=0,
        request=replace(request, url=socket_url(request.url)) if socket else request,
        response=response,
        kind=ExchangeKind.WEBSOCKET if socket else ExchangeKind.HTTP,
        session=entry.text("_session", ""),
        started_at=started,
        messages=tuple(_messages(entry, started)) if socket else (),
        timings=timings,
        end=end,
        error=error,
    )
    exchange, answer_lost = _in_pieces(entry, exchange, answer_lost)
    return exchange, (*lost, *answer_lost, *undated, *_unclosed(exchange))


def _started(entry: Fields) -> tuple[float, Losses]:
    try:
        found = datetime.fromisoformat(entry.text("startedDateTime"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), ()
    except (ValueError, OverflowError, InvalidFile):
        return 0.0, ("when it started",)


def _timings(entry: Fields) -> Timings:
    """Phases in milliseconds, -1 where there was none → when each was over; DNS, connecting and TLS come before sending."""
    given = entry.within("timings")
    phase = {name: max(given.number(name, -1), 0) for name in ("blocked", "dns", "connect", "send", "wait", "receive")}
    connected = phase["blocked"] + phase["dns"] + phase["connect"]
    sent = connected + phase["send"]
    first = sent + phase["wait"]
    return Timings(*(parts.micros(each / 1000) for each in (connected, sent, first, first + phase["receive"])))


def _end(entry: Fields) -> tuple[End, str | None]:
    answer = entry.required("response")
    errors = (answer["_error"], entry["_error"])
    error = next((each for each in errors if isinstance(each, str) and each), None)
    if said := entry.text("_end", ""):
        if said not in list(End):
            raise entry.fault("_end", f"expected one of {', '.join(End)}")
        return End(said), error
    answered = not har_bodies.unanswered(answer)
    if error:
        return end_of(error, answered=answered), error
    return (End.COMPLETE if answered else End.INTERRUPTED), None


# ---------------------------------------------------------------- sockets


def _messages(entry: Fields, started: float) -> Iterator[Message]:
    """`time` is in seconds since the epoch; where it lies before the start it counts from the first message."""
    given = list(entry.each("_webSocketMessages"))
    times = [each.number("time", started) for each in given]
    begin = started if times and times[0] >= started else min(times, default=0.0)
    for each, time in zip(given, times, strict=True):
        kind, sender = _TYPES.get(each.whole("opcode", 1)), _SENDERS.get(each.text("type"))
        if kind is None or sender is None:
            raise each.fault("opcode", "expected a message of RFC 6455 with the type send or receive")
        data = each.text("data", "")
        content = from_base64(data) if kind == "binary" else parts.encoded(data, "")[0]
        if content is None:
            raise each.fault("data", "expected base64, as a binary message has it")
        code = each.whole("_code", 0) or None
        yield Message(parts.micros(time - begin), sender, kind, content, code)


def _unclosed(exchange: Exchange) -> Losses:
    closed = any(message.type == "close" for message in exchange.messages)
    open_end = exchange.kind is ExchangeKind.WEBSOCKET and exchange.end is End.COMPLETE and not closed
    return ("how its socket was closed",) if open_end else ()


# ---------------------------------------------------------------- what our own archives say of pieces


def _in_pieces(entry: Fields, exchange: Exchange, losses: Losses) -> Read:
    pieces = entry.required("response")["_chunks"]
    if not exchange.response or not isinstance(pieces, list) or not _fits(pieces, len(exchange.response.body)):
        return exchange, losses
    response = replace(exchange.response, chunks=tuple((at, length) for at, length in pieces))
    return replace(exchange, response=response), tuple(each for each in losses if each != parts.STREAM)


def _fits(pieces: list[Any], size: int) -> bool:
    pairs = all(isinstance(each, list) and len(each) == 2 and all(type(number) is int for number in each) for each in pieces)
    return pairs and sum(length for _, length in pieces) == size and all(at >= 0 and length >= 0 for at, length in pieces)
