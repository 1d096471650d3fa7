from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from wiretape.proxy import runs
from wiretape.traces.errors import UsageError


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def made(pid: int = os.getpid(), run: str = "r1") -> runs.RunFile:
    return runs.RunFile(pid=pid, proxy="http://127.0.0.1:1", ca="ca.pem", mode="record", run=run, started_at=1.0)


def test_a_running_sidecar_is_found_and_only_by_its_user(tmp_path: Path) -> None:
    runs.write(made())
    assert runs.current() == made()
    assert runs.current("r1") == made()
    [path] = (tmp_path / "wiretape").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    runs.remove(made())
    assert runs.running() == ()


def test_what_a_dead_one_left_is_cleared_away(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait(10)
    runs.write(made(pid=child.pid))
    with pytest.raises(UsageError, match="no sidecar is running"):
        runs.current()
    assert list((tmp_path / "wiretape").iterdir()) == []


def test_of_several_one_has_to_be_named() -> None:
    runs.write(made())
    runs.write(made(pid=os.getppid(), run="r2"))
    with pytest.raises(UsageError, match="several"):
        runs.current()
    assert runs.current("r2").pid == os.getppid()


def test_a_file_that_is_none_is_passed_over(tmp_path: Path) -> None:
    runs.write(made())
    (tmp_path / "wiretape" / "7.json").write_text("{")
    assert runs.running() == (made(),)


def test_the_socket_of_a_dead_one_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with tempfile.TemporaryDirectory(dir="/tmp") as short, socket.socket(socket.AF_UNIX) as listener:
        left = Path(short) / "wiretape-tap-1" / "socket"
        left.parent.mkdir()
        listener.bind(str(left))
        other = tmp_path / "file"
        other.write_text("mine")
        for tap in (left, other):
            runs.write(made(child.pid).model_copy(update={"tap": str(tap)}))
            assert runs.running() == ()
        assert (left.parent.exists(), other.read_text()) == (False, "mine")
