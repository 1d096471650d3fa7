"""The job behind `replay check`: judge stored behaviour, with no agent and no provider, executing nothing that it finds.

For each recording: its files are whole, every request in it finds itself, its trace text is what the evidence shows, and then
the scenario's oracles. What cannot be judged is never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from wiretape.oracles import judge
from wiretape.oracles.base import Verdict
from wiretape.oracles.gate import Judged, Problem, problem
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import Evidence, load
from wiretape.scenarios.golden import Golden
from wiretape.scenarios.judging import refuse_unjudged
from wiretape.scenarios.subjects import Subject, subjects
from wiretape.traces.errors import StoreError, TechnicalError, WiretapeError
from wiretape.traces.exports.text import body, header, render
from wiretape.traces.types import Trace

__all__ = ["check"]


def check(paths: Sequence[Path], config: Config) -> tuple[Judged, ...]:
    """One for each recording and each scenario, in the order of their paths.

    TechnicalError where there is nothing to check, UsageError where a path is not there.
    """
    found = subjects(paths, Path(config["dir"]))
    if not found:
        places = ", ".join(map(str, paths))
        raise TechnicalError(f"nothing to check: there is no recording in {places}. Make one with `replay record NAME -- CMD`.")
    return tuple(_check(subject, config) for subject in found)


def _check(subject: Subject, config: Config) -> Judged:
    scenario = subject.scenario.scenario if subject.scenario else None
    place = subject.path if subject.fault else subject.golden.db
    judged = Judged(name=subject.name, path=str(place))
    if scenario:
        judged = judged.model_copy(update={"title": scenario.title or "", "risk": scenario.risk})
    try:
        return judged.model_copy(update=_found(subject, config))
    except WiretapeError as error:
        return judged.model_copy(update={"problem": problem(error)})
    except Exception as error:  # a bug met in one recording must not take the others' verdicts with it
        return judged.model_copy(update={"problem": _bug(error)})


def _found(subject: Subject, config: Config) -> dict[str, tuple[Verdict, ...]]:
    if subject.fault:
        raise subject.fault
    golden, scenario = subject.golden, subject.scenario.scenario if subject.scenario else None
    _refuse_missing(subject)
    refuse_unjudged(scenario, config)
    golden.refuse_unfinished()
    with load(str(golden.db), scenario) as evidence:
        trace = evidence.trace()
        checks = (_self_look_up(evidence), *_text(golden, evidence, trace))
    return {"checks": checks, "verdicts": tuple(judge(trace, use) for use in scenario.oracles) if scenario else ()}


def _refuse_missing(subject: Subject) -> None:
    golden = subject.golden
    if golden.db.is_file():
        return
    if golden.db.is_symlink():
        raise StoreError(f"{golden.db}: this link leads to no file, so nothing is judged. Restore what it names.")
    of = subject.path or golden.trace
    raise TechnicalError(f"{of}: its recording {golden.db.name} is not there, so nothing is judged. Record it.")


def _bug(error: Exception) -> Problem:
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return Problem(message=f"it could not be judged ({what}); this is a bug of wiretape, please report it", code="bug")


def _self_look_up(evidence: Evidence) -> Verdict:
    lost = evidence.lost()
    if lost:
        return Verdict(
            oracle="self-look-up", status="failed", message=f"{len(lost)} of its requests cannot be found again", evidence=lost
        )
    gaps = evidence.interrupted()
    besides = f", but for {len(gaps)} that {'was' if len(gaps) == 1 else 'were'} interrupted" if gaps else ""
    return Verdict(
        oracle="self-look-up", status="passed", message=f"every recorded request finds itself{besides}", evidence=gaps
    )


def _text(golden: Golden, evidence: Evidence, trace: Trace) -> Iterable[Verdict]:
    """The trace text against its evidence, where there is one."""
    kept = golden.text()
    if kept is None:
        return
    made = render(trace, evidence=evidence.digest())
    if body(kept) == body(made) and header(kept).get("evidence") == header(made)["evidence"]:
        yield Verdict(oracle="trace-text", status="passed", message="the trace text is what the evidence shows")
    else:
        yield _differing(golden, kept, made)


_CHANGED = "it is not what the evidence shows: one of them changed, or how the scenario reads it (observe, tools, answer)"


def _differing(golden: Golden, kept: str, made: str) -> Verdict:
    old, new = kept.splitlines(), made.splitlines()
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    line = f"line {at + 1}: {_at(old, at)!r} in the text, {_at(new, at)!r} in the evidence"
    other = any(header(kept).get(field) != header(made)[field] for field in ("wiretape-trace", "decoders"))
    why = "it was rendered by another version" if other else _CHANGED
    message = f"{golden.trace.name}: {why}. If the evidence is right, take its rendering: replay accept {golden.db}"
    return Verdict(oracle="trace-text", status="failed", message=message, evidence=(line,))


def _at(lines: list[str], at: int) -> str:
    return lines[at] if at < len(lines) else "(no line)"
