"""Decisions to report on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Decision, Judged, Problem, decide

PASSED = Verdict(oracle="no-error", status="passed", message="there was no error")
FAILED = Verdict(
    oracle="tool-called", status="failed", message="refund was not called", evidence=("called were get_order",), steps=(2, 5)
)
SKIPPED = Verdict(oracle="tool-not-called", status="skipped", message="shell was not called, but tools were not observed")


@pytest.fixture
def mixed() -> Decision:
    """One of each status; the failed one with a verdict of each."""
    return decide(
        [
            Judged(name="hello", path="r/hello.db", title="Says hello", verdicts=(PASSED, SKIPPED)),
            Judged(name="docker", path="r/docker.db", not_executed="there is no docker here"),
            Judged(name="refund", path="r/refund.db", title="Refunds one item", verdicts=(FAILED, SKIPPED, PASSED)),
            Judged(name="broken", path="r/broken.db", problem=Problem(message="r/broken.db is damaged", code="store")),
            Judged(name="bare", path="r/bare.db", risk="low"),
        ]
    )


@pytest.fixture
def hostile() -> Callable[[str], Decision]:
    """The same text wherever a recording's or a scenario's own words can stand."""

    def make(text: str) -> Decision:
        verdict = Verdict(oracle=text, status="failed", message=text, evidence=(text,), steps=(1,))
        return decide(
            [
                Judged(name=text, path=text, title=text, verdicts=(verdict,)),
                Judged(name=text, path=text, title=text, problem=Problem(message=text)),
                Judged(name=text, path=text, title=text, not_executed=text),
            ]
        )

    return make


@pytest.fixture
def low() -> Decision:
    return decide([Judged(name="refund", path="r/refund.db", risk="low", verdicts=(FAILED,))])


@pytest.fixture
def many() -> Callable[[int], Decision]:
    """So many failed recordings with nine verdicts each, and thirty that passed."""

    def make(number: int) -> Decision:
        verdict = FAILED.model_copy(update={"evidence": tuple(f"piece {n}" for n in range(9)), "steps": tuple(range(1, 20))})
        failed = [Judged(name=f"f{n}", path=f"r/f{n}.db", verdicts=(verdict,) * 9) for n in range(number)]
        return decide([*failed, *(Judged(name=f"p{n}", path=f"r/p{n}.db", verdicts=(PASSED,)) for n in range(30))])

    return make


@pytest.fixture
def nothing() -> Decision:
    return decide([])
