"""While recording: a request that a rule touches is led here over loopback and answered by the code that answers in replay.

The recording half hands in a ticket for each; without one nothing is answered. The store is told what the client gets, by the
same exchange that was begun when the request came. Between here and the client stands the proxy core, which mends what is no
HTTP: a bad chunk is asked for by a chunk that holds the ticket.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from wiretape.proxy.capture import Live
from wiretape.proxy.framing import Framing, Plan, plan
from wiretape.proxy.live import LiveAnswers
from wiretape.proxy.mocking import Asked, Mocks, marks_of
from wiretape.proxy.serving import deliver, framed, say
from wiretape.proxy.wire import EXTENSION, Wire
from wiretape.traces.types import Exchange, Request, header

__all__ = ["TICKET", "MockSeam", "Redirected"]

TICKET = "x-replay-ticket"

type Fetch = Callable[[Request], Awaitable[Exchange]]
"""The live answer to a request, to its end."""


@dataclass(frozen=True, slots=True)
class _Held:
    asked: Asked
    request: Request
    """As it goes upstream."""
    live: Live


class Redirected:
    """An ASGI app that finds `wiretape.transport` in its scope."""

    def __init__(self, mocks: Mocks, fetch: Fetch) -> None:
        self._mocks = mocks
        self._fetch = fetch
        self._held: dict[str, _Held] = {}

    def hold(self, asked: Asked, request: Request, live: Live) -> str:
        """The ticket by which the request is answered."""
        ticket = secrets.token_hex(16)
        self._held[ticket] = _Held(asked, request, live)
        return ticket

    async def __call__(self, scope: dict[str, Any], receive: object, send: object) -> None:
        wire: Wire = scope["extensions"][EXTENSION]
        ticket = header(wire.headers, TICKET) or ""
        held = self._held.pop(ticket, None)
        if held is None:
            say(wire, 404, (), b"")
            return

        async def base() -> Plan:
            exchange = await self._fetch(held.request)
            assert exchange.response is not None
            return plan(exchange, exchange.response, held.request, 0.0)

        made = await self._mocks.plan(held.asked, base, wire.until_gone)
        await deliver(wire, made, held.live, marks_of(held.asked), framed(ticket.encode(), Framing.CHUNKED))


@dataclass(frozen=True, slots=True)
class MockSeam:
    """What the recording half has to know of rules."""

    mocks: Mocks
    redirected: Redirected
    live: LiveAnswers
    address: tuple[str, int]
    """Where `redirected` answers."""
