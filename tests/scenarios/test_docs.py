"""The pages about settings and scenarios name everything that there is, and nothing else."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import TypeAliasType, get_args, get_origin

import pytest

from wiretape.oracles.base import OracleUse
from wiretape.proxy.rules.model import Unscoped
from wiretape.scenarios.config import load_config
from wiretape.scenarios.files import parse_scenario, parse_suite
from wiretape.scenarios.model import Scenario, Shared, Suite
from wiretape.scenarios.settings import OWN_VARIABLES, SETTINGS
from wiretape.traces.sentences import models_in
from wiretape.traces.types import StepBase

DOCS = Path(__file__).parents[2] / "docs"
SETTINGS_PAGE = (DOCS / "settings.md").read_text(encoding="utf-8")
SCENARIOS_PAGE = (DOCS / "scenarios.md").read_text(encoding="utf-8")


def row(setting):
    keys = " or ".join(f"`{key}`" for key in setting.keys)
    return next((line for line in SETTINGS_PAGE.splitlines() if line.startswith(f"| {keys} |")), "")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_it_documents_every_setting(setting):
    words = setting.default if isinstance(setting.default, str) else str(setting.default).lower()
    default = "`instant`" if setting.name == "pace" else f"`{words}`"
    assert (f"`{setting.option}`, `{setting.variable}`" if setting.option else "the file alone") in row(setting)
    assert setting.doc in row(setting)
    assert setting.kind.form in row(setting)
    assert default in row(setting) or setting.default in (None, (), {})


def test_it_documents_no_other_variable():
    named = set(re.findall(r"WIRETAPE_[A-Z_]*[A-Z]", SETTINGS_PAGE))
    assert named == OWN_VARIABLES | {setting.variable for setting in SETTINGS if setting.variable}


def test_it_shows_settings_files_that_load(tmp_path):
    shown = []
    for example in re.findall(r"```toml\n(.*?)```", SETTINGS_PAGE, re.DOTALL):
        (tmp_path / "wiretape.toml").write_text(example, encoding="utf-8")
        shown.append({each.setting.name for each in load_config(tmp_path).effective() if each.level == "file"})
    several = {"dir", "noise", "upstream", "match", "strict", "redact", "redact_rules", "fail_on", "environment"}
    assert shown == [several, {"prices"}]


def _repeats(annotation):
    """`[]` for a list of models, `.NAME` for a dict of them."""
    if isinstance(annotation, TypeAliasType):
        return _repeats(annotation.__value__)
    origin = get_origin(annotation)
    if origin in (tuple, dict):
        return "[]" if origin is tuple else ".NAME"
    inner = get_args(annotation) if origin is not None or isinstance(annotation, types.UnionType) else ()
    return next((found for found in map(_repeats, inner) if found), "")


def places(model, before=""):
    """(how people write the place of each field, whether it is required), down to the last one."""
    for name, field in model.model_fields.items():
        place = before + (field.alias or name)
        yield place, field.is_required()
        for inner in models_in(field.annotation):
            if inner not in (OracleUse, Shared, Unscoped) and not issubclass(inner, StepBase):
                yield from places(inner, f"{place}{_repeats(field.annotation)}.")


ROWS = "\n".join(line.split("|")[1] for line in SCENARIOS_PAGE.splitlines() if line.startswith("| `"))
"""The first column: the fields."""
FIELDS = dict(places(Suite)) | dict(places(Scenario))


@pytest.mark.parametrize("place", FIELDS)
def test_it_documents_every_field_of_scenarios_and_suites(place):
    found = re.search(rf"`{re.escape(place)}`(\*?)", ROWS)
    assert found, f"{place} is not in docs/scenarios.md"
    assert bool(found[1]) == FIELDS[place], f"{place}: the star says whether it is required"


def test_it_documents_no_field_that_is_not_there():
    assert set(re.findall(r"`([^`]+)`", ROWS)) <= set(FIELDS)


def test_it_shows_scenarios_and_suites_that_load():
    scenario, suite = re.findall(r"```yaml\n(.*?)```", SCENARIOS_PAGE, re.DOTALL)
    assert parse_scenario(scenario, Path("refund.yaml")).scenario.title == "Refunds one item after approval"
    assert parse_suite(suite, Path("smoke.yaml")).suite.defaults.limits.timeout == 120
