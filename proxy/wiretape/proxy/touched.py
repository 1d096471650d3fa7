"""What the recording half does about mock rules, flow by flow: asks them, leads a touched flow to where it is answered, and
passes that answer on, with an ending that the core would not pass on by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from mitmproxy import http
from mitmproxy.proxy.server import ConnectionIO

from wiretape.proxy.capture import Live
from wiretape.proxy.front import break_off
from wiretape.proxy.mocking import Asked
from wiretape.proxy.redirect import TICKET, MockSeam
from wiretape.proxy.route import Route
from wiretape.proxy.serving import NO_CHUNK
from wiretape.traces.types import Exchange, Headers, Request, Response, header

__all__ = ["Touched"]

_HEAD = "wiretape.head"
"""Of a request whose body rules have to see before it goes on."""
_TICKET = "wiretape.ticket"
"""The flow is answered by a rule; the store is told by what answers it."""
_HEARD = "wiretape.heard"
"""(head, body so far) of what may be a request to an MCP server."""
_WATCHED = "wiretape.watched"
"""(request, answer so far) of an MCP server that says what tools it has."""


class Touched:
    def __init__(self, seam: MockSeam) -> None:
        self._seam = seam

    def __contains__(self, flow: http.HTTPFlow) -> bool:
        return _TICKET in flow.metadata

    def waits(self, flow: http.HTTPFlow, head: Request, upstream: str | None) -> bool:
        """Whether the request's body has to be known before it goes on; sockets are not touched."""
        found = "upgrade" not in flow.request.headers and self._seam.mocks.may_touch(head, upstream)
        if found:
            flow.metadata[_HEAD] = head
        return found

    def hears(self, flow: http.HTTPFlow, head: Request) -> tuple[Callable[[bytes], None], ...]:
        """What else listens to a request that goes on as it comes: MCP clients accept both kinds of answer."""
        accept = header(head.headers, "accept") or ""
        if not ("application/json" in accept and "text/event-stream" in accept):
            return ()
        flow.metadata[_HEARD] = (head, bytearray())
        return (flow.metadata[_HEARD][1].extend,)

    def ask(self, flow: http.HTTPFlow, live: Live, route: Route, *, has_body: bool) -> None:
        """Once the body is there: it is stored as it came, and goes on as rules have it."""
        if _HEARD in flow.metadata:
            head, heard = flow.metadata[_HEARD]
            self._watch(flow, replace(head, body=bytes(heard)))
        if _HEAD not in flow.metadata:
            return
        body = flow.request.raw_content or b""
        live.request_chunk(body)
        request = replace(flow.metadata[_HEAD], body=body if has_body else None)
        asked = self._seam.mocks.rewrite(route, request, live)
        if isinstance(asked, bytes):
            flow.request.content, asked = asked, None
        if asked := asked or self._seam.mocks.ask(route, request):
            self._lead_away(flow, asked, replace(request, body=flow.request.raw_content), live)
        else:
            self._watch(flow, request)

    def _watch(self, flow: http.HTTPFlow, request: Request) -> None:
        if self._seam.mocks.watches(request):
            flow.metadata[_WATCHED] = (request, bytearray())

    def _lead_away(self, flow: http.HTTPFlow, asked: Asked, request: Request, live: Live) -> None:
        live.touched(asked.touch.rule.id)
        ticket = self._seam.redirected.hold(asked, request, live)
        flow.metadata[_TICKET] = flow.request.headers[TICKET] = ticket
        flow.request.scheme = "http"
        flow.request.host, flow.request.port = self._seam.address
        flow.server_conn.via = None

    def notes(self, flow: http.HTTPFlow) -> tuple[Callable[[bytes], None], ...]:
        """What else listens to an answer that passes untouched."""
        return (flow.metadata[_WATCHED][1].extend,) if _WATCHED in flow.metadata else ()

    def saw(self, flow: http.HTTPFlow, status: int, headers: Headers) -> None:
        """An answer that passed untouched is whole."""
        if _WATCHED in flow.metadata:
            request, body = flow.metadata[_WATCHED]
            self._seam.mocks.saw(Exchange(0, request, Response(status, headers, bytes(body))))

    def pass_on(self, flow: http.HTTPFlow, response: http.Response) -> Callable[[bytes], bytes | list[bytes]]:
        """Passes on all but the ticket: in its place bytes go out that are no chunk. HTTP/2 has none that could be bad."""
        ticket = flow.metadata[_TICKET].encode()

        def passed(data: bytes) -> bytes | list[bytes]:
            if data != ticket:
                return data
            # The core frames by this header, which the client has already.
            response.headers.pop("transfer-encoding", None)
            return [] if flow.request.is_http2 else NO_CHUNK

        return passed

    def break_off(self, client: ConnectionIO | None) -> None:
        """A rule's answer was reset on its way here: the client is told the same. Any other end the core passes on."""
        if client and isinstance(client.writer, asyncio.StreamWriter):
            break_off(client.writer.transport)
