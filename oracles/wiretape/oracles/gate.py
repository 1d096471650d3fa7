"""From verdicts to an exit code (DESIGN.md §7), as pure values.

Of a recording, the first that holds: its files cannot be judged, an oracle that its scenario names does not exist, takes other
parameters or broke, or every oracle was skipped → error; its scenario cannot be executed here → skipped; its files are not what
they were → failed; no oracle judges it → failed as unasserted; something failed → failed; else passed.

Of the gate: an error counts with its own exit code, and files that changed and an unasserted recording with 1, whatever the
risk and `--fail-on`; a failed oracle counts with 1 where its risk reaches `--fail-on`; the highest wins. Nothing to check and
all skipped are 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

from wiretape.oracles.base import Frozen, Risk, Status, Verdict
from wiretape.traces.errors import UsageError, WiretapeError

__all__ = ["Decision", "FailOn", "Judged", "Problem", "Result", "decide", "parse_fail_on", "problem"]

type FailOn = Literal["any", "low", "medium", "high", "critical"]

_ORDER: tuple[FailOn, ...] = get_args(FailOn.__value__)
_DEFAULT_RISK: Risk = "high"
"""Of a scenario that names none."""


class Problem(Frozen):
    """Why a recording could not be judged."""

    message: str
    exit_code: Literal[2, 3] = 3
    code: str = "technical"
    """The finer word for machines."""


class Judged(Frozen):
    """What was found out about one recording, before the gate."""

    name: str
    path: str
    title: str = ""
    risk: Risk | None = None
    verdicts: tuple[Verdict, ...] = ()
    """Of the scenario's oracles; empty: unasserted."""
    checks: tuple[Verdict, ...] = ()
    """Of the check itself (the trace text against the evidence …): whether the files are whole is no oracle, so these fail a
    recording whatever its risk, and assert nothing."""
    problem: Problem | None = None
    not_executed: str | None = None
    """Why its scenario cannot be executed here."""


class Result(Frozen):
    """What became of one recording."""

    name: str
    path: str
    title: str = ""
    risk: Risk
    status: Literal[Status, "error"]
    verdicts: tuple[Verdict, ...] = ()
    """The check's own first, then the oracles'."""
    reason: str | None = None
    """Where the verdicts do not say why: a sentence, and its word for machines beside it."""
    code: str | None = None
    exit_code: int = 0
    """What it adds to the gate; 0 for a failure below `--fail-on`."""


class Decision(Frozen):
    """The gate over all recordings."""

    results: tuple[Result, ...]
    fail_on: FailOn
    exit_code: int
    reason: str | None = None
    """Where no single recording says why: nothing to check, or all skipped."""

    @property
    def passed(self) -> bool:
        return self.exit_code == 0

    @property
    def counts(self) -> dict[str, int]:
        """As in `replay check --json`."""
        of = Counter(result.status for result in self.results)
        told = {"passed": of["passed"], "failed": of["failed"], "skipped": of["skipped"], "errors": of["error"]}
        return {"recordings": len(self.results), **told}


def decide(judged: Iterable[Judged], fail_on: FailOn = "high", *, allow_unasserted: bool = False) -> Decision:
    results = tuple(_result(each, fail_on, allow_unasserted) for each in judged)
    reason = None
    if not results:
        reason = "there was nothing to check"
    elif all(result.status == "skipped" for result in results):
        reason = f"nothing was judged: {'the recording was' if len(results) == 1 else 'all recordings were'} skipped"
    exit_code = 3 if reason else max(result.exit_code for result in results)
    return Decision(results=results, fail_on=fail_on, exit_code=exit_code, reason=reason)


def parse_fail_on(text: str) -> FailOn:
    """Raises UsageError."""
    for level in _ORDER:
        if level == text.strip().lower():
            return level
    raise UsageError(f"--fail-on takes one of {', '.join(_ORDER)}, got {text!r}")


def problem(error: WiretapeError) -> Problem:
    """Of what went wrong while a recording or its scenario was read."""
    return Problem(message=str(error), exit_code=2 if error.exit_code == 2 else 3, code=error.code)


def _result(judged: Judged, fail_on: FailOn, allow_unasserted: bool) -> Result:
    failure = judged.problem or _unjudged(judged)
    if failure is not None:
        return _end(judged, "error", failure.message, failure.code, failure.exit_code)
    if judged.not_executed is not None:
        return _end(judged, "skipped", judged.not_executed, "not_executed", 0)
    broken = any(check.status == "failed" for check in judged.checks)
    if not judged.verdicts and not allow_unasserted:
        return _end(judged, "failed", _UNASSERTED, "unasserted", 1)
    wrong = [verdict for verdict in judged.verdicts if verdict.status == "failed"]
    reached = any(_reaches(verdict.risk or judged.risk or _DEFAULT_RISK, fail_on) for verdict in wrong)
    return _end(judged, "failed" if broken or wrong else "passed", None, None, int(broken or reached))


_UNASSERTED = "no oracle judges it: give its scenario at least one, or allow it with --allow-unasserted"


def _unjudged(judged: Judged) -> Problem | None:
    faults = [verdict for verdict in judged.verdicts if verdict.error]
    if faults:
        broke = any(verdict.error == 3 for verdict in faults)
        message = f"{len(faults)} of its oracles cannot judge" if len(faults) > 1 else "one of its oracles cannot judge"
        return Problem(message=message, exit_code=3 if broke else 2, code="oracle_broke" if broke else "invalid_oracle")
    executed = judged.not_executed is None
    if executed and judged.verdicts and all(verdict.status == "skipped" for verdict in judged.verdicts):
        return Problem(message="every oracle was skipped, so nothing was judged", code="all_oracles_skipped")
    return None


def _reaches(risk: Risk, fail_on: FailOn) -> bool:
    return _ORDER.index(risk) >= _ORDER.index(fail_on)


def _end(judged: Judged, status: Literal[Status, "error"], reason: str | None, code: str | None, exit_code: int) -> Result:
    return Result(
        name=judged.name,
        path=judged.path,
        title=judged.title,
        risk=judged.risk or _DEFAULT_RISK,
        status=status,
        verdicts=(*judged.checks, *judged.verdicts),
        reason=reason,
        code=code,
        exit_code=exit_code,
    )
