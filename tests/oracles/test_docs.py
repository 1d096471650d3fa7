"""docs/oracles.md says what there is: every oracle, every parameter, and an example that fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from wiretape.oracles import ORACLES
from wiretape.oracles.base import canonical_name
from wiretape.oracles.no_unsafe_tool import UNSAFE

TEXT = (Path(__file__).parents[2] / "docs" / "oracles.md").read_text("utf-8")
SECTIONS = {part.split("\n", 1)[0].strip(): part for part in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]}


def test_it_documents_every_oracle_and_no_other():
    assert sorted(SECTIONS) == sorted(ORACLES)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_it_documents_every_parameter_and_no_other(name):
    told = re.findall(r"^\| `(\w+)` \|", SECTIONS[name], flags=re.MULTILINE)
    assert sorted(told) == sorted(ORACLES[name].parameters.model_fields)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_it_says_when_each_passes_fails_and_is_skipped(name):
    assert re.search(r"Passed:\s.*Failed:\s.*(Skipped:\s|Never skipped)", SECTIONS[name], flags=re.DOTALL)


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_it_gives_one_example_that_fits(name):
    blocks = re.findall(r"```yaml\n(.*?)```", SECTIONS[name], flags=re.DOTALL)
    assert len(blocks) == 1
    (use,) = YAML(typ="safe").load(blocks[0])
    assert canonical_name(use.pop("oracle")) == name
    ORACLES[name].parameters.model_validate(use)


def test_it_lists_the_unsafe_tools():
    assert all(re.search(rf"\b{tool}\b", SECTIONS["no-unsafe-tool"]) for tool in UNSAFE)
