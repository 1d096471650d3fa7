from __future__ import annotations

import pytest

from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Judged, Problem, decide, parse_fail_on, problem
from wiretape.traces.errors import InvalidFile, StoreError, UsageError

LEVELS = ["low", "medium", "high", "critical"]
PASS = Verdict(oracle="no-error", status="passed", message="there was no error")
FAIL = Verdict(oracle="tool-called", status="failed", message="refund was not called")
SKIP = Verdict(oracle="tool-not-called", status="skipped", message="tools were not observed")


def judged(*verdicts: Verdict, **fields) -> Judged:
    return Judged(name="refund", path="recordings/refund.db", verdicts=verdicts, **fields)


def outcome(*of: Judged, **options) -> tuple[list[str], int]:
    decision = decide(of, **options)
    return [result.status for result in decision.results], decision.exit_code


@pytest.mark.parametrize("verdicts", [[PASS], [PASS, SKIP]])
def test_it_passes_a_recording_of_which_something_passed_and_nothing_failed(verdicts):
    assert outcome(judged(*verdicts)) == (["passed"], 0)


@pytest.mark.parametrize("verdicts", [[FAIL], [PASS, FAIL], [SKIP, FAIL]])
def test_it_fails_a_recording_of_which_something_failed(verdicts):
    assert outcome(judged(*verdicts)) == (["failed"], 1)


@pytest.mark.parametrize("risk", LEVELS)
@pytest.mark.parametrize(("fail_on", "reached"), [("any", LEVELS), *((level, LEVELS[n:]) for n, level in enumerate(LEVELS))])
def test_it_counts_failures_from_the_risk_that_fail_on_names(risk, fail_on, reached):
    assert outcome(judged(FAIL, risk=risk), fail_on=fail_on) == (["failed"], int(risk in reached))


def test_it_counts_failures_from_high_by_default():
    assert outcome(judged(FAIL, risk="medium")) == (["failed"], 0)
    assert outcome(judged(FAIL, risk="high")) == (["failed"], 1)


def test_it_takes_a_scenario_without_a_risk_for_high():
    assert outcome(judged(FAIL)) == (["failed"], 1)
    assert outcome(judged(FAIL), fail_on="critical") == (["failed"], 0)
    assert decide([judged(PASS)]).results[0].risk == "high"


@pytest.mark.parametrize(("scenario", "oracle", "code"), [("low", "critical", 1), ("critical", "low", 0), (None, "medium", 0)])
def test_it_lets_an_oracles_risk_override_the_scenarios(scenario, oracle, code):
    assert outcome(judged(FAIL.model_copy(update={"risk": oracle}), risk=scenario)) == (["failed"], code)


def test_it_does_not_let_the_risk_of_a_passed_verdict_count():
    assert outcome(judged(FAIL, PASS.model_copy(update={"risk": "critical"}), risk="low")) == (["failed"], 0)


@pytest.mark.parametrize("risk", ["low", "critical"])
def test_it_fails_an_unasserted_recording_whatever_the_risk(risk):
    decision = decide([judged(risk=risk)], "critical")
    assert (decision.results[0].status, decision.exit_code) == ("failed", 1)
    assert decision.results[0].code == "unasserted"


def test_it_passes_an_unasserted_recording_where_that_is_allowed():
    assert outcome(judged(), allow_unasserted=True) == (["passed"], 0)


def test_it_counts_the_checks_of_the_check_as_failures_and_not_as_assertions():
    drift = Verdict(oracle="trace-text", status="failed", message="the text differs from the evidence")
    matches = drift.model_copy(update={"status": "passed"})
    assert outcome(judged(PASS, checks=(drift,))) == (["failed"], 1)
    assert outcome(judged(checks=(drift,)), allow_unasserted=True) == (["failed"], 1)
    assert decide([judged(checks=(matches,))]).results[0].code == "unasserted"
    assert decide([judged(SKIP, checks=(matches,))]).results[0].code == "all_oracles_skipped"
    assert decide([judged(PASS, checks=(drift,))]).results[0].verdicts == (drift, PASS)


@pytest.mark.parametrize("risk", ["low", "critical"])
def test_it_fails_files_that_changed_whatever_the_risk(risk):
    drift = Verdict(oracle="trace-text", status="failed", message="the text differs from the evidence")
    assert outcome(judged(PASS, checks=(drift,), risk=risk), fail_on="critical") == (["failed"], 1)


@pytest.mark.parametrize(("error", "code"), [(2, "invalid_oracle"), (3, "oracle_broke")])
def test_it_makes_an_error_of_an_oracle_that_cannot_judge_whatever_the_risk(error, code):
    verdict = FAIL.model_copy(update={"error": error})
    decision = decide([judged(PASS, verdict, risk="low")], "critical")
    assert (decision.results[0].status, decision.results[0].code, decision.exit_code) == ("error", code, error)
    assert decision.results[0].verdicts == (PASS, verdict)


def test_it_makes_an_error_of_a_recording_whose_every_oracle_was_skipped():
    decision = decide([judged(SKIP, SKIP, risk="low")], "critical")
    assert (decision.results[0].status, decision.exit_code) == ("error", 3)
    assert decision.results[0].reason == "every oracle was skipped, so nothing was judged"


@pytest.mark.parametrize(
    ("error", "code", "exit_code"),
    [(InvalidFile("a.yaml", "no title", line=3), "invalid_file", 2), (StoreError("damaged"), "store", 3)],
)
def test_it_makes_an_error_of_what_cannot_be_read(error, code, exit_code):
    decision = decide([judged(FAIL, risk="low", problem=problem(error), not_executed="no docker here")], "critical")
    result = decision.results[0]
    assert (result.status, result.code, result.reason, decision.exit_code) == ("error", code, str(error), exit_code)


def test_it_skips_what_cannot_be_executed_here_and_passes_if_another_did():
    assert outcome(judged(PASS), judged(not_executed="no docker here")) == (["passed", "skipped"], 0)
    assert outcome(judged(SKIP, not_executed="no docker here"), judged(PASS)) == (["skipped", "passed"], 0)


@pytest.mark.parametrize(("number", "words"), [(1, "the recording was skipped"), (3, "all recordings were skipped")])
def test_it_is_red_where_all_were_skipped(number, words):
    decision = decide([judged(not_executed="no docker here")] * number)
    assert (decision.passed, decision.exit_code) == (False, 3)
    assert decision.reason == f"nothing was judged: {words}"


def test_it_is_red_where_there_was_nothing_to_check():
    decision = decide([])
    assert (decision.exit_code, decision.reason) == (3, "there was nothing to check")


def test_it_ends_with_the_highest_of_several_codes():
    broken = judged(problem=Problem(message="damaged"))
    invalid = judged(problem=Problem(message="no title", exit_code=2, code="invalid_file"))
    assert outcome(judged(PASS), judged(FAIL))[1] == 1
    assert outcome(judged(FAIL), invalid)[1] == 2
    assert outcome(broken, judged(FAIL), invalid)[1] == 3


def test_it_counts_what_became_of_them():
    of = [judged(PASS), judged(PASS), judged(FAIL), judged(not_executed="x"), judged(SKIP)]
    assert decide(of).counts == {"recordings": 5, "passed": 2, "failed": 1, "skipped": 1, "errors": 1}


@pytest.mark.parametrize("text", ["any", "low", " HIGH ", "critical"])
def test_it_reads_fail_on(text):
    assert parse_fail_on(text) == text.strip().lower()


def test_it_refuses_another_fail_on():
    with pytest.raises(UsageError, match="takes one of any, low, medium, high, critical, got 'severe'"):
        parse_fail_on("severe")
