from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wiretape.proxy import runs
from wiretape.proxy.ancestry import listed_parents, parents, run_of


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def made(pid: int, run: str) -> runs.RunFile:
    file = runs.RunFile(pid=pid, proxy="http://127.0.0.1:1", ca="ca.pem", mode="record", run=run, started_at=1.0)
    runs.write(file)
    return file


def test_parents_are_told_from_the_nearest_to_the_first() -> None:
    found = list(parents(os.getpid()))
    assert found[0] == os.getppid()
    assert found[-1] == 1 or len(found) == len(set(found))


def test_a_command_with_parentheses_in_its_name_has_its_parent(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    child = subprocess.Popen([odd, "20"])
    try:
        assert next(parents(child.pid)) == os.getpid()
    finally:
        child.kill()
        child.wait()


def test_ps_tells_the_same_where_there_is_no_proc() -> None:
    assert listed_parents()[os.getpid()] == os.getppid()


def test_a_child_without_any_environment_finds_the_nearest_run_above_it() -> None:
    far, near = made(os.getppid(), "far"), made(os.getpid(), "near")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], env={})
    try:
        assert run_of(child.pid) == near
        runs.remove(near)
        assert run_of(child.pid) == far
    finally:
        child.kill()
        child.wait()


def test_a_run_that_is_named_need_not_be_above_us() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    try:
        file = made(child.pid, "r9")
        assert run_of(os.getpid()) is None
        assert (run_of(os.getpid(), "r9"), run_of(os.getpid(), str(child.pid))) == (file, file)
        assert run_of(os.getpid(), "r8") is None
    finally:
        child.kill()
        child.wait()
