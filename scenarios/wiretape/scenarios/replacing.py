"""Several files of one folder replaced at once, or not at all.

A golden recording is three files that must agree; a crash between two renames must not leave new evidence beside an old
trace. So the new files are first put, whole and synced, into a journal folder beside the targets (`.NAME.replacing`), with
hard links to the old ones. Its file `ready` then says that renaming may begin, and its removal is the one moment at which
the new files become the recording. Found later:

- without `ready`: nothing was renamed yet, or all of it was meant; the journal is only tidied away
- with `ready`: a crash in the middle; the old files are put back

The process that replaces holds a lock on the journal, so that nobody "recovers" from it while it is alive.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from wiretape.traces.errors import StoreError

__all__ = ["journal_of", "recover", "replace_file", "replace_text", "replace_together"]

_SUFFIX = ".replacing"
_BESIDE_STORE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a store: the old one's would be applied to the new one."""


def replace_together(files: Mapping[Path, Path]) -> None:
    """Move each source to its target: all of them, or, where anything goes wrong, none.

    Targets share one folder and one stem. Raises StoreError; the targets then are what they were before.
    """
    targets = list(files.values())
    journal = journal_of(targets[0])
    if any(journal_of(target) != journal for target in targets):
        raise ValueError(f"targets of one folder and one stem can be replaced together, not {targets}")
    recover(targets[0])
    removed = [beside for target in targets for beside in _beside(target)]
    try:
        _replace(journal, files, removed)
    except OSError as error:
        raise StoreError(f"{targets[0]}: could not be replaced ({error.strerror or error}). {_left(journal)}") from None
    for source in files:
        with suppress(OSError):  # the files are in place; a leftover of the source harms nobody
            source.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a file so that readers see the old one or the whole new one. Raises StoreError."""
    replace_file(path, [text.encode()])


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """The same from pieces that are made meanwhile; where that fails, the old file stays."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.writelines(pieces)
        _sync(beside)
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: could not be written ({error.strerror}).") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def recover(target: Path) -> bool:
    """Undo what a crash left of a replacement of this file and its siblings; True where something was found.

    Raises StoreError where another process is replacing them now, or where this one may not undo it.
    """
    journal = journal_of(target)
    if not journal.is_dir():
        return False
    try:
        with _held(journal):
            if (journal / "ready").exists():
                _roll_back(journal)
            shutil.rmtree(journal)
    except FileNotFoundError:
        return not journal.exists()  # another process was quicker
    except OSError as error:
        raise StoreError(
            f"{target}: a crash interrupted its replacement, and {journal} cannot be undone here ({error.strerror})."
            " Make its folder writable and run this again."
        ) from None
    return True


def journal_of(target: Path) -> Path:
    return target.with_name(f".{target.stem}{_SUFFIX}")


def _beside(target: Path) -> Iterator[Path]:
    found = (target.with_name(target.name + end) for end in _BESIDE_STORE)
    return (path for path in found if path.exists())


def _replace(journal: Path, files: Mapping[Path, Path], removed: Sequence[Path]) -> None:
    _make(journal)
    with _held(journal):
        try:
            _stage(journal, files, removed)
            for target in files.values():
                os.replace(journal / "new" / target.name, target)
            for target in removed:
                target.unlink()
            _sync(journal.parent)
            (journal / "ready").unlink()  # from here on the new files are the recording
            with suppress(OSError):
                _sync(journal)
        except BaseException:
            _roll_back(journal)
            raise
        finally:
            _tidy(journal)


def _tidy(journal: Path) -> None:
    """A journal that still has its `ready` holds the only copy of old files; what else is left the next `recover` takes."""
    if not (journal / "ready").exists():
        shutil.rmtree(journal, ignore_errors=True)


def _left(journal: Path) -> str:
    if (journal / "ready").exists():
        return f"The old files are in {journal} and are put back when any command reads the recording again."
    return "All files are as they were before."


def _make(journal: Path) -> None:
    try:
        journal.mkdir()
    except FileExistsError:
        raise StoreError(f"{journal.parent}: another process is replacing this recording; wait for it to end.") from None


def _stage(journal: Path, files: Mapping[Path, Path], removed: Sequence[Path]) -> None:
    """New and old files into the journal; `ready` last, when all of it is on the disk."""
    (journal / "new").mkdir()
    (journal / "old").mkdir()
    targets = [*files.values(), *removed]
    before = {target.name: target.exists() for target in targets}
    for source, target in files.items():
        _link_or_copy(source, journal / "new" / target.name)
    for target in targets:
        if before[target.name]:
            _link_or_copy(target, journal / "old" / target.name)
    _sync(journal / "new")
    _sync(journal / "old")
    part = journal / "ready.part"
    part.write_text(json.dumps(before), encoding="utf-8")
    _sync(part)
    part.rename(journal / "ready")
    _sync(journal)
    _sync(journal.parent)


def _roll_back(journal: Path) -> None:
    """Put the old files back; may itself be interrupted, and is then done again."""
    ready = journal / "ready"
    if not ready.exists():
        return
    stem = journal.name.removeprefix(".").removesuffix(_SUFFIX)
    for name, was_there in json.loads(ready.read_text(encoding="utf-8")).items():
        if Path(name).name != name or not name.startswith(f"{stem}."):
            raise OSError(f"it names {name!r}, which is no file of {stem}")
        target, old = journal.parent / name, journal / "old" / name
        if not was_there:
            target.unlink(missing_ok=True)
        elif old.exists():
            os.replace(old, target)
    _sync(journal.parent)
    ready.unlink()


@contextmanager
def _held(journal: Path) -> Iterator[None]:
    file = os.open(journal / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreError(f"{journal.parent}: another process is replacing this recording; wait for it to end.") from None
    finally:
        os.close(file)


def _link_or_copy(source: Path, copy: Path) -> None:
    """A hard link costs nothing; on another file system, or where links are refused, the bytes."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)
    _sync(copy)


def _sync(path: Path) -> None:
    """To the disk, a file or a folder: what survives the power going off."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
