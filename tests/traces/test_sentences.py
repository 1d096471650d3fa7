from __future__ import annotations

from typing import Literal

import pytest
from pydantic import ValidationError

from wiretape.oracles.base import OracleUse
from wiretape.scenarios.driving import Agent, AgentOverrides
from wiretape.scenarios.model import Scenario
from wiretape.traces.parts import Misfit, Part
from wiretape.traces.sentences import complaints, described, models_in, nearest


class Inner(Part):
    size: int
    kind: Literal["big"] = "big"


class Outer(Part):
    one: Inner | None = None
    many: tuple[Inner, ...] = ()
    named: dict[str, Inner] = {}  # noqa: RUF012


def told(value, json):
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate_json(json)
    return list(complaints(Outer, value, caught.value))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"), (True, "true"), (5, "the number 5"), (1.5, "the number 1.5"), ("a", '"a"'), ([], "an empty list"),
        ([1], "a list"), ({}, "an empty mapping"), ({"a": 1}, "a mapping"), ("x" * 90, '"' + "x" * 59 + '…"'),
        ("\x1b", '"\\u001b"'),
    ],
)  # fmt: skip
def test_it_says_what_came(value, words):
    assert described(value) == words


def test_it_names_the_nearest_or_all():
    assert nearest("Risk", ["risk", "runs"]) == "did you mean risk?"
    assert nearest("zzz", ["risk", "runs"]) == "known are risk, runs"
    assert nearest("zzz", []) == "none is known here"


def test_it_places_what_does_not_fit_and_names_the_fields_of_that_place():
    value = {"one": {"size": "5"}, "many": [{"size": 1}, {"siez": 2}], "named": {"x": {"size": 1, "kind": "small"}}}
    assert told(value, '{"one":{"size":"5"},"many":[{"size":1},{"siez":2}],"named":{"x":{"size":1,"kind":"small"}}}') == [
        Misfit('expected a whole number, got "5"', ("one", "size")),
        Misfit("the field is required, but is not there", ("many", 1, "size")),
        Misfit("there is no such field; did you mean size?", ("many", 1, "siez")),
        Misfit('expected big, got "small"', ("named", "x", "kind")),
    ]


def test_it_finds_the_models_behind_an_annotation():
    fields = Scenario.model_fields
    assert models_in(fields["agent"].annotation) == [Agent]
    assert models_in(Agent.model_fields["versions"].annotation) == [AgentOverrides]
    assert models_in(fields["oracles"].annotation) == [OracleUse]
    assert models_in(fields["tags"].annotation) == []
