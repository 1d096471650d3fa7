"""What `check` judges: the recordings and scenarios that paths name, or that lie below them.

Nothing that could be a recording is passed over: a scenario or a trace text without its evidence and a link that leads nowhere
are subjects, whose judgement is an error. YAML that is not ours is passed over where it was found by walking, and a suite
there too, since its scenarios are found by themselves; a file that was named must be one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretape.scenarios.files import ScenarioFile, load, refuse_repeated_ids, suite_scenarios
from wiretape.scenarios.golden import RECORDINGS, Golden
from wiretape.scenarios.replacing import recover
from wiretape.scenarios.walking import below
from wiretape.traces.errors import UsageError, WiretapeError
from wiretape.traces.written import read_text

__all__ = ["Subject", "subjects"]

_SCENARIOS = (".json", ".yaml", ".yml")
_OURS = re.compile(r"""^(\{\s*)?["']?wiretape["']?\s*:""", re.MULTILINE)
_TRACE = "wiretape-trace: "


@dataclass(frozen=True, slots=True)
class Subject:
    """A recording with the scenario that says what must hold of it: none, or one that cannot be read."""

    name: str
    golden: Golden
    scenario: ScenarioFile | None = None
    fault: WiretapeError | None = None
    path: Path | None = None
    """The scenario's file."""


def subjects(paths: Sequence[Path], folder: Path = RECORDINGS) -> tuple[Subject, ...]:
    """In the order of their paths. UsageError where a path is not there; `folder` is where names are looked up."""
    scenarios: dict[Path, None] = {}
    recordings: dict[Golden, None] = {}
    for path in paths:
        _refuse_missing(path, folder)
        for each, named in _files(path):
            if each.suffix in _SCENARIOS and (named or _is_ours(each)):
                scenarios.setdefault(each)
            elif each.suffix == ".db" or named or _is_trace(each):
                recordings.setdefault(Golden(each.parent, each.stem))
    for golden in recordings:
        recover(golden.db)
        if golden.yaml.exists():
            scenarios.setdefault(golden.yaml)
    found = _without_repeated_ids([each for path in scenarios for each in _read(path, named=path in paths)])
    judged = {subject.golden for subject in found}
    found += [Subject(golden.name, golden) for golden in recordings if golden not in judged]
    return tuple(sorted(found, key=lambda subject: (subject.golden.folder, subject.golden.name, subject.name)))


def _refuse_missing(path: Path, folder: Path) -> None:
    if path.exists() or path.is_symlink():
        return
    meant = folder / f"{path}.db"
    hint = f" Did you mean {meant}?" if path.parts and not path.is_absolute() and meant.exists() else ""
    raise UsageError(f"{path}: there is no such file or folder.{hint}")


def _files(path: Path) -> Iterator[tuple[Path, bool]]:
    """Each file with whether it was named."""
    if path.is_dir():
        yield from ((each, False) for each in below(path) if each.suffix in (".db", ".trace", ".yaml"))
    else:
        yield path, True


def _is_ours(path: Path) -> bool:
    """A scenario or a suite: it says so, or a recording of its name lies beside it."""
    if path.with_suffix(".db").exists():
        return True
    try:
        return bool(_OURS.search(read_text(path)))
    except UsageError:
        return False


def _is_trace(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.suffix == ".trace" and file.read(len(_TRACE)) == _TRACE.encode()
    except OSError:
        return False


def _read(path: Path, *, named: bool) -> Iterator[Subject]:
    beside = Golden(path.parent, path.stem)
    try:
        file = load(path)
        found: Iterable[ScenarioFile] = [file] if isinstance(file, ScenarioFile) else suite_scenarios(file) if named else []
        for each in found:
            recording = each.recording
            yield Subject(each.path.stem, Golden(recording.parent, recording.stem), each, path=each.path)
    except WiretapeError as error:
        yield Subject(path.stem, beside, fault=error, path=path)


def _without_repeated_ids(found: list[Subject]) -> list[Subject]:
    """The same, where an id that another file has already is a fault of the later file."""
    known: list[ScenarioFile] = []
    out: list[Subject] = []
    for subject in sorted(found, key=lambda each: (each.golden.folder, each.golden.name, each.name)):
        try:
            files = [*known, subject.scenario] if subject.scenario else known
            refuse_repeated_ids(files)
            known = files
            out.append(subject)
        except WiretapeError as error:
            out.append(Subject(subject.name, subject.golden, fault=error, path=subject.path))
    return out
