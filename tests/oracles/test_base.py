from __future__ import annotations

import pytest
from pydantic import Field

from wiretape.oracles import ORACLES, OracleUse, judge
from wiretape.oracles.base import Check, Finding, NoParameters, Parameters, canonical_name, failed, passed, short


def _breaks(trace, _):
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize("name", ["tool-called", "tool_called", "toolCalled", "ToolCalled", "Tool-Called", " TOOL_CALLED "])
def test_it_takes_every_spelling_of_a_name(name):
    assert canonical_name(name) == "tool-called"


@pytest.mark.parametrize("name", ["final_answer_contains", "finalAnswerContains"])
def test_it_judges_by_an_alias_and_reports_the_kebab_name(name, trace, answer):
    verdict = judge(trace(answer("done")), OracleUse(oracle=name, parameters={"value": "done"}))
    assert (verdict.oracle, verdict.status) == ("final-answer-contains", "passed")


def test_it_fails_an_unknown_oracle_naming_the_nearest(trace):
    verdict = judge(trace(), OracleUse(oracle="tool-caled"))
    assert (verdict.oracle, verdict.status) == ("tool-caled", "failed")
    assert verdict.message.startswith('there is no oracle called "tool-caled"; did you mean tool-called or ')


def test_it_names_all_oracles_where_none_is_near(trace):
    message = judge(trace(), OracleUse(oracle="zzz")).message
    assert all(name in message for name in ORACLES)


def test_it_fails_an_unknown_parameter_and_says_which_there_are(trace):
    verdict = judge(trace(), OracleUse(oracle="tool-not-called", parameters={"tool": "shell", "tol": 1}))
    assert verdict.status == "failed"
    assert verdict.message == 'tool-not-called: unknown parameter "tol": it takes case, tool'


def test_it_says_so_where_an_oracle_takes_no_parameters(trace):
    verdict = judge(trace(), OracleUse(oracle="no-error", parameters={"limit": 1}))
    assert verdict.message == 'no-error: unknown parameter "limit": it takes no parameters'


def test_it_fails_a_missing_parameter(trace):
    verdict = judge(trace(), OracleUse(oracle="tool-called"))
    assert verdict.message == "tool-called: the parameter tool is missing: expected the name of a tool"


def test_it_tells_all_misfits_in_one_sentence(trace):
    verdict = judge(trace(), OracleUse(oracle="max-tool-calls", parameters={"limit": "4", "max": 3}))
    assert verdict.status == "failed"
    assert verdict.message == (
        'max-tool-calls: parameter limit: expected a whole number from 0, got "4"; unknown parameter "max": it takes limit'
    )


def test_it_turns_an_oracle_that_raises_into_a_failed_verdict(trace):
    verdict = judge(trace(), OracleUse(oracle="broken"), {"broken": Check("broken", NoParameters, _breaks)})
    assert verdict.status == "failed"
    assert verdict.message.startswith("broken broke on this trace (ZeroDivisionError: division by zero)")


def test_it_judges_with_the_table_that_it_is_given(trace):
    verdict = judge(trace(), OracleUse(oracle="tool-called"), {"mine": Check("mine", NoParameters, _breaks)})
    assert verdict.message == 'there is no oracle called "tool-called"; known are mine'


@pytest.mark.parametrize("name", ["no-error", "unknown", "tool-called"])
def test_it_hands_the_risk_of_the_use_on_whatever_becomes_of_it(name, trace):
    assert judge(trace(), OracleUse(oracle=name, risk="low")).risk == "low"


def test_it_sorts_the_steps_and_names_each_once(trace):
    check = Check("mine", NoParameters, lambda trace, _: failed("no", steps=(3, 1, 3)))
    assert judge(trace(), OracleUse(oracle="mine"), {"mine": check}).steps == (1, 3)


def test_it_hands_parameters_over_as_the_frozen_model():
    class Mine(Parameters):
        limit: int = Field(description="a number")

    seen: list[Mine] = []

    def check(trace, wanted: Mine) -> Finding:
        seen.append(wanted)
        return passed("yes")

    Check("mine", Mine, check).judge(None, {"limit": 2})  # type: ignore[arg-type]  # the check looks at no trace
    assert seen == [Mine(limit=2)]


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [("é", 10, '"é"'), ({"a": 1}, 10, '{"a": 1}'), ("x" * 20, 10, '"' + "x" * 8 + "…"), ("\n", 10, '"\\n"')],
)
def test_it_shortens_evidence_to_one_line(value, limit, text):
    assert short(value, limit) == text
