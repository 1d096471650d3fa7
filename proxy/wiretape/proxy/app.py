"""The ASGI app that answers from the recording: request in, recorded answer or miss out, and never a byte upstream.

It speaks through `wiretape.transport` (wire.py) so that heads, chunks and endings are what was recorded. What it served is told
to a capture, which keeps it where a run asks for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from wiretape.proxy.capture import Capture, Live, Origin
from wiretape.proxy.events import read_event
from wiretape.proxy.framing import Ending, Framing, Plan, plan
from wiretape.proxy.noise import is_noise
from wiretape.proxy.route import SESSION_HEADER, Refusal, Route, Router
from wiretape.proxy.wire import EXTENSION, Wire
from wiretape.replay import miss as misses
from wiretape.replay import rpc
from wiretape.replay.matcher import Match, Matcher, Miss
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import MatchSettings
from wiretape.traces.types import End, Headers, Request, Response, Source, header

__all__ = ["ReplayApp", "Tally"]

type Receive = Callable[[], Awaitable[dict[str, Any]]]

_SILENCE = 300.0
"""Seconds after which a connection in a recorded silence is broken off."""

_ONE_WRITE = 1 << 20
"""Bytes that are put together before the client has to take them."""

_OURS = frozenset({SESSION_HEADER, "proxy-authorization", "proxy-connection"})

log = logging.getLogger("wiretape.proxy")


class Tally:
    """What a replay has served so far."""

    def __init__(self) -> None:
        self.levels: Counter[str] = Counter()
        self.misses: list[Miss] = []
        self.noise = 0

    @property
    def served(self) -> int:
        return sum(self.levels.values())


class ReplayApp:
    def __init__(
        self,
        router: Router,
        matcher: Matcher,
        redactor: Redactor,
        capture: Capture,
        settings: MatchSettings,
        noise: tuple[str, ...] = (),
    ) -> None:
        self._router = router
        self._matcher = matcher
        self._redactor = redactor
        self._capture = capture
        self._settings = settings
        self._noise = noise
        self.tally = Tally()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: object) -> None:
        wire: Wire = scope["extensions"][EXTENSION]
        body = await _body(receive)
        if body is None:
            return
        route = self._route(wire)
        if isinstance(route, Refusal):
            _say(wire, route.status, (("Content-Type", "application/json"), ("x-should-retry", "false")), route.body)
        elif route.events:
            self._event(wire, body, route.session)
        else:
            await self._answer(wire, route, _request(scope["method"], route.url, wire, body))

    def _route(self, wire: Wire) -> Route | Refusal:
        if wire.target.startswith(("/", "*")):
            if wire.tunnel is None:
                return self._router.gateway(wire.target, wire.headers)
            tunnel = wire.tunnel
            return self._router.forward(tunnel.scheme, tunnel.host, tunnel.port, wire.target, wire.headers, tunnel.session)
        return self._absolute(wire)

    def _absolute(self, wire: Wire) -> Route | Refusal:
        scheme, _, rest = wire.target.partition("://")
        cut = min((at for mark in "/?" if (at := rest.find(mark)) >= 0), default=len(rest))
        netloc, path = rest[:cut], rest[cut:]
        host, port = _host_port(netloc, 443 if scheme == "https" else 80)
        return self._router.forward(scheme.lower(), host, port, path or "/", wire.headers, None)

    def _event(self, wire: Wire, body: bytes, session: str) -> None:
        event = read_event(body)
        if isinstance(event, str):
            _say(wire, 400, (("Content-Type", "application/json"),), Refusal(400, event).body)
            return
        self._capture.event(str(event.get("session", session)), event)
        _say(wire, 204, (), b"")

    async def _answer(self, wire: Wire, route: Route, request: Request) -> None:
        redacted = self._redactor.request(request)
        found = self._matcher.find(redacted, route.session)
        if isinstance(found, Match):
            self.tally.levels[found.level] += 1
            await self._replay(wire, self._begin(route, request, found.level), redacted, found)
        elif is_noise(request.url, self._noise):
            self.tally.noise += 1
            self._own(wire, self._begin(route, request, None), 200, (("Content-Type", "application/json"),), b"{}")
        elif courtesy := rpc.courtesy(request):
            self._own(wire, self._begin(route, request, None), *courtesy)
        else:
            self.tally.misses.append(found)
            log.info("miss: %s", found.message)
            self._own(wire, self._begin(route, request, "miss"), *misses.response(found, request))

    def _own(self, wire: Wire, live: Live, status: int, headers: Headers, body: bytes) -> None:
        """An answer of our own making: a miss, or a courtesy where none is needed."""
        live.response(status, "", "HTTP/1.1", headers)
        live.chunk(body)
        _say(wire, status, headers, body)
        live.end(End.COMPLETE)

    def _begin(self, route: Route, request: Request, level: str | None) -> Live:
        head = replace(request, body=None)
        live = self._capture.begin(head, Origin(route.session, route.upstream, Source.REPLAYED, level))
        if request.body:
            live.request_chunk(request.body)
        live.request_end(has_body=request.body is not None)
        return live

    async def _replay(self, wire: Wire, live: Live, request: Request, match: Match) -> None:
        """`request` as it was matched: what a recorded answer is told by, such as the id of a call, is no secret."""
        exchange = match.exchange
        recorded = exchange.response
        if recorded is None:
            recorded = _never_answered(exchange.error)
            exchange = replace(exchange, end=End.COMPLETE)
        made = plan(exchange, rpc.with_live_ids(exchange, recorded, request), request, self._settings.pace or 0.0)
        marks = (
            ("x-replay-source", "replayed"),
            ("x-replay-match", str(match.level)),
            ("x-replay-exchange", str(exchange.seq)),
        )
        live.response(made.status, made.reason, "HTTP/1.1", made.headers)
        if made.framing is Framing.CLOSE:
            wire.close_after()
        wire.start(made.status, made.reason, (*made.headers, *marks))
        await _send(wire, made, live)
        await _finish(wire, made, live)


async def _send(wire: Wire, made: Plan, live: Live) -> None:
    """The pieces at their times; those that need no waiting share one write."""
    waiting = bytearray()
    for delay, piece in made.pieces:
        if delay > 0 or len(waiting) > _ONE_WRITE:
            wire.write(bytes(waiting))
            waiting.clear()
            await wire.drain()
            await asyncio.sleep(delay)
        if wire.gone:
            return
        live.chunk(piece)
        waiting += _framed(piece, made.framing)
    if made.framing is Framing.CHUNKED and made.ending is Ending.WHOLE:
        waiting += b"0\r\n\r\n"
    wire.write(bytes(waiting))
    await wire.drain()


async def _finish(wire: Wire, made: Plan, live: Live) -> None:
    if wire.gone:
        live.end(End.CLIENT_CLOSED)
    elif made.ending is Ending.WHOLE:
        wire.finish()
        live.end(End.COMPLETE)
    elif made.ending is Ending.RESET:
        # An RST may overtake what was written before it: give those bytes a moment to arrive.
        await asyncio.sleep(0.05)
        wire.reset()
        live.end(End.UPSTREAM_RESET)
    elif made.ending is Ending.HANG_UP:
        wire.hang_up()
        live.end(End.UPSTREAM_TRUNCATED)
    else:
        await wire.until_gone(_SILENCE)
        wire.hang_up()
        live.end(End.CLIENT_CLOSED)


def _framed(piece: bytes, framing: Framing) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece) if framing is Framing.CHUNKED and piece else piece


def _say(wire: Wire, status: int, headers: Headers, body: bytes) -> None:
    length = () if status == 204 else (("Content-Length", str(len(body))),)
    wire.start(status, "", (*headers, *length))
    wire.write(b"" if wire.method == "HEAD" else body)
    wire.finish()


async def _body(receive: Receive) -> bytes | None:
    """The whole request body; None where the client went away before it was sent."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message["body"])
        if not message["more_body"]:
            return b"".join(parts)


def _request(method: str, url: str, wire: Wire, body: bytes) -> Request:
    headers = tuple((name, value) for name, value in wire.headers if name.lower() not in _OURS)
    framed = header(headers, "content-length") is not None or header(headers, "transfer-encoding") is not None
    return Request(method, url, headers, body if framed else None)


def _host_port(netloc: str, default: int) -> tuple[str, int]:
    netloc = netloc.rpartition("@")[2]
    host, colon, port = netloc.rpartition(":")
    if colon and port.isdecimal() and not netloc.endswith("]"):
        return host.strip("[]"), int(port)
    return netloc.strip("[]"), default


def _never_answered(error: str | None) -> Response:
    """What a client gets of an upstream that could not be reached: the sidecar's 502, as when it was recorded."""
    body = Refusal(502, f"the recorded upstream gave no answer: {error or 'the connection failed'}").body
    return Response(502, (("Content-Type", "application/json"), ("Content-Length", str(len(body)))), body, "Bad Gateway")
