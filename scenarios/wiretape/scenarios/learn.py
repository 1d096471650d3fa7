"""The job behind `replay learn`: the command runs again against its recording, and what came otherwise becomes volatile.

What is bound or canonical needs no rule. What a model reads gets none: such a difference is told and left to its author.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from wiretape.replay.matcher import Loose
from wiretape.scenarios.files import load_scenario
from wiretape.scenarios.golden import beside, replace_text
from wiretape.scenarios.run import RunOptions, run
from wiretape.traces.differences import FieldDifference
from wiretape.traces.errors import UsageError
from wiretape.traces.settings import NEVER_VOLATILE, Volatile

__all__ = ["Learned", "learn", "write"]


@dataclass(frozen=True, slots=True)
class Learned:
    rules: tuple[Volatile, ...]
    shown: tuple[str, ...]
    """A line for each rule: the field with its recorded and its live value."""
    beyond: tuple[str, ...]
    """What varies and no rule may set aside, or was not recorded at all: a line each."""


def learn(options: RunOptions) -> Learned:
    """`options` allow drift, so that the command runs on where a field varies. Raises as `run` does."""
    scenario_of(options.recording)
    report = run(options)
    found = {rule: difference for match in report.loose for rule, difference in _rules(match)}
    drifted = (difference for match in report.loose for difference in match.drift if not _place(difference))
    beyond = (*map(_shown, drifted), *(miss.message for miss in report.misses))
    return Learned(tuple(found), tuple(map(_shown, found.values())), tuple(dict.fromkeys(beyond)))


def scenario_of(recording: str) -> Path:
    """The YAML file that the rules go into. UsageError where there is none."""
    golden, scenario = beside(recording)
    if scenario is None:
        raise UsageError(f"{golden.yaml}: there is no scenario to write the rules into; write one, or record by name.")
    return golden.yaml


def write(recording: str, rules: Iterable[Volatile]) -> Path:
    """Add the rules to the scenario beside the recording; all else in it stays as it is written."""
    path, yaml = scenario_of(recording), YAML()
    yaml.width, yaml.preserve_quotes = 1000, True
    tree, out = yaml.load(path.read_text(encoding="utf-8")), io.StringIO()
    listed = tree.setdefault("match", {}).setdefault("volatile", [])
    listed.extend({"url": each.url} | ({"query": each.query} if each.query else {"json": each.json_path}) for each in rules)
    yaml.dump(tree, out)
    replace_text(path, out.getvalue())
    load_scenario(path)
    return path


def _rules(match: Loose) -> Iterator[tuple[Volatile, FieldDifference]]:
    address = Volatile(url=f"*{urlsplit(match.url).path}")
    for difference in match.drift:
        if place := _place(difference):
            yield address.model_copy(update=place), difference


def _place(difference: FieldDifference) -> dict[str, str] | None:
    """Where a rule may set this aside; None where none may."""
    if difference.path.startswith("query."):
        return {"query": difference.path.removeprefix("query.")}
    top = re.match(r"\$\.([\w-]+)", difference.path)
    return {"json_path": difference.path} if top and top[1] not in NEVER_VOLATILE else None


def _shown(difference: FieldDifference) -> str:
    return f"{difference.path}: recorded {difference.recorded}, live {difference.live}"
