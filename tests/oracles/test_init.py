from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import wiretape.oracles
from wiretape.oracles import ORACLES


@pytest.mark.parametrize("name", ORACLES)
def test_it_keeps_each_oracle_in_the_file_of_its_name(name):
    module = importlib.import_module(f"wiretape.oracles.{name.replace('-', '_')}")
    assert module.ORACLE is ORACLES[name]
    assert ORACLES[name].name == name


def test_it_lists_every_file_that_holds_an_oracle():
    folder = Path(wiretape.oracles.__file__).parent
    holding = {path.stem.replace("_", "-") for path in folder.glob("*.py") if "\nORACLE = " in path.read_text("utf-8")}
    assert holding == set(ORACLES)


@pytest.mark.parametrize("name", ORACLES)
def test_it_can_end_the_sentence_expected_for_each_parameter(name):
    fields = ORACLES[name].parameters.model_fields
    assert [field for field, info in fields.items() if not info.description] == []
