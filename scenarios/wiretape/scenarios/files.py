"""Scenario and suite files: read, checked as a whole, and every fault of every file told with its line.

A file that is not there, is a folder or is no text is a UsageError or an InvalidFile; nothing here runs, expands or opens
what a file names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from wiretape.scenarios.model import Scenario, Suite, conflicts
from wiretape.scenarios.sentences import complaints, described
from wiretape.scenarios.tree import MAX_BYTES, Place, Tree, gathered, join, parse
from wiretape.traces.errors import InvalidFile, UsageError

__all__ = [
    "ScenarioFile",
    "SuiteFile",
    "load",
    "load_all",
    "load_scenario",
    "parse_scenario",
    "parse_suite",
    "read_scenario",
    "read_suite",
    "read_text",
    "refuse_repeated_ids",
    "suite_scenarios",
]


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    path: Path
    scenario: Scenario
    tree: Tree

    @property
    def folder(self) -> Path:
        """What the paths in it are relative to."""
        return self.path.parent

    @property
    def recording(self) -> Path:
        """The `.db` of its golden recording, whether it is there or not."""
        name = self.scenario.recording or self.path.stem
        return self.folder / (name if name.endswith(".db") else f"{name}.db")

    @property
    def cwd(self) -> Path:
        """Where its agent runs."""
        agent = self.scenario.agent
        return self.folder / (agent.cwd or ".") if agent else self.folder

    def line(self, *place: str | int) -> int | None:
        return self.tree.line(place)


@dataclass(frozen=True, slots=True)
class SuiteFile:
    path: Path
    suite: Suite
    tree: Tree

    @property
    def scenarios(self) -> tuple[Path, ...]:
        return tuple(self.path.parent / name for name in self.suite.scenarios)


def load(path: Path) -> ScenarioFile | SuiteFile:
    """What has a key `suite` is a suite."""
    tree = parse(read_text(path), str(path))
    if isinstance(tree.value, Mapping) and "suite" in tree.value:
        return SuiteFile(path, _model(Suite, tree, str(path)), tree)
    return ScenarioFile(path, _model(Scenario, tree, str(path)), tree)


def load_scenario(path: Path) -> Scenario:
    """The scenario alone; `read_scenario` has the file around it."""
    return read_scenario(path).scenario


def read_scenario(path: Path) -> ScenarioFile:
    return parse_scenario(read_text(path), path)


def read_suite(path: Path) -> SuiteFile:
    return parse_suite(read_text(path), path)


def parse_scenario(text: str, path: Path) -> ScenarioFile:
    """`path` names the file in the sentences and is what its own paths are relative to; it is not opened."""
    tree = parse(text, str(path))
    return ScenarioFile(path, _model(Scenario, tree, str(path)), tree)


def parse_suite(text: str, path: Path) -> SuiteFile:
    tree = parse(text, str(path))
    return SuiteFile(path, _model(Suite, tree, str(path)), tree)


def load_all(paths: Iterable[Path]) -> tuple[ScenarioFile, ...]:
    """All of them, in this order, or one InvalidFile with the faults of all; an id may be there once, case set aside."""
    loaded: list[ScenarioFile] = []
    faults: list[InvalidFile] = []
    for path in paths:
        try:
            loaded.append(read_scenario(path))
        except InvalidFile as fault:
            faults.append(fault)
    faults.extend(_repeated_ids(loaded))
    if faults:
        raise gathered(faults)
    return tuple(loaded)


def suite_scenarios(suite: SuiteFile) -> tuple[ScenarioFile, ...]:
    """The suite's scenarios in its order, with its defaults in them. Raises as `load_all`."""
    _refuse_missing(suite)
    return tuple(_with_defaults(suite, each) for each in load_all(suite.scenarios))


def refuse_repeated_ids(files: Iterable[ScenarioFile]) -> None:
    """Raises InvalidFile with each id that another file has already, case set aside."""
    if faults := _repeated_ids(files):
        raise gathered(faults)


def read_text(path: Path) -> str:
    """UTF-8, with or without a byte order mark. Raises UsageError, or InvalidFile where the bytes are no text."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; expected a file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise InvalidFile(str(path), f"the file is larger than {MAX_BYTES:,} bytes; no scenario needs that much")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidFile(str(path), "this is not UTF-8 text; expected YAML or JSON", line=line) from None


def _model[M: BaseModel](model: type[M], tree: Tree, path: str) -> M:
    if not isinstance(tree.value, Mapping):
        problem = f"expected a mapping that begins with `wiretape: 1`, got {described(tree.value)}"
        raise InvalidFile(path, problem, line=tree.line(()))
    try:
        return model.model_validate_json(json.dumps(tree.value))
    except ValidationError as error:
        raise gathered(_faults(model, tree, path, error)) from None


def _faults(model: type[BaseModel], tree: Tree, path: str, error: ValidationError) -> Iterable[InvalidFile]:
    found = list(complaints(model, tree.value, error))
    if model is Scenario:  # pydantic leaves these out where a field does not fit
        found.extend(conflicts(tree.value))
    return [InvalidFile(path, misfit.problem, line=tree.line(misfit.place), field=join(misfit.place)) for misfit in found]


def _repeated_ids(files: Iterable[ScenarioFile]) -> list[InvalidFile]:
    first: dict[str, ScenarioFile] = {}
    faults: list[InvalidFile] = []
    for file in files:
        other = first.setdefault(file.scenario.key, file)
        if other is not file:
            problem = f"{file.scenario.id} is the id of {other.path} too; ids are unique, case set aside"
            faults.append(InvalidFile(str(file.path), problem, line=file.line("id"), field="id"))
    return faults


def _refuse_missing(suite: SuiteFile) -> None:
    places: dict[Path, Place] = {path: ("scenarios", at) for at, path in enumerate(suite.scenarios)}
    faults = [
        InvalidFile(str(suite.path), f"there is no file {path}", line=suite.tree.line(place), field=join(place))
        for path, place in places.items()
        if not path.is_file()
    ]
    if faults:
        raise gathered(faults)


def _with_defaults(suite: SuiteFile, file: ScenarioFile) -> ScenarioFile:
    scenario = suite.suite.applied(file.scenario)
    agent = scenario.agent
    if agent is not None and agent is not file.scenario.agent:  # its paths are the suite's
        cwd = os.path.relpath(suite.path.parent / (agent.cwd or "."), file.folder)
        scenario = scenario.model_copy(update={"agent": agent.model_copy(update={"cwd": cwd})})
    return ScenarioFile(file.path, scenario, file.tree)
