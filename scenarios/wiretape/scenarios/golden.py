"""A golden recording is three files: NAME.yaml (the scenario, written by hand), NAME.trace (the trace as text, for review)
and NAME.db (the evidence). Here is where they lie, what a RECORDING argument means, and whether the evidence is whole.

RECORDING is a path to a `.db`, `path.db#name` where a store holds several recordings or sessions, or a name looked up under
`recordings/`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import Self

from wiretape.scenarios.files import load_scenario
from wiretape.scenarios.model import Scenario
from wiretape.scenarios.replacing import recover, replace_text, replace_together
from wiretape.scenarios.walking import below
from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.store import Store

__all__ = ["RECORDINGS", "Golden", "beside", "databases", "free_name", "locate", "replace_text", "replace_together"]

RECORDINGS = Path("recordings")
"""Where names are looked up, in the working directory."""

_ENDINGS = (".db", ".trace", ".yaml", ".yml", ".json")
_FORBIDDEN = frozenset('/\\:*?"<>|#')


@dataclass(frozen=True, slots=True)
class Golden:
    folder: Path
    name: str

    @classmethod
    def at(cls, folder: Path, name: str) -> Self:
        """Raises UsageError where `name` is no name for files."""
        if problem := _unfit(name):
            raise UsageError(f"a recording cannot be called {name!r}: {problem}.")
        return cls(folder, name)

    @property
    def yaml(self) -> Path:
        return self.folder / f"{self.name}.yaml"

    @property
    def trace(self) -> Path:
        return self.folder / f"{self.name}.trace"

    @property
    def db(self) -> Path:
        return self.folder / f"{self.name}.db"

    def exists(self) -> bool:
        """The evidence does: a scenario may be there before its recording, and a trace alone proves nothing."""
        return self.db.exists() or self.db.is_symlink()

    def text(self) -> str | None:
        """The trace text; None where there is none. StoreError where what lies there is no text."""
        try:
            return self.trace.read_text(encoding="utf-8") if self.trace.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise StoreError(
                f"{self.trace}: expected a trace as text, but it cannot be read ({why}). Restore it, or remove it and write it"
                f" anew: replay accept {self.db}"
            ) from None

    def refuse_unfinished(self) -> None:
        """StoreError unless the evidence is one closed file: no `-wal` beside it, no Git LFS pointer, its marker there."""
        log = self.db.with_name(f"{self.db.name}-wal")
        if log.exists():
            raise StoreError(
                f"{self.db}: {log.name} lies beside it, so it is being recorded, or its recording was interrupted."
                " Wait for the recording to end, or make it anew with `replay record --update`."
            )
        with Store.open(self.db) as store:
            if not store.closed:
                raise StoreError(
                    f"{self.db}: the recording was never closed, so it may lack its end. `replay show` reads what is there;"
                    " make it anew with `replay record --update`."
                )


def locate(recording: str, folder: Path = RECORDINGS) -> tuple[Path, str | None]:
    """(the .db, the recording or session in it that was named). Raises UsageError where there is none."""
    path, name = _split(recording, folder)
    recover(path)
    if not path.is_file():
        raise UsageError(_not_there(recording, path, folder))
    return path, name


def beside(recording: str, folder: Path = RECORDINGS) -> tuple[Golden, Scenario | None]:
    """The files that a RECORDING stands among, and its scenario where there is one (InvalidFile where it does not fit)."""
    path, _ = locate(recording, folder)
    golden = Golden(path.parent, path.stem)
    return golden, load_scenario(golden.yaml) if golden.yaml.exists() else None


def databases(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Every `.db` that the paths name or that lies below them (walking.py says where), each once, in the order of names.

    Raises UsageError for a path that is not there.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")
        for each in [each for each in below(path) if each.suffix == ".db"] if path.is_dir() else [path]:
            recover(each)
            found.setdefault(each)
    return tuple(found)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or with the first number behind it under which nothing is there."""
    return next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)


def _split(recording: str, folder: Path) -> tuple[Path, str | None]:
    whole, within = Path(recording), recording.partition(".db#")
    if (recording.endswith(".db") or "/" in recording) and whole.is_file():
        return whole, None
    if within[1]:
        return Path(f"{within[0]}.db"), within[2] or None
    if recording.endswith(".db"):
        return whole, None
    if "/" in recording and (ended := Path(f"{recording}.db")).is_file():
        return ended, None
    path, _, name = recording.partition("#")
    if _leaves(path):
        raise UsageError(f"{recording!r} is no name of a recording; expected a path to a .db, path.db#name, or a name.")
    return folder / f"{path}.db", name or None


def _leaves(name: str) -> bool:
    """Whether a name under recordings/ would lead out of it, or to nothing."""
    path = Path(name)
    return not name or path.is_absolute() or ".." in path.parts or "\0" in name


def _not_there(recording: str, path: Path, folder: Path) -> str:
    if path.parent != folder:
        return f"{path}: there is no such recording."
    known = sorted(each.stem for each in folder.glob("*.db"))
    near = get_close_matches(path.stem, known, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known[:20])}." if known else "It holds none yet."
    return f"there is no recording {recording!r} in {folder}/. {hint}"


def _unfit(name: str) -> str | None:
    if not name or name != name.strip() or not name.isprintable() or len(name.encode()) > 200:
        return "expected one line of at most 200 bytes, without space around it"
    if name.endswith(_ENDINGS):
        return "leave its ending off; the files get theirs"
    if name.startswith((".", "-")):
        return f"a name does not begin with {name[0]!r}"
    bad = sorted(_FORBIDDEN & set(name))
    return f"a name holds no {' '.join(bad)}; folders are given with --dir" if bad else None
