"""The process between an MCP client and its stdio server.

Recording: bytes go both ways unchanged and at once; what passed is reported to the sidecar beside that, by a thread that nobody
waits for. Replaying: there is no server, the sidecar answers. Without a sidecar we make room for the server.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit, urlunsplit

from wiretape.proxy.ancestry import run_of
from wiretape.proxy.capture import TAPPED
from wiretape.proxy.credentials import secret_values
from wiretape.proxy.environment import child_environment
from wiretape.proxy.events import EVENTS_URL
from wiretape.proxy.launch import exit_code, passing_signals, started
from wiretape.proxy.runs import RunFile
from wiretape.proxy.tapframes import Ended, Frame, FrameReader, Hello, Kind, LineReader
from wiretape.proxy.tapreport import Report
from wiretape.traces.errors import CaptureError, UsageError

__all__ = ["tap"]

log = logging.getLogger("wiretape.proxy")

_PIECE = 1 << 16
_LAST_WORDS = 2.0
"""Seconds that are given to what a server's own children still write after its end."""


def tap(name: str, argv: Sequence[str], run_id: str | None = None) -> int:
    """The server's exit code. UsageError where it cannot be started, CaptureError where a replay lost its sidecar."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise UsageError(f"--name: expected letters, digits, dots, dashes and underscores, got {name!r}.")
    run = _run(run_id)
    if run is None:
        where = f"no run {run_id} is there" if run_id else "no recording and no replay runs here"
        log.warning("tap %s: %s, so the server runs as it is.", name, where)
        _make_room(argv)
    hello = Hello(name=name, started_at=time.time(), secrets=secret_values(os.environ))
    if run.mode == "replay":
        return _replay(run, hello)
    return asyncio.run(_record(run, hello, argv))


def _run(named: str | None) -> RunFile | None:
    """The run that was asked for, else the one that the environment names, else the nearest above us."""
    if named:
        return run_of(os.getpid(), named)
    inherited = os.environ.get("WIRETAPE_RUN")
    return (run_of(os.getpid(), inherited) if inherited else None) or run_of(os.getpid())


def _make_room(argv: Sequence[str]) -> NoReturn:
    """The server in our place. Python ignores SIGPIPE, and what is ignored stays so in the next program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], list(argv))  # noqa: S606  # the command is what we are asked to run
    except OSError as error:
        raise UsageError(f"{argv[0]} cannot be run: {error.strerror or error}.") from None


# ---------------------------------------------------------------- recording


async def _record(run: RunFile, hello: Hello, argv: Sequence[str]) -> int:
    # Below the sidecar's own folder: clients kill their servers, and what a killed tap leaves goes away with the sidecar.
    place = Path(run.tap).parent if run.tap else None
    with tempfile.TemporaryDirectory(dir=place if place and place.is_dir() else None, ignore_cleanup_errors=True) as folder:
        environment = _widened(os.environ, run, hello.name, Path(folder))
        (server_in, to_server), (from_server, server_out) = os.pipe(), os.pipe()
        child = await started(argv, environment, stdin=server_in, stdout=server_out)
        os.close(server_in)
        os.close(server_out)
        report = Report(run.tap, hello)
        with passing_signals(child):
            threading.Thread(target=_copy, args=(0, to_server, report, Kind.CLIENT), daemon=True).start()
            back = threading.Thread(target=_copy, args=(from_server, 1, report, Kind.SERVER), daemon=True)
            back.start()
            code = exit_code(await child.wait())
        await asyncio.to_thread(back.join, _LAST_WORDS)
        await asyncio.to_thread(report.end, code)
        return code


def _copy(source: int, target: int, report: Report, kind: Kind) -> None:
    """To the end of the source, or until nobody listens; then neither end is held any longer."""
    with suppress(OSError):
        while data := os.read(source, _PIECE):
            report.saw(kind, data)  # first: or the server's answer is told before its request
            _write(target, data)
        (report.left if kind is Kind.CLIENT else report.over)()
    # Our own standard descriptors too: whoever is at their other end has to learn of it. Their numbers stay taken.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for end in (source, target):
        os.dup2(nowhere, end)
    os.close(nowhere)


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def _widened(base: Mapping[str, str], run: RunFile, name: str, folder: Path) -> dict[str, str]:
    """The server's environment with the way through the sidecar, under a name that tells its requests from the agent's."""
    parts = urlsplit(run.proxy)
    # Some clients (urllib) give a user name only where there is a password too.
    proxy = urlunsplit(parts._replace(netloc=f"{TAPPED}{name}:tap@{parts.netloc}"))
    return child_environment(base, proxy=proxy, ca=Path(run.ca), folder=folder, events=EVENTS_URL, run=run.run)


# ---------------------------------------------------------------- replaying


def _replay(run: RunFile, hello: Hello) -> int:
    try:
        with socket.socket(socket.AF_UNIX) as sidecar:
            sidecar.connect(run.tap or "")
            sidecar.sendall(bytes(Frame(Kind.HELLO, 0, hello.model_dump_json().encode())))
            threading.Thread(target=_ask, args=(sidecar,), daemon=True).start()
            code = _tell(sidecar)
    except OSError as error:
        raise CaptureError(f"tap {hello.name}: the sidecar of run {run.run} cannot be reached ({error.strerror}).") from None
    if code is None:
        raise CaptureError(f"tap {hello.name}: the sidecar of run {run.run} went away, and there is nobody to answer.")
    return code


def _ask(sidecar: socket.socket) -> None:
    lines = LineReader()
    with suppress(OSError):
        while data := os.read(0, _PIECE):
            sidecar.sendall(b"".join(bytes(Frame(Kind.CLIENT, 0, line)) for line in lines.feed(data)))
        rest = [Frame(Kind.CLIENT, 0, line) for line in lines.close()]
        sidecar.sendall(b"".join(map(bytes, [*rest, Frame(Kind.LEFT, 0)])))


def _tell(sidecar: socket.socket) -> int | None:
    """The recorded exit code; None where the sidecar went away before it."""
    read = FrameReader()
    while data := sidecar.recv(_PIECE):
        for frame in read.feed(data):
            if frame.kind is Kind.END:
                return Ended.model_validate_json(frame.payload).exit_code
            _write(1, frame.payload + b"\n")
    return None
