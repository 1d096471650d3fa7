from __future__ import annotations

import pytest

from wiretape.scenarios.config import load_config
from wiretape.scenarios.judging import refuse_misfits, refuse_unjudged
from wiretape.traces.errors import UsageError

TURNS = "turns: [{input: a}, {input: b, oracles: [{oracle: no-error}]}]"
CHECKPOINTS = "simulator: {via: openai, url: 'http://x'}\ncheckpoints: [{id: c, oracle: {oracle: no-error}}]"
GOALS = "goals: {graph: {g: []}, details: [{name: g, tool: t}]}"
FAULTS = "mocks: [{id: m, enabled: false}]\nfaults: {f: {rules: [m], oracles: [{oracle: no-error}]}}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (TURNS, r"`turns\[1\].oracles`"),
        (CHECKPOINTS, "`checkpoints`"),
        (GOALS, "`goals`"),
        ("script: {answer: x}", "`script`"),
        (FAULTS, "`faults.f.oracles`"),
    ],
)
def test_what_states_an_expectation_that_nothing_judges_is_refused(scenario, text: str, word: str):
    with pytest.raises(UsageError, match=f"x: this version does not judge {word}"):
        refuse_unjudged(scenario(text), load_config())


def test_an_environment_that_is_not_there_is_refused(scenario):
    with pytest.raises(UsageError, match="there is no environment 'prod'"):
        refuse_unjudged(scenario("environment: prod"), load_config())


@pytest.mark.parametrize("text", ["", "input: a", "turns: [{input: a}]", "mocks: [{id: m, enabled: false}]"])
def test_what_states_none_is_not(scenario, text: str):
    refuse_unjudged(scenario(text), load_config())


def test_oracles_that_cannot_judge_are_told_all_at_once(scenario):
    with pytest.raises(UsageError) as caught:
        refuse_misfits(scenario("oracles: [{oracle: tool-caled}, {oracle: no-error}, {oracle: max-tool-calls, limit: many}]"))
    first, second = str(caught.value).splitlines()
    assert "did you mean tool-called" in first
    assert "limit" in second
    refuse_misfits(scenario("oracles: [{oracle: no-error}]"))
