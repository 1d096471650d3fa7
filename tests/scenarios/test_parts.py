from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ("capture: {redact: [{header: a, env: b}]}", "capture.redact[0]", "expected one of header, json, env; got header and"),
        ("capture: {redact: [{}]}", "capture.redact[0]", "got none"),
        ("capture: {redact: [{json: customer.email}]}", "capture.redact[0].json", "expected a JSONPath, which begins with $"),
        ("capture: {redact: [{json_path: $.a}]}", "capture.redact[0].json_path", "there is no such field; did you mean json?"),
        (
            "match: {volatile: [{json: '$.messages[0].id'}]}",
            "match.volatile[0].json",
            "`messages` is what a model reads, and no rule sets that aside",
        ),
        ("match: {volatile: [{url: x}]}", "match.volatile[0]", "expected one of json, header, query; got none"),
        ("match: {level: exakt}", "match.level", "did you mean exact?"),
        ("match: {pace: slow}", "match.pace", 'expected instant, recorded, or a factor from 0 to 1000, got "slow"'),
        ("match: {strict: yes}", "match.strict", 'expected true or false, got "yes"'),
        ("observe: {complete: [tool]}", "observe.complete[0]", "did you mean tools?"),
        ("tools: {a: readonly}", "tools.a", "did you mean read-only?"),
        ("probes: [{id: p}]", "probes[0]", "expected one of http, mcp, command; got none"),
        ("probes: [{id: p, mcp: {tool: t}}]", "probes[0].mcp", "expected one of url, command; got none"),
        ("probes: [{id: p, command: [x], exists: {status: 20}}]", "probes[0].exists.status", "expected at least 100, got"),
        ("mocks: [{id: m, scope: all}]", "mocks[0].scope", "there is no such field"),
        ("mocks: [{id: m, times: 0}]", "mocks[0].times", "expected at least 1, got the number 0"),
        ("faults: {f: {rules: []}}", "faults.f.rules", "expected at least 1 of them, got an empty list"),
        ("runs: {stable: 101}", "runs.stable", "expected at most 100, got the number 101"),
        ("runs: {count: 1.5}", "runs.count", "expected a whole number, got the number 1.5"),
        ("judge: {on_missing: pass}", "judge.on_missing", "expected one of skip, fail"),
        ("limits: {timeout: 60}", "limits.timeout", "expected a duration above 0 such as 500ms"),
        ("limits:", "limits", "expected a mapping, got nothing"),
        ("oracles: [no-error]", "oracles[0]", 'expected a mapping, got "no-error"'),
        ("oracles: [{tool: x}]", "oracles[0].oracle", "the field is required, but is not there"),
        ("oracles: [{oracle: x, risk: huge}]", "oracles[0].risk", "expected one of low, medium, high, critical"),
        ("oracles: {oracle: x}", "oracles", "expected a list, got a mapping"),
    ],
)  # fmt: skip
def test_it_refuses_what_does_not_fit_in_one_sentence(given, field, words, faults):
    found = faults(given)
    assert [(line, place) for line, place, _ in found] == [(3, field)]
    assert words in found[0][2]


def test_it_leaves_unknown_oracles_and_parameters_to_the_judging(scenario):
    use = scenario("oracles: [{oracle: not-yet-known, x: {y: [1]}, parameters: 2}]").oracles[0]
    assert (use.oracle, use.parameters) == ("not-yet-known", {"x": {"y": [1]}, "parameters": 2})
