from __future__ import annotations

import re
from pathlib import Path

import pytest

from wiretape.oracles.base import OracleUse
from wiretape.scenarios.files import parse_scenario, parse_suite
from wiretape.scenarios.model import MODES
from wiretape.traces.settings import CaptureSettings, Level, MatchSettings, RedactRule, RedactSettings, Volatile

MODE_EXAMPLES = {
    "input": "input: hello",
    "turns": "turns: [{input: hello}]",
    "simulator": "simulator: {command: [user]}\ncheckpoints: [{id: a, oracle: {oracle: no-error}}]",
    "goals": "goals: {graph: {a: []}, details: [{name: a, tool: t}]}",
    "script": "script: {steps: [{kind: tool_call, tool: t}], answer: done}",
}


def test_it_reads_the_whole_format(whole):
    scenario = parse_scenario(whole, Path("recordings/refund.yaml")).scenario
    assert scenario.agent.versions["draft"].command == ("python", "agent.py", "--draft")
    assert (scenario.limits.timeout, scenario.limits.turn_timeout, scenario.interactive.timeout) == (300, 60, 300)
    assert scenario.turns[0].oracles == (
        OracleUse(oracle="tool-called", parameters={"tool": "get_order", "args": {"order": "A-17"}}),
    )
    assert scenario.oracles[1] == OracleUse(oracle="no-write-before", risk="critical", parameters={"tool": "ask_user"})
    assert [probe.id for probe in scenario.probes] == ["ledger", "db", "mcp"]
    assert scenario.faults["flaky-orders"].rules == ("orders-down",)


@pytest.mark.shared
def test_it_reads_the_example_of_the_format_itself():
    page = Path(__file__).parents[3] / "shared" / "scenario-format.md"
    if not page.exists():
        pytest.skip("the description of the format is not here")
    example = re.search(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert parse_scenario(example, Path("refund.yaml")).scenario.id == "refund.partial"


def test_it_needs_no_more_than_version_and_id(scenario):
    made = scenario()
    assert (made.risk, made.mode, made.oracles, made.agent, made.all_oracles()) == ("high", None, (), None, ())
    assert (made.limits.timeout, made.limits.turn_timeout, made.limits.max_turns) == (300, 60, 20)
    assert (made.on_missing_input, made.runs.count, made.runs.stable, made.judge.on_missing) == ("skip", 1, 100, "skip")


@pytest.mark.parametrize("mode", MODES)
def test_it_takes_each_way_of_driving_alone(mode, scenario):
    assert scenario(MODE_EXAMPLES[mode]).mode == mode


@pytest.mark.parametrize("second", MODES)
@pytest.mark.parametrize("first", MODES)
def test_it_refuses_two_ways_of_driving(first, second, faults):
    if first == second:
        return
    given = f"{MODE_EXAMPLES[first]}\n{MODE_EXAMPLES[second]}"
    earlier, later = sorted((first, second), key=MODES.index)
    assert [(field, problem) for _, field, problem in faults(given)] == [
        (later, f"`{earlier}` is there too; expected at most one of input, turns, simulator, goals, script")
    ]


def test_it_tells_two_ways_of_driving_even_where_they_do_not_fit_themselves(faults):
    assert [(line, field) for line, field, _ in faults("input: 5\nturns: [{inptu: x}]")] == [
        (3, "input"),
        (4, "turns"),
        (4, "turns[0].inptu"),
        (4, "turns[0].input"),
    ]


def test_it_wants_checkpoints_with_a_simulator_and_only_there(faults):
    assert faults("simulator: {command: [user]}") == [
        (3, "simulator", "a simulator needs `checkpoints`: what must be reached, in any order")
    ]
    assert faults("checkpoints: [{id: a, oracle: {oracle: no-error}}]") == [
        (3, "checkpoints", "checkpoints need a `simulator`; with turns, give each turn its `oracles`")
    ]


def test_it_refuses_checkpoints_that_nobody_can_reach(faults):
    found = faults("""\
        simulator: {command: [user]}
        checkpoints:
          - {id: a, after: [b], oracle: {oracle: no-error}}
          - {id: b, after: [a, gone], oracle: {oracle: no-error}}
          - {id: A, oracle: {oracle: no-error}}
    """)
    assert found == [
        (5, "checkpoints[0].after", "the checkpoint a waits for itself"),
        (6, "checkpoints[1].after[1]", "there is no checkpoint gone"),
        (7, "checkpoints[2].id", "there is a checkpoint A already"),
    ]


def test_it_refuses_ids_that_are_there_twice_and_rules_that_are_not_there(faults):
    found = faults("""\
        probes: [{id: p, command: [x]}, {id: P, command: [x]}]
        mocks:
          - {id: down}
          - {id: Down}
        faults:
          flaky: {rules: [down, up]}
    """)
    assert found == [
        (3, "probes[1].id", "there is one with the id P already"),
        (6, "mocks[1].id", "there is one with the id Down already"),
        (8, "faults.flaky.rules[1]", "there is no rule up in `mocks`"),
    ]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ('""', "expected some text"),
        ('" x"', "expected one line"),
        ('"a\\nb"', "expected one line"),
        ("5", "put it in quotes"),
        (f"{'x' * 201}", "at most 200 characters"),
    ],
)
def test_it_wants_an_id_of_one_line(name, problem):
    with pytest.raises(Exception, match=problem):
        parse_scenario(f"wiretape: 1\nid: {name}", Path("x.yaml"))


def test_it_compares_ids_without_case():
    first, second = (parse_scenario(f"wiretape: 1\nid: {name}", Path("x.yaml")).scenario for name in ("Refund.A", "refund.a"))
    assert first.key == second.key


def test_it_lays_what_it_says_about_matching_over_the_settings(scenario):
    base = MatchSettings(level=Level.EXACT, exhausted="repeat-last", volatile=(Volatile(query="t"),), pace=0.5)
    made = scenario("match: {strict: true, volatile: [{header: x-id}]}").match_settings(base)
    assert (made.level, made.exhausted, made.strict, made.pace) == (Level.EXACT, "repeat-last", True, 0.5)
    assert made.volatile == (Volatile(query="t"), Volatile(header="x-id"))
    assert scenario("match: {level: canonical, pace: recorded}").match_settings().level is Level.CANONICAL


def test_it_adds_its_hosts_and_secrets_to_the_settings(scenario):
    made = scenario("capture: {ignore: [a], noise: [b], redact: [{json: $.x}, {env: KEY}]}")
    capture = made.capture_settings(CaptureSettings(ignore=("c",), deny_hosts=("d",)))
    assert (capture.ignore, capture.noise, capture.deny_hosts) == (("c", "a"), ("b",), ("d",))
    redact = made.redact_settings(RedactSettings(mode="strict", rules=(RedactRule(header="h"),)))
    assert (redact.mode, redact.rules) == (
        "strict",
        (RedactRule(header="h"), RedactRule(json_path="$.x"), RedactRule(env="KEY")),
    )


def test_it_says_how_its_exchanges_become_a_trace(whole):
    made = parse_scenario(whole, Path("refund.yaml")).scenario
    settings = made.trace_settings()
    assert settings.observe.complete == ("tools", "approvals")
    assert (settings.answer.tools_include, settings.answer.tools) == ("refund", ("final_result",))
    assert settings.tools == {"get_order": "read-only", "refund": "destructive", "ask_user": "read-only"}
    assert settings.input == "Refund the mug in A-17, note"
    assert made.trace_settings("Refund the mug in A-17, note r1").input == "Refund the mug in A-17, note r1"


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("", None),
        ("input: hi", "hi"),
        ("turns: [{input: a}, {input: b}]", "a"),
        (MODE_EXAMPLES["simulator"].replace("[user]", "[user], initial: hey"), "hey"),
    ],
)
def test_it_knows_its_first_input(given, first, scenario):
    made = scenario(given)
    assert (made.first_input, made.trace_settings().input) == (first, first)


def test_it_counts_the_oracles_of_turns_and_checkpoints_too(scenario):
    turns = scenario("turns: [{input: a, oracles: [{oracle: no-error}]}]\noracles: [{oracle: tool-declared}]")
    assert [use.oracle for use in turns.all_oracles()] == ["tool-declared", "no-error"]
    assert [use.oracle for use in scenario(MODE_EXAMPLES["simulator"]).all_oracles()] == ["no-error"]


def test_it_applies_a_suites_defaults_where_a_scenario_says_nothing(scenario):
    suite = parse_suite(
        "wiretape: 1\nsuite: s\nscenarios: [a.yaml]\n"
        "defaults: {risk: low, limits: {timeout: 1m, max_turns: 3}, oracles: [{oracle: no-error}], agent: {command: [x]}}",
        Path("s.yaml"),
    ).suite
    made = suite.applied(scenario("limits: {max_turns: 9}\nagent: {via: http, url: http://x}"))
    assert (made.risk, made.limits.timeout, made.limits.max_turns, made.limits.turn_timeout) == ("low", 60, 9, 60)
    assert (made.agent.via, made.agent.command) == ("http", None)
    assert [use.oracle for use in made.oracles] == ["no-error"]
    assert suite.applied(scenario("risk: critical\noracles: []")).oracles == ()


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ("scenarios: []", "scenarios", "expected at least 1 of them, got an empty list"),
        ("scenarios: [a.yaml, A.yaml]", "scenarios[1]", "A.yaml is in the suite already"),
        ("scenarios: [a.yaml]\ndefaults: {id: x}", "defaults.id", "there is no such field"),
        ("scenarios: [a.yaml]\ndefaults: {turns: []}", "defaults.turns", "there is no such field"),
        ("scenarios: a.yaml", "scenarios", 'expected a list, got "a.yaml"'),
    ],
)  # fmt: skip
def test_it_refuses_a_suite_that_does_not_fit(more, field, words):
    with pytest.raises(Exception, match=re.escape(f"{field}: {words}")):
        parse_suite(f"wiretape: 1\nsuite: s\n{more}", Path("s.yaml"))
