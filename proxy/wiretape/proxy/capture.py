"""What the sidecar tells the store about each exchange while it passes.

Numbers exchanges by the start of their request, stamps every piece with its arrival time and hands it to the writer, whose
calls return at once. Without a writer (passthrough, replay) everything is let go, so that callers need not ask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

from wiretape.proxy.noise import is_noise
from wiretape.traces.assemble import RESULT_REPLACED
from wiretape.traces.store import Writer
from wiretape.traces.types import End, ExchangeKind, Headers, Message, Request, Source, Timings

__all__ = ["TAPPED", "Capture", "Live", "Origin"]

TAPPED = "tap."
"""How the session is named of what a tapped server asks for itself: it is the server's doing and no behaviour of the agent, and
in replay the server is not there to ask."""

_BACKLOG = 500
"""Calls that may wait for the writer, which does ten thousand a second and more."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an exchange came from and who answered it."""

    session: str = ""
    upstream: str | None = None
    source: Source = Source.LIVE
    match: str | None = None
    rule: str | None = None
    kind: ExchangeKind = ExchangeKind.HTTP


class Capture:
    def __init__(self, writer: Writer | None, noise: tuple[str, ...] = ()) -> None:
        self._writer = writer
        self._noise = noise
        self._numbers = count(1)
        self._open: set[Live] = set()
        self.idle = asyncio.Event()
        """Set while no exchange is open."""
        self.idle.set()
        self.total = 0
        """Exchanges that began and are no noise; a tunnel that came to nothing is none."""
        self.refused: list[str] = []
        """A sentence for each client that would not accept the certificate."""

    def begin(self, request: Request, origin: Origin, started_at: float | None = None) -> Live:
        """`started_at`, in seconds since the epoch, where that was not just now."""
        seq, noise = next(self._numbers), is_noise(request.url, self._noise) or origin.session.startswith(TAPPED)
        self.total += not noise and request.method != "CONNECT"
        live = Live(seq, self._writer, self._closed)
        self._open.add(live)
        self.idle.clear()
        if self._writer:
            self._writer.begin(
                seq,
                request,
                started_at=time.time() if started_at is None else started_at,
                session=origin.session,
                kind=origin.kind,
                source=origin.source,
                upstream=origin.upstream,
                noise=noise,
                rule=origin.rule,
                match=origin.match,
            )
        return live

    @property
    def behind(self) -> bool:
        """The writer has so much to do that who brings more had better wait: memory is not for what passes."""
        return self._writer is not None and self._writer.backlog > _BACKLOG

    def know(self, secrets: Iterable[str]) -> None:
        """Values that are secret and must not be kept from now on."""
        if self._writer:
            self._writer.know(tuple(secrets))

    def event(self, session: str, payload: dict[str, object]) -> None:
        if self._writer:
            self._writer.event(time.time(), session, payload)

    def _closed(self, live: Live) -> None:
        self._open.discard(live)
        if not self._open:
            self.idle.set()

    def interrupt(self) -> None:
        """End what is still open: the sidecar is going down."""
        for live in tuple(self._open):
            live.end(End.INTERRUPTED, "the sidecar was stopped while this exchange was open")


class Live:
    """One exchange while it passes; its times count from its making."""

    def __init__(self, seq: int, writer: Writer | None, closed: Callable[[Live], None]) -> None:
        self.seq = seq
        self._writer = writer
        self._closed = closed
        self._began = time.monotonic_ns()
        self._connected: int | None = None
        self._sent: int | None = None
        self._first: int | None = None
        self._ended = False

    @property
    def now(self) -> int:
        """Microseconds since the request started."""
        return (time.monotonic_ns() - self._began) // 1000

    def connected(self) -> None:
        self._connected = self.now

    def touched(self, rule: str) -> None:
        """A rule decides about the answer; to be said before the request's end."""
        if self._writer:
            self._writer.touched(self.seq, rule)

    def replaced(self, session: str, call_id: str, rule: str) -> None:
        """A rule gives the model another result of that tool call than the request holds."""
        if self._writer:
            self._writer.event(time.time(), session, {"type": RESULT_REPLACED, "call_id": call_id, "rule": rule})

    def request_chunk(self, data: bytes) -> None:
        if self._writer:
            self._writer.request_chunk(self.seq, data)

    def request_end(self, *, has_body: bool) -> None:
        """Nothing more of the request comes; the first word counts."""
        if self._sent is not None:
            return
        self._sent = self.now
        if self._writer:
            self._writer.request_end(self.seq, has_body)

    def response(self, status: int, reason: str, http_version: str, headers: Headers) -> None:
        self._first = self.now
        if self._writer:
            self._writer.response(self.seq, status, reason, http_version, headers)

    def chunk(self, data: bytes) -> None:
        if self._writer:
            self._writer.chunk(self.seq, self.now, data)

    def trailers(self, headers: Headers) -> None:
        if self._writer:
            self._writer.trailers(self.seq, headers)

    def message(self, message: Message) -> None:
        if self._writer:
            self._writer.message(self.seq, message)

    def end(self, end: End, error: str | None = None) -> None:
        """Say how it ended; the first word counts."""
        if self._ended:
            return
        self._ended = True
        self._closed(self)
        if self._writer:
            timings = Timings(connected=self._connected, request_sent=self._sent, first_byte=self._first, ended=self.now)
            self._writer.end(self.seq, end, error, timings)
