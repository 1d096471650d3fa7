"""The lock of a store's one writer: a file beside the store, held with flock(2), in which the owner's pid stands.

The kernel lets go of it when the owner dies, so a stale file holds nobody up and needs no guess about a pid. The name is that
of the real file: two links to a store are one store.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from wiretape.traces.errors import StoreError

__all__ = ["Lock", "is_locked"]

_TRIES = 20
_PAUSE = 0.025
"""A reader that asks whether a writer lives holds the lock for an instant; a writer asks again before it gives up."""


def _lock_path(store: Path) -> Path:
    real = Path(os.path.realpath(store))
    return real.with_name(f".{real.name}.lock")


def is_locked(store: Path) -> bool:
    """Whether a living writer holds the store."""
    try:
        file = os.open(_lock_path(store), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


class Lock:
    """Taken by making it; `release` lets it go. StoreError where another process holds it, or where no file can be made."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._path = _lock_path(store)
        while (file := self._taken()) is None:
            pass
        self._file = file
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        with suppress(OSError):  # the folder may be gone; the lock goes with the descriptor
            self._path.unlink()
        os.close(self._file)

    def _taken(self) -> int | None:
        """The open and locked file; None where its last holder removed it between our open and our lock."""
        file = self._opened()
        if not _flocked(file):
            pid = _holder(file)
            os.close(file)
            raise StoreError(
                f"{self._store}: expected a store that nobody writes, but process {pid} is recording to it."
                f" Stop that one (kill {pid}), or record to another file."
            )
        try:
            current = os.stat(self._path).st_ino == os.fstat(file).st_ino
        except FileNotFoundError:
            current = False
        if current:
            return file
        os.close(file)
        return None

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(
                f"{self._store}: cannot write in its folder ({error.strerror})."
                " Choose a folder that is there and can be written to."
            ) from None


def _flocked(file: int) -> bool:
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return True
    return False


def _holder(file: int) -> str:
    """The pid in the file of another; it may be just about to write it."""
    for _ in range(_TRIES):
        if pid := os.pread(file, 32, 0).decode("ascii", "replace").strip():
            return pid
        time.sleep(_PAUSE)
    return "unknown"
