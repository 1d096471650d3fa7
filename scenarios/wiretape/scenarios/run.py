"""The job behind `replay run`: the command against its recording, offline; then its behaviour against the golden trace."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wiretape.oracles import Verdict, judge
from wiretape.proxy.clients import diagnosis
from wiretape.proxy.sidecar import Mode, SidecarSettings
from wiretape.replay.bindings import NONE, Binding
from wiretape.replay.matcher import Loose, Miss
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import Evidence, load
from wiretape.scenarios.golden import Golden, beside, locate, replace_together
from wiretape.scenarios.mocking import mock_settings
from wiretape.scenarios.model import Scenario
from wiretape.scenarios.renamed import renamed
from wiretape.scenarios.session import Ran, new_writer, run_behind, with_secrets
from wiretape.traces.diff import Difference, diff
from wiretape.traces.errors import CaptureError, UsageError
from wiretape.traces.settings import RedactSettings
from wiretape.traces.types import Trace

__all__ = ["Report", "RunOptions", "run"]


@dataclass(frozen=True)
class RunOptions:
    recording: str
    argv: Sequence[str]
    config: Config
    save: str | None = None


@dataclass(frozen=True)
class Report:
    """What came of a run; `as_json` has the shape of INTERFACE.md."""

    exit_code: int
    served: int
    unused: tuple[int, ...]
    noise: int
    levels: dict[str, int]
    misses: tuple[Miss, ...]
    strays: tuple[str, ...]
    """What came through the proxy and could not even be looked up."""
    differences: tuple[Difference, ...]
    verdicts: tuple[Verdict, ...]
    strict: bool
    bindings: tuple[Binding, ...] = ()
    loose: tuple[Loose, ...] = ()
    """What matched below canonical, and why; drift among it."""

    @property
    def status(self) -> Literal["passed", "failed"]:
        failed = any(verdict.status == "failed" for verdict in self.verdicts)
        unused = self.strict and self.unused
        return "failed" if self.exit_code or self.misses or self.strays or self.differences or failed or unused else "passed"

    def problems(self) -> tuple[str, ...]:
        """A sentence for each thing that failed the run, the likeliest cause first."""
        ended = (f"the command ended with {self.exit_code}",) if self.exit_code else ()
        verdicts = (f"{each.oracle}: {each.message}" for each in self.verdicts if each.status == "failed")
        return (
            *(miss.message for miss in self.misses),
            *(f"not offline: {stray}" for stray in self.strays),
            *(difference.message for difference in self.differences),
            *verdicts,
            *ended,
        )

    def drift(self) -> tuple[Difference, ...]:
        """What `--allow-drift` let pass: told as differences, which fail nothing."""
        return tuple(_drifted(each) for each in self.loose if each.drift)

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "exit_code": self.exit_code,
            "exchanges": {
                "served": self.served,
                "unused": len(self.unused),
                "missed": len(self.misses) + len(self.strays),
                "noise": self.noise,
            },
            "levels": self.levels,
            "misses": [
                *(_miss(miss) for miss in self.misses),
                *({"message": stray, "nearest": None, "differences": []} for stray in self.strays),
            ],
            "matches": [{"exchange": each.seq, "level": each.level, "because": list(each.because)} for each in self.loose],
            "bindings": [{"kind": each.kind, "recorded": each.recorded, "live": each.live} for each in self.bindings],
            "differences": [_difference(difference) for difference in (*self.differences, *self.drift())],
            "verdicts": [verdict.model_dump(mode="json") for verdict in self.verdicts],
        }


def run(options: RunOptions) -> Report:
    """UsageError where the recording is not there, StoreError where it is damaged, CaptureError where nothing was asked."""
    golden, scenario = beside(options.recording)
    golden.refuse_unfinished()
    place = Path(tempfile.mkdtemp(prefix="wiretape-run-"))
    try:
        with load(options.recording, scenario) as recorded:
            before, expected = recorded.trace(), sum(1 for exchange in recorded.exchanges() if not exchange.noise)
            redact = with_secrets(options.config.redact_settings(scenario))
        ran = _serve(options, scenario, redact, place / "run.db")
        if expected and ran.sidecar.capture.total == 0:
            reasons = diagnosis(options.argv)
            raise CaptureError("\n".join(("nothing was asked: no request of the command came through the proxy.", *reasons)))
        with load(str(place / "run.db"), scenario) as live:
            after = live.trace()
            report = _report(ran, before, after, scenario, options)
            _save(options, live, golden)
        return report
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _serve(options: RunOptions, scenario: Scenario | None, redact: RedactSettings, out: Path) -> Ran:
    match, capture = options.config.match_settings(scenario), options.config.capture_settings(scenario)
    path, name = locate(options.recording)
    place = Path(f"{path}#{name}" if name else path)
    mocks = mock_settings(scenario, path.with_suffix(".yaml"), options.config)
    writer = new_writer(out, "run", redact, {})
    settings = SidecarSettings(Mode.REPLAY, place, capture=capture, match=match, redact=redact, mocks=mocks)
    return run_behind(settings, writer, options.argv)


def _report(ran: Ran, before: Trace, after: Trace, scenario: Scenario | None, options: RunOptions) -> Report:
    tally, matcher = ran.sidecar.tally, ran.sidecar.matcher
    assert matcher is not None
    bindings = NONE.plus(matcher.bindings())
    as_recorded = renamed(after, bindings.inverse())
    return Report(
        exit_code=ran.exit_code,
        served=tally.served,
        unused=matcher.unused(),
        noise=tally.noise,
        levels=dict(tally.levels),
        misses=tuple(tally.misses),
        strays=tally.strays,
        differences=diff(renamed(before, bindings), after),
        verdicts=tuple(judge(as_recorded, use) for use in scenario.oracles) if scenario else (),
        strict=options.config.match_settings(scenario).strict,
        bindings=tuple(bindings),
        loose=tuple(dict.fromkeys(matcher.loose)),
    )


def _drifted(match: Loose) -> Difference:
    places = "; ".join(f"{each.path}: recorded {each.recorded}, live {each.live}" for each in match.drift)
    return Difference(
        kind="drift",
        recorded={each.path: each.recorded for each in match.drift},
        live={each.path: each.live for each in match.drift},
        message=f"drift: exchange {match.seq} answered a request that differs in {places}",
    )


def _save(options: RunOptions, live: Evidence, golden: Golden) -> None:
    if options.save is None:
        return
    saved = Golden.at(golden.db.parent, options.save)
    if saved.exists():
        raise UsageError(f"{saved.db}: this recording exists; choose another name for --save.")
    replace_together({live.path: saved.db})


def _miss(miss: Miss) -> dict[str, Any]:
    return {
        "message": miss.message,
        "nearest": miss.nearest,
        "differences": [{"path": each.path, "recorded": each.recorded, "live": each.live} for each in miss.differences],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "step": difference.step,
        "recorded": difference.recorded,
        "live": difference.live,
        "message": difference.message,
    }
