"""The ASGI app that answers from rules and recording: request in, answer or miss out, and never a byte upstream.

It speaks through `wiretape.transport` (wire.py) so that heads, chunks and endings are what was recorded. What it served is told
to a capture, which keeps it where a run asks for that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from wiretape.proxy.capture import Capture, Live, Origin
from wiretape.proxy.conversing import Converser
from wiretape.proxy.events import read_event
from wiretape.proxy.framing import Plan, answered, plan
from wiretape.proxy.handshake import accepted, offered_deflate
from wiretape.proxy.mocking import Asked, Mocks, marks_of
from wiretape.proxy.noise import is_noise
from wiretape.proxy.route import SESSION_HEADER, Refusal, Route, Router
from wiretape.proxy.serving import break_up, deliver, say
from wiretape.proxy.tally import Tally
from wiretape.proxy.wire import EXTENSION, Wire
from wiretape.replay import miss as misses
from wiretape.replay import rpc
from wiretape.replay.matcher import Match, Matcher, Miss
from wiretape.replay.putback import put_back, put_into_request
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import MatchSettings
from wiretape.traces.types import End, Headers, Request, Response, Source, header
from wiretape.traces.urls import kind_of, socket_url

__all__ = ["ReplayApp"]

type Receive = Callable[[], Awaitable[dict[str, Any]]]

_OURS = frozenset({SESSION_HEADER, "proxy-authorization", "proxy-connection"})


class ReplayApp:
    def __init__(
        self,
        router: Router,
        matcher: Matcher,
        redactor: Redactor,
        capture: Capture,
        settings: MatchSettings,
        mocks: Mocks,
        noise: tuple[str, ...] = (),
        tally: Tally | None = None,
    ) -> None:
        self._router = router
        self._mocks = mocks
        self._matcher = matcher
        self._redactor = redactor
        self._capture = capture
        self._settings = settings
        self._noise = noise
        self.tally = tally or Tally()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: object) -> None:
        wire: Wire = scope["extensions"][EXTENSION]
        body = await _body(receive)
        if body is None:
            return
        try:
            await self._ask(scope["method"], wire, body)
        except Exception as error:
            self.tally.strayed(
                "", f"{scope['method']} {wire.target}: it could not be answered ({error!r}). Please report this."
            )
            raise

    async def _ask(self, method: str, wire: Wire, body: bytes) -> None:
        route = self._route(wire)
        if isinstance(route, Refusal):
            self.tally.strayed("", f"{method} {wire.target}: {route.message}")
            say(wire, route.status, (("Content-Type", "application/json"), ("x-should-retry", "false")), route.body)
        elif route.events:
            self._event(wire, body, route.session)
        else:
            url = socket_url(route.url) if wire.asks_for_socket else route.url
            await self._answer(wire, route, _request(method, url, wire, body))

    def _route(self, wire: Wire) -> Route | Refusal:
        if wire.target.startswith(("/", "*")):
            if wire.tunnel is None:
                return self._router.gateway(wire.target, wire.headers)
            tunnel = wire.tunnel
            return self._router.forward(tunnel.scheme, tunnel.host, tunnel.port, wire.target, wire.headers, tunnel.session)
        return self._absolute(wire)

    def _absolute(self, wire: Wire) -> Route | Refusal:
        given, _, rest = wire.target.partition("://")
        scheme = {"ws": "http", "wss": "https"}.get(given.lower(), given.lower())
        cut = min((at for mark in "/?" if (at := rest.find(mark)) >= 0), default=len(rest))
        netloc, path = rest[:cut], rest[cut:]
        host, port = _host_port(netloc, 443 if scheme == "https" else 80)
        return self._router.forward(scheme, host, port, path or "/", wire.headers, None)

    def _event(self, wire: Wire, body: bytes, session: str) -> None:
        event = read_event(body)
        if isinstance(event, str):
            say(wire, 400, (("Content-Type", "application/json"),), Refusal(400, event).body)
            return
        self._capture.event(str(event.get("session", session)), event)
        say(wire, 204, (), b"")

    async def _answer(self, wire: Wire, route: Route, request: Request) -> None:
        if not wire.asks_for_socket and (asked := self._mocks.ask(route, request)):
            await self._mock(wire, route, request, asked)
            return
        redacted = self._redactor.request(request)
        found = self._matcher.find(redacted, route.session)
        if isinstance(found, Match):
            self.tally.answered(urlsplit(request.url).hostname or "")
            await self._replay(wire, route, self._begin(route, request, found.level), redacted, found)
        elif is_noise(request.url, self._noise):
            self.tally.noise += 1
            self._own(wire, self._begin(route, request), 200, (("Content-Type", "application/json"),), b"{}")
        elif courtesy := rpc.courtesy(request):
            self._own(wire, self._begin(route, request), *courtesy)
        else:
            self._own(wire, self._begin(route, request, "miss"), *self._missed(found, request))

    def _own(self, wire: Wire, live: Live, status: int, headers: Headers, body: bytes) -> None:
        """An answer of our own making: a miss, or a courtesy where none is needed."""
        live.response(status, "", "HTTP/1.1", headers)
        live.chunk(body)
        say(wire, status, headers, body)
        live.end(End.COMPLETE)

    def _missed(self, found: Miss, request: Request) -> tuple[int, Headers, bytes]:
        self.tally.missed(found)
        return misses.response(found, request)

    def _begin(self, route: Route, request: Request, level: str | None = None, rule: str | None = None) -> Live:
        head, source = replace(request, body=None), Source.MOCKED if rule else Source.REPLAYED
        origin = Origin(route.session, route.upstream, source, level, rule, kind=kind_of(head.url))
        live = self._capture.begin(head, origin)
        if request.body:
            live.request_chunk(request.body)
        live.request_end(has_body=request.body is not None)
        return live

    async def _replay(self, wire: Wire, route: Route, live: Live, request: Request, match: Match) -> None:
        """`request` as it was matched: what a recorded answer is told by, such as the id of a call, is no secret."""
        recorded = match.exchange.response
        if recorded is None and match.exchange.end is not End.REFUSED:
            self.tally.levels[match.level] += 1
            await break_up(wire, match.exchange.end, live)
            return
        if wire.asks_for_socket and recorded and recorded.status == 101:
            await self._converse(wire, route, match, recorded, live)
        else:
            await deliver(wire, self._recorded(match, request), live, _marks(match))

    async def _converse(self, wire: Wire, route: Route, match: Match, recorded: Response, live: Live) -> None:
        self.tally.levels[match.level] += 1
        extension, deflate = offered_deflate(recorded.headers, wire.headers) or (None, None)
        headers = accepted(recorded.headers, wire.headers, extension)
        live.response(101, recorded.reason, "HTTP/1.1", headers)
        conversation = self._matcher.converse(match, route.session)
        wire.start(101, recorded.reason, (*headers, *_marks(match, settled=conversation.settled)))
        channel = wire.as_channel(deflate)
        try:
            await Converser(channel, conversation, live, self._redactor, self.tally, match.level).run()
        finally:
            channel.hang_up()

    def _recorded(self, match: Match, request: Request) -> Plan:
        """The plan of a recorded answer; it is counted as served."""
        self.tally.levels[match.level] += 1
        exchange = match.exchange
        self._mocks.saw(exchange)
        recorded = exchange.response
        if recorded is None:
            recorded = _never_answered(exchange.error)
            exchange = replace(exchange, end=End.COMPLETE)
        said = replace(exchange, request=put_into_request(exchange.request, match.bindings))
        answer = rpc.with_live_ids(said, put_back(recorded, match.bindings), request)
        ended = match.exchange.end
        made = plan(exchange, answer, request, self._settings.pace or 0.0)
        return replace(made, ended=End.UPSTREAM_TRUNCATED if ended in (None, End.INTERRUPTED) else ended)

    async def _mock(self, wire: Wire, route: Route, request: Request, asked: Asked) -> None:
        async def base() -> Plan:
            found = self._matcher.find(self._redactor.request(request), route.session)
            if isinstance(found, Match):
                return self._recorded(found, request)
            status, headers, body = self._missed(found, request)
            return answered(Response(status, headers, body), request)

        live = self._begin(route, request, rule=asked.touch.rule.id)
        await deliver(wire, await self._mocks.plan(asked, base, wire.until_gone), live, marks_of(asked))


def _marks(match: Match, *, settled: bool = True) -> Headers:
    """Which of several sockets answers may be settled only by what the client says first."""
    which = (("x-replay-exchange", str(match.exchange.seq)),) if settled else ()
    return (("x-replay-source", "replayed"), ("x-replay-match", str(match.level)), *which)


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
