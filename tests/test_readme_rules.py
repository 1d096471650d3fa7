"""The commands of the README's third job do what the page says beside them, line by line as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[tuple[str, str]]:
    """(command, what it prints) of the block about mock rules."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    lines = next(block for _, block in blocks if "replay mock" in block).splitlines()
    return [(command.strip(), says.strip()) for command, _, says in (line.partition("   # ") for line in lines)]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def until_open(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"nothing listens on {port}")


class Shell:
    """Runs lines as they are printed, but for the ports (others may hold them) and the store's place."""

    def __init__(self, folder: Path) -> None:
        self._ports = {"8080": str(free_port()), "8081": str(free_port())}
        self._store = str(folder / "session.db")
        self._started: list[subprocess.Popen[bytes]] = []
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "XDG_RUNTIME_DIR": str(runtime)}

    def run(self, line: str) -> str:
        for printed, mine in {**self._ports, "session.db": self._store}.items():
            line = line.replace(printed, mine)
        if line.endswith("&"):
            self._started.append(subprocess.Popen(shlex.split(line[:-1]), cwd=ROOT, env=self._environment))
            until_open(int(re.search(r"--port (\d+)", line)[1]))  # type: ignore[index]  # each line has one
            return ""
        done = subprocess.run(
            ["sh", "-c", line], cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def stop(self) -> None:
        for process in reversed(self._started):
            process.send_signal(signal.SIGTERM)
            process.wait(20)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.stop()


def test_the_third_job_runs_as_printed(shell: Shell) -> None:
    said = [(command, shell.run(command), says) for command, says in commands()]
    told = [(printed, says) for _, printed, says in said if says]
    assert len(told) == 2
    assert [printed for printed, _ in told] == [says for _, says in told]
    by_command = {command: printed for command, printed, _ in said}
    assert "off weather-down: http path=/weather, met 1 times" in by_command["replay mock list"]
    assert "status 503, mocked by weather-down" in by_command["replay show session.db"]
