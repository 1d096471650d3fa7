"""The job behind `replay proxy`: one long-running sidecar with its control API, until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from pathlib import Path

from wiretape.proxy.control import control_app
from wiretape.proxy.control import serve as serve_control
from wiretape.proxy.mocking import MockSettings
from wiretape.proxy.rules.model import RuleFile
from wiretape.proxy.rules.reading import load_rules
from wiretape.proxy.runs import RunFile, remove, write
from wiretape.proxy.sidecar import Mode, Sidecar, SidecarSettings
from wiretape.proxy.upstream import roots
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import load
from wiretape.scenarios.golden import Golden, free_name
from wiretape.scenarios.session import new_writer, with_secrets
from wiretape.traces.errors import UsageError
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import RecordingInfo, RecordingStatus

__all__ = ["serve"]


async def serve(config: Config, say: Callable[[str], None]) -> int:
    """Until SIGTERM, SIGINT or a shutdown by the control API; 0, or 3 where the recording is not whole."""
    stop, token = _stop_event(), _token(_path(config["token_file"]))
    mode, redact = Mode(config["mode"]), with_secrets(config.redact_settings())
    mocks = _mock_settings(config, secrets.token_hex(4))
    writer = _writer(mode, config["store"], redact)
    settings = SidecarSettings(
        mode,
        _path(config["store"]),
        port=config["port"],
        capture=config.capture_settings(),
        match=config.match_settings(),
        redact=redact,
        ca_dir=_path(config["ca_dir"]),
        mocks=mocks,
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
        async with serve_control(control_app(sidecar, token, stop), "127.0.0.1", config["control_port"]) as control:
            file = _run_file(config, sidecar, control, token)
            write(file)
            try:
                _ready(_path(config["ready_file"]), file)
                say(f"replay: {mode} on {sidecar.url}, control API on {control}")
                await stop.wait()
            finally:
                remove(file)
    finally:
        info = await sidecar.stop()
    return _verdict(writer, info, say)


def _verdict(writer: Writer | None, info: RecordingInfo | None, say: Callable[[str], None]) -> int:
    if writer is None or info is None:
        return 0
    if writer.failure or info.status is not RecordingStatus.COMPLETE:
        say(f"replay: the recording is incomplete: {writer.failure or info.status}")
        return 3
    with load(f"{writer.path}#{info.id}") as evidence:
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


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _writer(mode: Mode, store: str | None, redact: RedactSettings) -> Writer | None:
    if mode is not Mode.RECORD:
        return None
    if store is None:
        raise UsageError("recording needs a place: name a store with --store F.db.")
    if "#" in store:
        raise UsageError(f"--store {store}: a recording is named when it is replayed; give the .db file alone to record.")
    path = Path(store)
    names = _names(path)
    golden = Golden(path.parent, path.stem)
    if beside := next((each for each in (golden.trace, golden.yaml) if each.exists()), None):
        raise UsageError(
            f"{path}: {beside.name} lies beside it, so it is a golden recording, and a sidecar would add to it. Name another"
            f" store, or record it anew with `replay record {path.stem} --update -- CMD`."
        )
    return new_writer(path, free_name(path.stem, names), redact, {})


def _names(store: Path) -> set[str]:
    """Of the recordings that a store holds already."""
    if not store.is_file() or store.stat().st_size == 0:
        return set()
    with Store.open(store) as found:
        return {info.name for info in found.recordings()}


def _mock_settings(config: Config, run: str) -> MockSettings:
    """Raises UsageError, or InvalidFile with every fault of the rule file."""
    path = _path(config["rules"])
    if path is None and config["persist_rules"]:
        raise UsageError("--persist-rules needs the file that it writes into: name it with --rules F.")
    if path and config["no_mocks"]:
        raise UsageError(f"--no-mocks refuses the rules of {path}: leave out one of --rules and --no-mocks.")
    file = load_rules(path) if path else RuleFile()
    return MockSettings(file, path, persist=config["persist_rules"], allowed=not config["no_mocks"], run=run)


def _run_file(config: Config, sidecar: Sidecar, control: str, token: str) -> RunFile:
    return RunFile(
        pid=os.getpid(),
        proxy=sidecar.url,
        control=control,
        ca=str(sidecar.authority.pem),
        bundle=str(sidecar.authority.bundle(roots(os.environ))),
        token=token,
        mode=config["mode"],
        store=config["store"],
        tap=str(sidecar.tap) if sidecar.tap else None,
        run=sidecar.settings.mocks.run,
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
