"""A sidecar of the test's own, on an event loop in a thread, with a client led to it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

from support.upstream import Answer, Wire, ask
from wiretape.proxy.mocking import MockSettings
from wiretape.proxy.rules.model import RuleFile
from wiretape.proxy.sidecar import Mode, Sidecar, SidecarSettings
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import CaptureSettings, MatchSettings, RedactSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.tree import parse
from wiretape.traces.types import Exchange
from wiretape.traces.written import checked


class Running:
    """A sidecar that listens, and raw clients led to it."""

    def __init__(self, sidecar: Sidecar) -> None:
        self.sidecar = sidecar
        self.address = sidecar.address

    def wire(self) -> Wire:
        return Wire(socket.create_connection(self.address, 10))

    def ask(self, method: str, target: str, *headers: tuple[str, str], body: bytes | None = None) -> Answer:
        """On a connection of its own; the target as written (absolute for the forward proxy, origin for the gateway)."""
        wire = self.wire()
        try:
            return ask(wire, method, target, headers, body)
        finally:
            wire.sock.close()

    def tunnel(self, host: str, port: int, *headers: tuple[str, str], secure: bool = True) -> Wire:
        """CONNECT, and TLS with the run's authority inside it."""
        wire = self.wire()
        lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}", *(f"{name}: {value}" for name, value in headers)]
        wire.send("\r\n".join([*lines, "", ""]).encode())
        first, _ = wire.head()
        assert " 200 " in first, first
        if not secure:
            return wire
        context = ssl.create_default_context(cafile=str(self.sidecar.authority.pem))
        return Wire(context.wrap_socket(wire.sock, server_hostname=host))


def mocks(rules: str = "", **settings: Any) -> MockSettings:
    """Settings with these rules: the entries of `rules`, as a file has them."""
    file = checked(RuleFile, parse(f"version: 1\nrules:\n{dedent(rules) or '  []'}", "rules.yaml", ""), "rules.yaml", begins="")
    return MockSettings(file, **settings)


def writing(store: Path) -> Writer:
    return Writer.open(
        store, name=store.stem, started_at=1.0, tool_version="test", redactor=Redactor(RedactSettings()), recording_id="r1"
    )


@contextlib.contextmanager
def recording(store: Path, rules: MockSettings | None = None, **capture: Any) -> Iterator[Running]:
    settings = SidecarSettings(Mode.RECORD, capture=CaptureSettings.model_validate(capture), mocks=rules or MockSettings())
    with running(Sidecar(settings, writing(store))) as found:
        yield found


@contextlib.contextmanager
def replaying(
    store: Path, match: MatchSettings | None = None, rules: MockSettings | None = None, kept: Path | None = None, **capture: Any
) -> Iterator[Running]:
    """`kept`: where what was served is recorded."""
    settings = SidecarSettings(
        Mode.REPLAY,
        store,
        capture=CaptureSettings.model_validate(capture),
        match=match or MatchSettings(),
        mocks=rules or MockSettings(),
    )
    with running(Sidecar(settings, writing(kept) if kept else None)) as found:
        yield found


@contextlib.contextmanager
def running(sidecar: Sidecar) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(sidecar.start({}), loop).result(30)
        try:
            yield Running(sidecar)
        finally:
            asyncio.run_coroutine_threadsafe(sidecar.stop(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def stored(store: Path) -> list[Exchange]:
    with Store.open(store) as found:
        info, _ = found.choose()
        return list(found.exchanges(info))
