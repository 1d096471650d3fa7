"""One sidecar: a front, one half behind it (recording or replaying), the run's authority, and the store it writes.

It runs on the caller's event loop, installs no signal handlers and reads no settings of its own, so that `record`, `run`,
`proxy` and tests use the same one.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from wiretape.proxy.app import ReplayApp
from wiretape.proxy.capture import Capture
from wiretape.proxy.certs import Authority
from wiretape.proxy.front import Backend, Front, Opening
from wiretape.proxy.live import LiveAnswers
from wiretape.proxy.mocking import Mocks, MockSettings
from wiretape.proxy.redirect import MockSeam, Redirected
from wiretape.proxy.replayer import Replayer
from wiretape.proxy.route import Router
from wiretape.proxy.tally import Tally
from wiretape.proxy.tapped import Tapped
from wiretape.proxy.taps import Taps
from wiretape.proxy.upstream import UpstreamSettings, roots
from wiretape.replay.bound import Here
from wiretape.replay.matcher import Entry, Matcher
from wiretape.replay.paths import Places
from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.redact import LIVE, Redactor
from wiretape.traces.settings import CaptureSettings, MatchSettings, RedactSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import End, Exchange, ExchangeKind, RecordingInfo

__all__ = ["Mode", "Sidecar", "SidecarSettings", "open_recording"]

_GRACE = 2.0
"""Seconds that open exchanges get when the sidecar is told to stop."""


class Mode(StrEnum):
    RECORD = "record"
    REPLAY = "replay"
    PASSTHROUGH = "passthrough"


@dataclass(frozen=True)
class SidecarSettings:
    mode: Mode
    recording: Path | None = None
    """What replay answers from: a store, or `store.db#name`."""
    host: str = "127.0.0.1"
    port: int = 0
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    redact: RedactSettings = field(default_factory=RedactSettings)
    ca_dir: Path | None = None
    mocks: MockSettings = field(default_factory=MockSettings)


class Sidecar:
    """`writer` keeps what passes (recording) or what was served (replaying); without one nothing is kept."""

    def __init__(self, settings: SidecarSettings, writer: Writer | None = None) -> None:
        self.settings = settings
        self._writer = writer
        self.capture = Capture(writer, settings.capture.noise)
        self.tally = Tally()
        self.ignored: set[str] = set()
        self.mocks = Mocks(settings.mocks, Redactor(settings.redact))
        self._recording: Store | None = None
        self._replayed: RecordingInfo | None = None
        self.matcher: Matcher | None = None
        self._taps = Taps(self.capture)
        self.tap: Path | None = None
        """The socket for stdio taps, once it listens."""

    async def start(self, environment: Mapping[str, str] = os.environ) -> None:
        """Own the port and be ready for the first connection. CaptureError, StoreError or UsageError where that fails."""
        self.authority = Authority(self.settings.ca_dir)
        try:
            front = _Late()
            self._front = Front(front, self.tally.strayed)
            self.address = self._front.listen(self.settings.host, self.settings.port)
            router = Router(self.settings.capture, self.address)
            if self.settings.mode is Mode.REPLAY:
                front.backend = self._replayer(router)
            else:
                front.backend = await self._interceptor(router, environment)
            self._front.start()
            self.tap = await self._taps.listen()
        except BaseException:
            self.authority.close()
            raise

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def _interceptor(self, router: Router, environment: Mapping[str, str]) -> Backend:
        # mitmproxy takes a second to import: only those who record pay for it.
        from wiretape.proxy.addon import Interceptor  # noqa: PLC0415

        pem = self.authority.folder / "upstream-roots.pem"
        pem.write_bytes(roots(environment, self.settings.capture.upstream_ca))
        upstream = UpstreamSettings(self.settings.capture, environment, pem)
        self.ignored = upstream.ignored
        live = LiveAnswers(self.address)
        redirected = Redirected(self.mocks, live.fetch)
        answering = Replayer(self.authority, router, redirected)
        seam = MockSeam(self.mocks, redirected, live, await answering.listen())
        interceptor = Interceptor(self.authority, upstream, router, self.capture, seam)
        await interceptor.start()

        async def stop() -> None:
            await answering.stop(_GRACE)
            await interceptor.stop()

        self._stop_backend = stop
        return interceptor

    def _replayer(self, router: Router) -> Backend:
        if self.settings.recording is None:
            raise UsageError("replay needs a recording: name its store with --store.")
        redactor = Redactor(self.settings.redact, first=LIVE)
        self._recording, self._replayed, session = open_recording(self.settings.recording)
        self.matcher = _matcher(self._recording, self._replayed, session, self.settings.match)
        app = ReplayApp(
            router,
            self.matcher,
            redactor,
            self.capture,
            self.settings.match,
            self.mocks,
            self.settings.capture.noise,
            self.tally,
        )
        tapped = Tapped(self.matcher, self.settings.match, redactor, self.capture, self.tally)
        self._taps = Taps(self.capture, tapped.answer)
        replayer = Replayer(self.authority, router, app, self.tally)
        self._stop_backend = lambda: replayer.stop(_GRACE)
        return replayer

    def exchange(self, seq: int) -> Exchange:
        """Of what is recorded to, else replayed from. LookupError where there is none of that number, or no store at all."""
        if self._recording and self._replayed:
            return self._recording.exchange(self._replayed, seq)
        if self._writer is None:
            raise LookupError("nothing is recorded or replayed here")
        self._writer.flush()
        with Store.open(self._writer.path) as store:
            return store.exchange(store.choose(self._writer.id)[0], seq)

    async def stop(self) -> RecordingInfo | None:
        """No new connections; open exchanges get two seconds; then the recording is closed."""
        await self._front.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.capture.idle.wait(), _GRACE)
        # Before the backend breaks off what is still open: that is neither side's doing.
        self.capture.interrupt()
        await self._taps.close()
        await self._stop_backend()
        if self._recording:
            self._recording.close()
        self.authority.close()
        return await asyncio.to_thread(self._writer.close) if self._writer else None


class _Late:
    """The backend of a front that owns its port before the backend is made: its address is part of what the backend knows."""

    backend: Backend

    async def take(self, accepted: socket.socket, opening: Opening) -> None:
        await self.backend.take(accepted, opening)


def open_recording(place: Path) -> tuple[Store, RecordingInfo, str | None]:
    """The store and the recording in it that `F.db` or `F.db#NAME` means. 2 where it is not there, 3 where it is empty."""
    file, _, name = str(place).partition("#")
    path = Path(file)
    if not path.exists():
        raise UsageError(f"{path}: there is no such recording. Make one with `replay record NAME -- CMD`.")
    store = Store.open(path)
    try:
        info, session = store.choose(name or None)
        if not any(True for _ in store.keys(info)):
            raise StoreError(
                f"{path}: the recording {info.name} holds no exchange, so there is nothing to replay. Record again."
            )
    except BaseException:
        store.close()
        raise
    return store, info, session


def _matcher(store: Store, info: RecordingInfo, session: str | None, settings: MatchSettings) -> Matcher:
    entries = [
        Entry(
            key.seq,
            key.session,
            key.fingerprint,
            key.method,
            key.url,
            servable=key.end is not End.INTERRUPTED or settings.serve_partial or key.kind is not ExchangeKind.HTTP,
            noise=key.noise,
        )
        for key in store.keys(info)
        if key.method != "CONNECT" and session in (None, key.session)
    ]
    return Matcher(entries, lambda seq: store.exchange(info, seq), settings, _here())


def _here() -> Here:
    """The command that runs behind this sidecar has its working directory and its home."""
    return Here(Places((str(Path.cwd()), str(Path.home()))), time.time)
