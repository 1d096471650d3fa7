"""A running `replay proxy` as users start it, on free ports and with a runtime folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.command import REPLAY


@dataclass
class Serving:
    proxy: str
    control: str
    environment: dict[str, str]
    """Of commands that are to find it."""


@contextlib.contextmanager
def serving(folder: Path, *words: str | Path) -> Iterator[Serving]:
    runtime, ready = folder / "runtime", folder / "ready.json"
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment = {"XDG_RUNTIME_DIR": str(runtime)}
    command = [*REPLAY, "proxy", "--port", "0", "--ready-file", str(ready), *map(str, words)]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    try:
        told = _ready(ready, process)
        yield Serving(told["proxy"], told["control"], environment)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        ready.unlink(missing_ok=True)


def _ready(path: Path, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists():
            return dict(json.loads(path.read_text()))
        time.sleep(0.02)
    raise AssertionError("the sidecar was not ready in time")
