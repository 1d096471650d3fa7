"""`replay check --json`, in the shape of INTERFACE.md.

`reason` and `code` stand only where the verdicts do not say why a recording has its status (errors, skipped and unasserted
ones) and, at the top, where no recording says why the gate is red.
"""

from __future__ import annotations

import json
from typing import Any

from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Decision, Result

__all__ = ["render"]


def render(decision: Decision) -> str:
    """ASCII alone, so that nothing in it can be obeyed by a terminal, nor fail to be written."""
    document: dict[str, Any] = {"passed": decision.passed, "counts": decision.counts}
    if decision.reason is not None:
        document["reason"] = decision.reason
    document["recordings"] = [_recording(result) for result in decision.results]
    return json.dumps(document, indent=2) + "\n"


def _recording(result: Result) -> dict[str, Any]:
    told = {"name": result.name, "path": result.path, "risk": result.risk, "status": result.status}
    why = {} if result.reason is None else {"reason": result.reason, "code": result.code}
    return {**told, **why, "verdicts": [_verdict(verdict) for verdict in result.verdicts]}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return verdict.model_dump(mode="json", exclude={"risk"})
