from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wiretape.proxy.launch import run_child
from wiretape.traces.errors import UsageError

RUN = """
import asyncio, os, sys
from wiretape.proxy.launch import run_child
sys.exit(asyncio.run(run_child(sys.argv[1:], os.environ)))
"""


def ran(*argv: str) -> int:
    return asyncio.run(run_child(argv, os.environ))


def test_it_passes_on_the_exit_code() -> None:
    assert [ran("sh", "-c", f"exit {code}") for code in (0, 7, 255)] == [0, 7, 255]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_signal_that_ends_it_is_128_and_its_number(number: signal.Signals) -> None:
    assert ran("sh", "-c", f"kill -{int(number)} $$") == 128 + number


def test_a_command_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    for argv in ("no-such-command", str(tmp_path / "plain")):
        with pytest.raises(UsageError, match=argv):
            ran(argv)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_it_passes_signals_on(number: signal.Signals) -> None:
    child = (
        f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(42))\n"
        "print('ready', flush=True)\ntime.sleep(30)"
    )
    outer = subprocess.Popen(
        [sys.executable, "-c", RUN, sys.executable, "-c", child], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert outer.stdout is not None
    assert outer.stdout.readline() == b"ready\n"
    outer.send_signal(number)
    assert outer.wait(20) == 42


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_on_a_terminal_the_child_is_in_the_foreground(tmp_path: Path) -> None:
    """It reads what is typed, and Ctrl-C reaches it while we stay until it ends."""
    out, name = tmp_path / "out", f"wiretape-{os.getpid()}"
    (tmp_path / "run.py").write_text(RUN)
    (tmp_path / "child.py").write_text(
        "import sys, time\n"
        f"out = open({str(out)!r}, 'w', buffering=1)\n"
        "out.write('started\\n')\n"
        "out.write(f'line {input()}\\n')\n"
        "try:\n    time.sleep(30)\nexcept KeyboardInterrupt:\n    out.write('interrupted\\n')\n    sys.exit(5)\n"
    )
    path = ":".join(sys.path)
    command = (
        f"PYTHONPATH={path} {sys.executable} {tmp_path}/run.py {sys.executable} {tmp_path}/child.py; echo code $? >> {out}"
    )
    tmux = ["tmux", "-L", name]

    def until(words: str) -> None:
        deadline = time.monotonic() + 20
        while words not in (out.read_text() if out.exists() else ""):
            assert time.monotonic() < deadline, f"no {words!r} in {out.read_text() if out.exists() else 'nothing'}"
            time.sleep(0.05)

    subprocess.run([*tmux, "new-session", "-d", "-x", "80", "-y", "24", command], check=True, timeout=10)
    try:
        until("started")
        subprocess.run([*tmux, "send-keys", "typed by hand", "Enter"], check=True, timeout=10)
        until("line typed by hand")
        subprocess.run([*tmux, "send-keys", "C-c"], check=True, timeout=10)
        until("interrupted")
        until("code 5")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, timeout=10, capture_output=True)
