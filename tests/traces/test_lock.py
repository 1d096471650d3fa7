"""One writer: the lock names its owner, and dies with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.stores import child

from wiretape.traces.errors import StoreError
from wiretape.traces.lock import Lock, is_locked


def test_it_is_held_by_one(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    assert not is_locked(store)
    lock = Lock(store)
    assert is_locked(store)
    with pytest.raises(StoreError, match=rf"process {os.getpid()} is recording to it.*kill {os.getpid()}"):
        Lock(store)
    lock.release()
    assert not is_locked(store)
    assert list(tmp_path.iterdir()) == []
    Lock(store).release()


def test_it_is_the_same_by_another_name_of_the_store(tmp_path: Path) -> None:
    store, link = tmp_path / "a.db", tmp_path / "link.db"
    link.symlink_to(store)
    lock = Lock(store)
    assert is_locked(link)
    with pytest.raises(StoreError):
        Lock(link)
    lock.release()


def test_it_names_the_process_that_holds_it_and_outlives_it_nowhere(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    code = "from wiretape.traces.lock import Lock\nlock = Lock(Path(sys.argv[1]))\nprint('held', flush=True)\nsys.stdin.read()"
    holder = child(code, store)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"process {holder.pid} is recording"):
            Lock(store)
    finally:
        holder.kill()
        holder.wait()
    assert (tmp_path / ".a.db.lock").exists()  # stale: nobody removed it
    assert not is_locked(store)
    Lock(store).release()


def test_it_says_that_there_is_no_folder_for_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write in its folder \(No such file"):
        Lock(tmp_path / "nowhere" / "a.db")
