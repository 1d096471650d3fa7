"""Run files: how `replay env`, `replay mock` and the stdio tap find a sidecar that runs. One file a sidecar, readable by its
user alone."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from wiretape.traces.errors import UsageError

__all__ = ["TAP_FOLDER", "RunFile", "current", "remove", "running", "write"]

TAP_FOLDER = "wiretape-tap-"
"""How the folder of a sidecar's socket for taps begins."""


class RunFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    proxy: str
    control: str | None = None
    ca: str
    bundle: str | None = None
    """A file of all roots, the run's own among them."""
    token: str | None = None
    """Of the control API."""
    mode: str
    store: str | None = None
    tap: str | None = None
    """The unix socket for taps."""
    run: str
    started_at: float


def folder() -> Path:
    """0700 and ours: below XDG_RUNTIME_DIR, else below the temporary folder."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    path = Path(base) / "wiretape" if base else Path(tempfile.gettempdir()) / f"wiretape-{os.getuid()}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        raise UsageError(f"{path}: this folder belongs to somebody else. Set XDG_RUNTIME_DIR to a folder of your own.")
    path.chmod(0o700)
    return path


def _path(pid: int) -> Path:
    return folder() / f"{pid}.json"


def write(run: RunFile) -> None:
    path = _path(run.pid)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(run.model_dump_json())


def remove(run: RunFile) -> None:
    _path(run.pid).unlink(missing_ok=True)


def running() -> tuple[RunFile, ...]:
    """Of sidecars that live, the newest first; what dead ones left is cleared away."""
    found = []
    for path in folder().glob("*.json"):
        try:
            run = RunFile.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            continue
        if _lives(run.pid):
            found.append(run)
        else:
            path.unlink(missing_ok=True)
            _clear_tap(run)
    return tuple(sorted(found, key=lambda run: -run.started_at))


def _clear_tap(run: RunFile) -> None:
    """The folder of the socket, and nothing else whatever that names."""
    if run.tap and (tap := Path(run.tap)).is_socket() and tap.parent.name.startswith(TAP_FOLDER):
        shutil.rmtree(tap.parent, ignore_errors=True)


def current(run: str | None = None) -> RunFile:
    """The one that runs, or the one of that name. UsageError where there is none, or more than one."""
    every = running()
    found = [each for each in every if run in (None, each.run, str(each.pid))]
    if every and not found:
        raise UsageError(f"no running sidecar is called {run!r}; there are: {', '.join(each.run for each in every)}.")
    if not found:
        raise UsageError("no sidecar is running. Start one with `replay proxy --mode record --store session.db`.")
    if len(found) > 1:
        pids = ", ".join(f"{each.run} (pid {each.pid}, {each.proxy})" for each in found)
        raise UsageError(f"several sidecars are running: {pids}. Name one with --run.")
    return found[0]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
