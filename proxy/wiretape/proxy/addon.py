"""The recording half of the sidecar: mitmproxy's core, embedded, with this one addon of ours.

mitmproxy fails open: an exception in a hook is swallowed and the request goes upstream. Every hook here is therefore guarded:
what it cannot handle kills the flow, so that nothing passes unrecorded. The callables that tee a body only put values on the
writer's queue and return the same bytes: relaying alters nothing, and waits for nothing but a writer that on a busy socket has
fallen far behind.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate

from mitmproxy import connection, http, options, tls
from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
from mitmproxy.master import Master
from mitmproxy.net import tls as net_tls
from mitmproxy.proxy import server_hooks
from mitmproxy.proxy.mode_servers import ServerInstance
from OpenSSL import SSL

from wiretape.proxy import mended, relay
from wiretape.proxy.capture import Capture, Live, Origin
from wiretape.proxy.certs import KEY_SIZE, Authority
from wiretape.proxy.clients import refused_certificate
from wiretape.proxy.events import read_event
from wiretape.proxy.frames import Sender
from wiretape.proxy.front import RESET_DELAY, Opening, break_off
from wiretape.proxy.handshake import asks_for_socket
from wiretape.proxy.live import INNER
from wiretape.proxy.noise import matches
from wiretape.proxy.overheard import Overheard
from wiretape.proxy.redirect import MockSeam
from wiretape.proxy.relay import SOCKET, Ears
from wiretape.proxy.route import Refusal, Route, Router
from wiretape.proxy.touched import Touched
from wiretape.proxy.upstream import UpstreamSettings
from wiretape.traces.types import End, Headers, Request
from wiretape.traces.urls import kind_of, socket_url

__all__ = ["Interceptor"]

_LIVE = "wiretape.live"
_ROUTE = "wiretape.route"
_IDLE = 86400
"""Seconds that a connection may say nothing: sockets do so for long, and it is not ours to end them."""

_BREATH = 0.02
"""Seconds after which it is looked whether the writer has caught up."""

_BODILESS = ("GET", "HEAD", "DELETE")

_CLOSED_BY_CLIENT = ("client disconnected", "reset by client", "stream reset")

log = logging.getLogger("wiretape.proxy")


def _guarded[**P](hook: Callable[Concatenate[Interceptor, http.HTTPFlow, P], None]) -> Callable[..., None]:
    @wraps(hook)
    def run(self: Interceptor, flow: http.HTTPFlow, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            hook(self, flow, *args, **kwargs)
        except Exception:
            log.exception("recording failed in %s: this request was stopped instead of passing unrecorded", hook.__name__)
            if flow.killable:
                flow.kill()  # type: ignore[no-untyped-call]  # mitmproxy is typed in parts

    return run


class Interceptor:
    """mitmproxy's regular and reverse instances without listening sockets: `take` hands them accepted ones."""

    def __init__(
        self, authority: Authority, upstream: UpstreamSettings, router: Router, capture: Capture, seam: MockSeam
    ) -> None:
        self._authority = authority
        self._upstream = upstream
        self._router = router
        self._capture = capture
        self._seam = seam
        self._touched = Touched(seam)
        self._server = proxyserver.Proxyserver()  # type: ignore[no-untyped-call]
        self._tunnels: dict[str, str] = {}
        self._readers: dict[str, dict[str, asyncio.StreamReader]] = {}
        """Client connection → its upstream connections → their readers, which know how they ended."""

    async def start(self) -> None:
        logging.getLogger("mitmproxy").setLevel(logging.CRITICAL)
        relay.install()
        mended.install()
        self._master = Master(options.Options(), event_loop=asyncio.get_running_loop())
        self._master.addons.add(  # type: ignore[no-untyped-call]
            core.Core(), self._server, next_layer.NextLayer(), self, tlsconfig.TlsConfig()
        )
        self._master.options.update(  # type: ignore[no-untyped-call]
            confdir=str(self._authority.folder),
            key_size=KEY_SIZE,
            mode=[],
            connection_strategy="lazy",
            upstream_cert=False,
            http3=False,
            tcp_timeout=_IDLE,
            ssl_verify_upstream_trusted_ca=str(self._upstream.roots),
            ignore_hosts=list(self._upstream.ignored_patterns()),
        )
        await self._master.running()
        self._regular: ServerInstance[Any] = ServerInstance.make("regular", self._server)
        self._reverse: ServerInstance[Any] = ServerInstance.make("reverse:http://gateway.invalid", self._server)

    async def take(self, accepted: socket.socket, opening: Opening) -> None:
        loop = asyncio.get_running_loop()
        instance = self._reverse if opening is Opening.ORIGIN else self._regular
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, instance.handle_stream, loop=loop)
        await loop.connect_accepted_socket(lambda: protocol, accepted)

    async def stop(self) -> None:
        for handler in list(self._server.connections.values()):
            for io in list(handler.transports.values()):
                if io.handler:
                    io.handler.cancel("the sidecar is stopping")
        await asyncio.sleep(0)
        await self._master.done()

    # connections

    def client_connected(self, client: connection.Client) -> None:
        if handler := self._server.connections.get(client.id):
            # An HTTP/2 client before an HTTP/1 upstream would wait in a queue of five.
            handler.max_conns.default_factory = lambda: asyncio.Semaphore(1000)

    def client_disconnected(self, client: connection.Client) -> None:
        self._tunnels.pop(client.id, None)
        self._readers.pop(client.id, None)

    @_guarded
    def http_connect(self, flow: http.HTTPFlow) -> None:
        found = self._router.connect(flow.request.host, flow.request.port, _headers(flow.request.headers))
        if isinstance(found, Refusal):
            flow.response = _answer(found)
        else:
            self._tunnels[flow.client_conn.id] = found

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        server = data.server
        if not server.address:
            return
        if server.via is None and server.address[:2] != self._seam.address:
            server.sni = server.sni or data.client.sni or server.address[0]
            server.address = self._upstream.address(*server.address[:2])

    def server_connected(self, data: server_hooks.ServerConnectionHookData) -> None:
        handler = self._server.connections.get(data.client.id)
        io = handler and handler.transports.get(data.server)
        if io and isinstance(io.reader, asyncio.StreamReader):
            self._readers.setdefault(data.client.id, {})[data.server.id] = io.reader

    @_guarded
    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        if credentials := self._upstream.proxy_authorization(flow.request.scheme):
            flow.request.headers["Proxy-Authorization"] = credentials

    def tls_start_server(self, start: tls.TlsData) -> None:
        host = start.conn.sni or ""
        if host in self._upstream.insecure:
            context = net_tls.create_proxy_server_context(
                method=net_tls.Method.TLS_CLIENT_METHOD,
                min_version=net_tls.DEFAULT_MIN_VERSION,
                max_version=net_tls.DEFAULT_MAX_VERSION,
                cipher_list=None,
                ecdh_curve=None,
                verify=net_tls.Verify.VERIFY_NONE,
                ca_path=None,
                ca_pemfile=None,
                client_cert=None,
                legacy_server_connect=False,
            )
            start.ssl_conn = SSL.Connection(context)
            start.ssl_conn.set_tlsext_host_name(host.encode("idna"))
            start.ssl_conn.set_connect_state()

    def tls_failed_client(self, data: tls.TlsData) -> None:
        address = data.context.server.address or ("unknown", 0)
        url = f"https://{data.conn.sni or address[0]}:{address[1]}"
        live = self._capture.begin(Request("CONNECT", url, ()), Origin(self._tunnels.get(data.context.client.id, "")))
        live.request_end(has_body=False)
        sentence = refused_certificate(str(address[0]), data.conn.sni, data.conn.error or "")
        self._capture.refused.append(sentence)
        live.end(End.REFUSED, sentence)

    # exchanges

    @_guarded
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        request = flow.request
        if request.method == "PRI":
            # HTTP/2 without ALPN: nobody could answer it in HTTP/1.1, and it is no request (RFC 9113, section 3.4).
            flow.kill()  # type: ignore[no-untyped-call]
            return
        tunnel = self._tunnels.get(flow.client_conn.id)
        found = self._route(flow, tunnel)
        if isinstance(found, Refusal):
            flow.response = _answer(found)
            return
        flow.metadata[_ROUTE] = found
        if found.events:
            return
        _apply(found, request, keep_host=tunnel is not None)
        if via := self._upstream.proxy_for(request.scheme, request.host, request.port):
            flow.server_conn.via = via
            if request.scheme == "http" and (credentials := self._upstream.proxy_authorization("http")):
                request.headers["Proxy-Authorization"] = credentials
        if self._seam.live.owns(request.headers.pop(INNER, None)):
            request.stream = True
            return
        if any(matches(pattern, found.url) for pattern in self._upstream.ignore):
            self._upstream.ignored.add(request.host)
            request.stream = True
            return
        headers = _recorded(request.headers)
        url = socket_url(found.url) if asks_for_socket(headers) else found.url
        head = Request(request.method, url, headers, None, _version(request.http_version))
        live = self._capture.begin(head, Origin(found.session, found.upstream, kind=kind_of(url)))
        flow.metadata[_LIVE] = live
        if not self._touched.waits(flow, head, found.upstream):
            request.stream = _tee(live.request_chunk, *self._touched.hears(flow, head))

    def _route(self, flow: http.HTTPFlow, tunnel: str | None) -> Route | Refusal:
        request, headers = flow.request, _headers(flow.request.headers)
        target = request.data.path.decode("latin-1")
        if flow.client_conn.proxy_mode.type_name == "reverse":
            return self._router.gateway(target, headers)
        return self._router.forward(request.scheme, request.host, request.port, target, headers, tunnel)

    @_guarded
    def request(self, flow: http.HTTPFlow) -> None:
        live, route = _live(flow), flow.metadata.get(_ROUTE)
        if route and route.events:
            flow.response = self._event(flow.request.content or b"", route.session)
        elif live:
            has_body = _has_body(flow)
            self._touched.ask(flow, live, flow.metadata[_ROUTE], has_body=has_body)
            live.request_end(has_body=has_body)

    def _event(self, body: bytes, session: str) -> http.Response:
        event = read_event(body)
        if isinstance(event, str):
            return _answer(Refusal(400, event))
        self._capture.event(str(event.get("session", session)), event)
        return http.Response.make(204)

    @_guarded
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        live, response = _live(flow), flow.response
        if response is None:
            return
        if flow in self._touched:
            self._rewrite_redirect(flow.metadata[_ROUTE], response)
            response.stream = self._touched.pass_on(flow, response)
            return
        if live is None:
            response.stream = _ROUTE in flow.metadata and not flow.metadata[_ROUTE].events
            return
        reason = response.reason or ""
        live.response(response.status_code, reason, _version(response.http_version), _headers(response.headers))
        if response.status_code == 101:
            heard = Overheard(live, _headers(response.headers))
            flow.metadata[SOCKET] = Ears(partial(self._socket_data, flow, heard), partial(self._socket_closed, flow, heard))
        if route := flow.metadata.get(_ROUTE):
            self._rewrite_redirect(route, response)
        response.stream = _tee(live.chunk, *self._touched.notes(flow))

    def _rewrite_redirect(self, route: Route, response: http.Response) -> None:
        location = response.headers.get("location")
        if location and route.upstream and (path := self._router.redirected(route, location)):
            response.headers["location"] = path

    @_guarded
    def response(self, flow: http.HTTPFlow) -> None:
        live = _live(flow)
        if live and flow.response and flow not in self._touched:
            live.request_end(has_body=_has_body(flow))
            if flow.response.trailers:
                live.trailers(_headers(flow.response.trailers))
            if not flow.websocket:
                live.end(End.COMPLETE)
            self._touched.saw(flow, flow.response.status_code, _headers(flow.response.headers))

    @_guarded
    def error(self, flow: http.HTTPFlow) -> None:
        message = flow.error.msg if flow.error else ""
        if flow in self._touched:
            handler = self._server.connections.get(flow.client_conn.id)
            if handler and self._was_reset(flow):
                self._touched.break_off(handler.transports.get(flow.client_conn))
        elif live := _live(flow):
            live.request_end(has_body=_has_body(flow))
            live.end(self._end_of(flow, message), message or None)

    def _end_of(self, flow: http.HTTPFlow, message: str) -> End:
        if mended.BY_CLIENT in flow.metadata or any(word in message.lower() for word in _CLOSED_BY_CLIENT):
            return End.CLIENT_CLOSED
        if flow.response is None and flow.server_conn.timestamp_tcp_setup is None:
            return End.REFUSED
        return End.UPSTREAM_RESET if self._was_reset(flow) else End.UPSTREAM_TRUNCATED

    def _was_reset(self, flow: http.HTTPFlow) -> bool:
        """Whether the upstream's socket ended by RST: the core tells it apart from FIN no more, its reader still does."""
        reader = self._readers.get(flow.client_conn.id, {}).get(flow.server_conn.id)
        return reader is not None and isinstance(reader.exception(), ConnectionError)

    # sockets

    def _socket_data(self, flow: http.HTTPFlow, heard: Overheard, sender: Sender, data: bytes) -> None:
        heard.data(sender, data)
        if self._capture.behind and (transport := self._transport(flow, sender)):
            transport.pause_reading()
            self._go_on(transport)

    def _go_on(self, transport: asyncio.Transport) -> None:
        if self._capture.behind:
            asyncio.get_running_loop().call_later(_BREATH, self._go_on, transport)
        elif not transport.is_closing():
            transport.resume_reading()

    def _socket_closed(self, flow: http.HTTPFlow, heard: Overheard, by: Sender) -> bool:
        if by == "client":
            heard.end(End.CLIENT_CLOSED)
            return False
        reset = self._was_reset(flow)
        heard.end(End.UPSTREAM_RESET if reset else End.UPSTREAM_TRUNCATED)
        client = self._transport(flow, "client")
        if not (reset and client):
            return False
        # An upstream's reset becomes the client's, once what came before it had its moment to arrive.
        asyncio.get_running_loop().call_later(RESET_DELAY, break_off, client)
        return True

    def _transport(self, flow: http.HTTPFlow, side: Sender) -> asyncio.Transport | None:
        handler = self._server.connections.get(flow.client_conn.id)
        io = handler and handler.transports.get(flow.client_conn if side == "client" else flow.server_conn)
        transport = io.writer.transport if io and isinstance(io.writer, asyncio.StreamWriter) else None
        return transport if isinstance(transport, asyncio.Transport) else None


def _tee(*notes: Callable[[bytes], None]) -> Callable[[bytes], bytes]:
    def pass_on(data: bytes) -> bytes:
        for note in notes if data else ():
            note(data)
        return data

    return pass_on


def _live(flow: http.HTTPFlow) -> Live | None:
    return flow.metadata.get(_LIVE)


def _has_body(flow: http.HTTPFlow) -> bool:
    """HTTP/2 frames its bodies without a header."""
    request = flow.request
    if "content-length" in request.headers or "transfer-encoding" in request.headers:
        return True
    return request.is_http2 and (callable(request.stream) or bool(request.raw_content)) and request.method not in _BODILESS


def _apply(route: Route, request: http.Request, *, keep_host: bool) -> None:
    """Send the request to its upstream: the target, its own Host (RFC 9112, section 3.2.2), and nothing of ours."""
    if route.upstream is not None:
        request.scheme, request.host, request.port = route.scheme, route.host, route.port
        request.data.path = route.path.encode("latin-1")
    if not keep_host and not request.is_http2:
        request.host_header = route.authority
    for name in ("proxy-authorization", "proxy-connection", "x-replay-session"):
        request.headers.pop(name, None)


def _headers(fields: http.Headers) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields.fields)


def _recorded(fields: http.Headers) -> Headers:
    return tuple((name, value) for name, value in _headers(fields) if name.lower() != "proxy-authorization")


def _version(http_version: str) -> str:
    return "HTTP/2" if http_version.startswith("HTTP/2") else http_version


def _answer(refusal: Refusal) -> http.Response:
    return http.Response.make(refusal.status, refusal.body, {"content-type": "application/json", "x-should-retry": "false"})
