"""A command run behind a sidecar: what `record` and `run` have in common."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from wiretape.proxy.credentials import secret_values
from wiretape.proxy.environment import child_environment
from wiretape.proxy.events import EVENTS_URL
from wiretape.proxy.launch import run_child
from wiretape.proxy.runs import RunFile, remove, write
from wiretape.proxy.sidecar import Sidecar, SidecarSettings
from wiretape.traces.errors import UsageError
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Writer
from wiretape.traces.types import RecordingInfo

__all__ = ["EXIT_CODE", "Ran", "exit_code_of", "new_writer", "run_behind", "with_secrets"]

EXIT_CODE = "exit_code"
"""The label that keeps what the command ended with, where that is not 0."""


@dataclass(frozen=True)
class Ran:
    """One run of the command: its exit code, and what the sidecar kept and saw."""

    exit_code: int
    info: RecordingInfo
    sidecar: Sidecar
    failure: str | None
    """Why the recording is incomplete, where it is."""


def with_secrets(settings: RedactSettings, environment: Mapping[str, str] = os.environ) -> RedactSettings:
    """The same, knowing the values of the secret-looking variables that the child will receive."""
    named = tuple(environment[rule.env] for rule in settings.rules if rule.env and environment.get(rule.env))
    return settings.model_copy(update={"values": (*settings.values, *named, *secret_values(environment))})


def exit_code_of(info: RecordingInfo) -> int:
    """What the recorded command ended with."""
    code = info.labels.get(EXIT_CODE, "0")
    return int(code) if code.isdecimal() else 0


def new_writer(
    path: Path, name: str, redact: RedactSettings, labels: Mapping[str, str], started_at: float | None = None
) -> Writer:
    """A recording that begins now, or that began when it is said.

    UsageError where its folder cannot be made, StoreError where the store cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: this folder cannot be made ({error.strerror}). Choose another place.") from None
    return Writer.open(
        path,
        name=name,
        started_at=time.time() if started_at is None else started_at,
        tool_version=version("wiretape"),
        redactor=Redactor(redact),
        labels=dict(labels),
        recording_id=secrets.token_hex(8),
    )


def run_behind(settings: SidecarSettings, writer: Writer, argv: Sequence[str]) -> Ran:
    """Run the command with its traffic led through a sidecar of its own, to its end."""
    return asyncio.run(_run(settings, writer, argv))


async def _run(settings: SidecarSettings, writer: Writer, argv: Sequence[str]) -> Ran:
    sidecar = Sidecar(settings, writer)
    try:
        await sidecar.start()
    except BaseException:
        await asyncio.to_thread(writer.close)
        raise
    run = secrets.token_hex(4)
    file = RunFile(
        pid=os.getpid(),
        proxy=sidecar.url,
        control=None,
        ca=str(sidecar.authority.pem),
        mode=settings.mode,
        store=str(writer.path),
        tap=str(sidecar.tap) if sidecar.tap else None,
        run=run,
        started_at=time.time(),
    )
    write(file)
    try:
        environment = child_environment(
            os.environ,
            proxy=sidecar.url,
            ca=sidecar.authority.pem,
            folder=sidecar.authority.folder,
            events=EVENTS_URL,
            run=run,
        )
        code = await run_child(argv, environment)
        if code:
            writer.label(EXIT_CODE, str(code))
    finally:
        remove(file)
        info = await sidecar.stop()
    assert info is not None
    return Ran(code, info, sidecar, writer.failure)
