"""The job behind `replay proxy`: one long-running sidecar with its control API, until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wiretape.proxy.control import control_app
from wiretape.proxy.control import serve as serve_control
from wiretape.proxy.runs import RunFile, remove, write
from wiretape.proxy.sidecar import Mode, Sidecar, SidecarSettings
from wiretape.proxy.upstream import roots
from wiretape.scenarios.evidence import load
from wiretape.scenarios.session import new_writer, with_secrets
from wiretape.traces.errors import UsageError
from wiretape.traces.settings import CaptureSettings, MatchSettings, RedactSettings
from wiretape.traces.store import Writer
from wiretape.traces.types import RecordingInfo, RecordingStatus

__all__ = ["ServiceOptions", "serve"]


@dataclass(frozen=True)
class ServiceOptions:
    mode: Mode
    port: int = 8080
    control_port: int = 0
    store: str | None = None
    """A path, for replay also `path.db#name`."""
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    match: Mapping[str, object] = field(default_factory=dict)
    ca_dir: Path | None = None
    token_file: Path | None = None
    ready_file: Path | None = None


async def serve(options: ServiceOptions, say: Callable[[str], None]) -> int:
    """Until SIGTERM, SIGINT or a shutdown by the control API; 0, or 3 where the recording is not whole."""
    stop, token = _stop_event(), _token(options.token_file)
    redact = with_secrets(RedactSettings())
    writer = _writer(options, redact)
    settings = SidecarSettings(
        options.mode,
        Path(options.store) if options.store else None,
        port=options.port,
        capture=options.capture,
        match=MatchSettings().model_copy(update=dict(options.match)),
        redact=redact,
        ca_dir=options.ca_dir,
    )
    sidecar = Sidecar(settings, writer)
    try:
        await sidecar.start()
    except BaseException:
        if writer:
            await asyncio.to_thread(writer.close)
        raise
    info = None
    try:
        async with serve_control(control_app(sidecar, token, stop), "127.0.0.1", options.control_port) as control:
            file = _run_file(options, sidecar, control)
            write(file)
            try:
                _ready(options.ready_file, file)
                say(f"replay: {options.mode} on {sidecar.url}, control API on {control}")
                await stop.wait()
            finally:
                remove(file)
    finally:
        info = await sidecar.stop()
    return _verdict(options, writer, info, say)


def _verdict(options: ServiceOptions, writer: Writer | None, info: RecordingInfo | None, say: Callable[[str], None]) -> int:
    if writer is None or info is None:
        return 0
    if writer.failure or info.status is not RecordingStatus.COMPLETE:
        say(f"replay: the recording is incomplete: {writer.failure or info.status}")
        return 3
    with load(f"{options.store}#{info.id}") as evidence:
        faults = evidence.lost()
    for fault in faults:
        say(f"replay: {fault}")
    return 3 if faults else 0


def _stop_event() -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


def _token(path: Path | None) -> str:
    if path and path.exists():
        return path.read_text(encoding="utf-8").strip()
    token = secrets.token_urlsafe(32)
    if path:
        path.touch(mode=0o600)
        path.write_text(token + "\n", encoding="utf-8")
    return token


def _writer(options: ServiceOptions, redact: RedactSettings) -> Writer | None:
    if options.mode is not Mode.RECORD:
        return None
    if options.store is None:
        raise UsageError("recording needs a place: name a store with --store F.db.")
    if "#" in options.store:
        raise UsageError(
            f"--store {options.store}: a recording is named when it is replayed; give the .db file alone to record."
        )
    path = Path(options.store)
    return new_writer(path, path.stem, redact, {})


def _run_file(options: ServiceOptions, sidecar: Sidecar, control: str) -> RunFile:
    return RunFile(
        pid=os.getpid(),
        proxy=sidecar.url,
        control=control,
        ca=str(sidecar.authority.pem),
        bundle=str(sidecar.authority.bundle(roots(os.environ))),
        token_file=str(options.token_file.resolve()) if options.token_file else None,
        mode=options.mode,
        store=options.store,
        run=secrets.token_hex(4),
        started_at=time.time(),
    )


def _ready(path: Path | None, file: RunFile) -> None:
    """All at once: whoever waits for the file never reads half of it. The CA's certificate lies beside it and stays with it."""
    if path is None:
        return
    ca = path.with_name(f"{path.name}.ca.pem").absolute()
    ca.write_bytes(Path(file.ca).read_bytes())
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(
        json.dumps({"proxy": file.proxy, "control": file.control, "ca": str(ca), "pid": file.pid}), encoding="utf-8"
    )
    beside.replace(path)
