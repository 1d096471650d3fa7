"""The job behind `replay check`: judge stored behaviour, with no agent and no provider, executing nothing that it finds.

For each recording: its files are whole, every request in it finds itself, its trace text is what the evidence shows, and then
the scenario's oracles. What cannot be judged is never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from wiretape.oracles import judge
from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Judged, problem
from wiretape.scenarios.evidence import Evidence, load
from wiretape.scenarios.files import ScenarioFile, read_scenario, refuse_repeated_ids
from wiretape.scenarios.golden import Golden, databases
from wiretape.traces.errors import TechnicalError, WiretapeError
from wiretape.traces.exports.text import body, header, render
from wiretape.traces.types import Trace

__all__ = ["check"]

type _Found = ScenarioFile | WiretapeError | None
"""A scenario, why it does not fit, or that there is none."""


def check(paths: Sequence[Path]) -> tuple[Judged, ...]:
    """One for each recording, in the order of their paths; also for a scenario whose recording is not there.

    TechnicalError where there is nothing to check, UsageError where a path is not there.
    """
    goldens = _goldens(paths)
    if not goldens:
        places = ", ".join(map(str, paths))
        raise TechnicalError(f"nothing to check: there is no recording in {places}. Make one with `replay record NAME -- CMD`.")
    scenarios = _unique({golden.yaml: _scenario(golden) for golden in goldens})
    return tuple(_check(golden, scenarios[golden.yaml]) for golden in goldens)


def _goldens(paths: Sequence[Path]) -> list[Golden]:
    found = dict.fromkeys(Golden(path.parent, path.stem) for path in databases(paths))
    for path in paths:
        if path.is_dir():
            found |= dict.fromkeys(Golden(each.parent, each.stem) for each in sorted(path.rglob("*.yaml")))
    return sorted(found, key=lambda golden: (golden.folder, golden.name))


def _scenario(golden: Golden) -> _Found:
    if not golden.yaml.exists():
        return None
    try:
        return read_scenario(golden.yaml)
    except WiretapeError as error:
        return error


def _unique(scenarios: dict[Path, _Found]) -> dict[Path, _Found]:
    """The same, where an id that another file has already is a fault of the later file."""
    known: list[ScenarioFile] = []
    out = dict(scenarios)
    for path, found in scenarios.items():
        if isinstance(found, ScenarioFile):
            try:
                refuse_repeated_ids([*known, found])
                known.append(found)
            except WiretapeError as error:
                out[path] = error
    return out


def _check(golden: Golden, found: _Found) -> Judged:
    if isinstance(found, WiretapeError):
        return Judged(name=golden.name, path=str(golden.yaml), problem=problem(found))
    scenario = found.scenario if found else None
    title, risk = (scenario.title or "", scenario.risk) if scenario else ("", None)
    judged = Judged(name=golden.name, path=str(golden.db), title=title, risk=risk)
    try:
        if not golden.exists():
            raise TechnicalError(
                f"{golden.yaml}: its recording {golden.db.name} is not there, so nothing is judged. Record it."
            )
        golden.refuse_unfinished()
        with load(str(golden.db), scenario) as evidence:
            trace = evidence.trace()
            checks = (_self_look_up(evidence), *_text(golden, evidence, trace))
        verdicts = tuple(judge(trace, use) for use in scenario.oracles) if scenario else ()
        return judged.model_copy(update={"checks": checks, "verdicts": verdicts})
    except WiretapeError as error:
        return judged.model_copy(update={"problem": problem(error)})


def _self_look_up(evidence: Evidence) -> Verdict:
    lost = evidence.lost()
    if lost:
        return Verdict(
            oracle="self-look-up", status="failed", message=f"{len(lost)} requests do not find themselves", evidence=lost
        )
    return Verdict(oracle="self-look-up", status="passed", message="every recorded request finds itself")


def _text(golden: Golden, evidence: Evidence, trace: Trace) -> Iterable[Verdict]:
    """The trace text against its evidence, where there is one."""
    if not golden.trace.exists():
        return
    kept = golden.trace.read_text(encoding="utf-8")
    made = render(trace, evidence=evidence.digest())
    if body(kept) == body(made) and header(kept).get("evidence") == header(made)["evidence"]:
        yield Verdict(oracle="trace-text", status="passed", message="the trace text is what the evidence shows")
    else:
        yield _differing(golden, kept, made)


def _differing(golden: Golden, kept: str, made: str) -> Verdict:
    old, new = kept.splitlines(), made.splitlines()
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    line = f"line {at + 1}: {_at(old, at)!r} in the text, {_at(new, at)!r} in the evidence"
    other = any(header(kept).get(field) != header(made)[field] for field in ("wiretape-trace", "decoders"))
    why = "it was rendered by another version" if other else "it does not show what the evidence shows"
    message = f"{golden.trace.name}: {why}. If the evidence is right, take its rendering: replay accept {golden.db}"
    return Verdict(oracle="trace-text", status="failed", message=message, evidence=(line,))


def _at(lines: list[str], at: int) -> str:
    return lines[at] if at < len(lines) else "(no line)"
