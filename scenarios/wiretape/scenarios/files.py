"""Scenario and suite files: read, checked as a whole, and every fault of every file told with its line.

A file that is not there, is a folder or is no text is a UsageError or an InvalidFile; nothing here runs, expands or opens
what a file names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wiretape.scenarios.model import Scenario, Suite, conflicts
from wiretape.traces.errors import InvalidFile
from wiretape.traces.tree import Place, Tree, gathered, join, parse
from wiretape.traces.written import checked, read_text

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
    "refuse_repeated_ids",
    "suite_scenarios",
]


BEGINS = "wiretape: 1"
"""The first line of such a file, for the sentences."""


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
    tree = parse(read_text(path), str(path), BEGINS)
    if isinstance(tree.value, Mapping) and "suite" in tree.value:
        return SuiteFile(path, _suite(tree, path), tree)
    return ScenarioFile(path, _scenario(tree, path), tree)


def load_scenario(path: Path) -> Scenario:
    """The scenario alone; `read_scenario` has the file around it."""
    return read_scenario(path).scenario


def read_scenario(path: Path) -> ScenarioFile:
    return parse_scenario(read_text(path), path)


def read_suite(path: Path) -> SuiteFile:
    return parse_suite(read_text(path), path)


def parse_scenario(text: str, path: Path) -> ScenarioFile:
    """`path` names the file in the sentences and is what its own paths are relative to; it is not opened."""
    tree = parse(text, str(path), BEGINS)
    return ScenarioFile(path, _scenario(tree, path), tree)


def parse_suite(text: str, path: Path) -> SuiteFile:
    tree = parse(text, str(path), BEGINS)
    return SuiteFile(path, _suite(tree, path), tree)


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


def _scenario(tree: Tree, path: Path) -> Scenario:
    return checked(Scenario, tree, str(path), begins=BEGINS, more=conflicts)


def _suite(tree: Tree, path: Path) -> Suite:
    return checked(Suite, tree, str(path), begins=BEGINS)


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
