"""The job behind `replay run`: the command against its recording, offline; then its behaviour against the golden trace."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wiretape.oracles import Verdict, judge
from wiretape.proxy.clients import diagnosis
from wiretape.proxy.sidecar import Mode, SidecarSettings
from wiretape.replay.bindings import NONE, Binding
from wiretape.replay.matcher import Loose, Miss
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import load
from wiretape.scenarios.golden import Golden, beside, locate, replace_together
from wiretape.scenarios.judging import refuse_misfits, refuse_unjudged
from wiretape.scenarios.mocking import mock_settings
from wiretape.scenarios.model import Scenario
from wiretape.scenarios.renamed import renamed
from wiretape.scenarios.session import Ran, exit_code_of, new_writer, run_behind, with_secrets
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

    @property
    def folder(self) -> Path:
        return Path(self.config["dir"])


@dataclass(frozen=True)
class Report:
    """What came of a run; `as_json` has the shape of INTERFACE.md."""

    options: RunOptions
    exit_code: int
    recorded_exit_code: int
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
    def status(self) -> Literal["passed", "failed", "error"]:
        """It needs no oracle, since the comparison is its assertion; but of those that it has, one must have judged."""
        failed = any(verdict.status == "failed" for verdict in self.verdicts)
        ended = self.exit_code != self.recorded_exit_code
        if ended or self.misses or self.strays or self.differences or failed or (self.strict and self.unused):
            return "failed"
        return "error" if self._unjudged else "passed"

    @property
    def _unjudged(self) -> bool:
        return bool(self.verdicts) and all(verdict.status == "skipped" for verdict in self.verdicts)

    def problems(self) -> tuple[str, ...]:
        """A sentence for each thing that failed the run, the likeliest cause first; what follows from a miss only counted."""
        told = [*self._missed(), *(f"not offline: {stray}" for stray in self.strays), *self._differing()]
        told += (f"{each.oracle}: {each.message}" for each in self.verdicts if each.status == "failed")
        told += (f"{each.oracle} was skipped: {each.message}" for each in self.verdicts if each.status == "skipped")
        if self._unjudged:
            told.append("every oracle was skipped, so nothing was judged")
        if self.exit_code != self.recorded_exit_code:
            told.append(f"the command ended with {self.exit_code}; it ended with {self.recorded_exit_code} in the recording")
        return tuple(told)

    def _missed(self) -> Iterator[str]:
        """Each once, however often a client tried, with the remedy as it can be typed."""
        command = shlex.join(self.options.argv)
        meant = f"{self.options.recording} --update -- {command if len(command) < 200 and command.isprintable() else 'CMD'}"
        for message, times in Counter(miss.message for miss in self.misses).items():
            yield message.replace("NAME --update -- CMD", meant) + (f" (asked {times} times)" if times > 1 else "")

    def _differing(self) -> Iterator[str]:
        if (self.misses or self.strays) and self.differences:
            number = len(self.differences)
            yield f"what follows it differs too: {number} difference{'s' if number > 1 else ''} of behaviour (--json has them)"
        else:
            yield from (difference.message for difference in self.differences)

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
    golden, scenario = beside(options.recording, options.folder)
    golden.refuse_unfinished()
    refuse_unjudged(scenario, options.config)
    refuse_misfits(scenario)
    saved = _saved(options, golden)
    place = Path(tempfile.mkdtemp(prefix="wiretape-run-"))
    try:
        with load(options.recording, scenario, options.folder) as recorded:
            before, expected = recorded.trace(), sum(1 for exchange in recorded.exchanges() if not exchange.noise)
            redact = with_secrets(options.config.redact_settings(scenario))
        ran = _serve(options, scenario, redact, place / "run.db")
        if expected and ran.sidecar.capture.total == 0 and not ran.sidecar.tally.strays:
            raise CaptureError(_nothing_asked(ran, options))
        with load(str(place / "run.db"), scenario) as live:
            after = live.trace()
            report = _report(ran, before, after, scenario, options)
            if saved:
                replace_together({live.path: saved.db})
        return report
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _serve(options: RunOptions, scenario: Scenario | None, redact: RedactSettings, out: Path) -> Ran:
    match, capture = options.config.match_settings(scenario), options.config.capture_settings(scenario)
    path, name = locate(options.recording, options.folder)
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
        options=options,
        exit_code=ran.exit_code,
        recorded_exit_code=exit_code_of(before.recording),
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


def _nothing_asked(ran: Ran, options: RunOptions) -> str:
    if ran.exit_code:
        return f"the command ended with {ran.exit_code} before any request of it came through the proxy."
    return "\n".join(("nothing was asked: no request of the command came through the proxy.", *diagnosis(options.argv)))


def _saved(options: RunOptions, golden: Golden) -> Golden | None:
    """Where the run is kept. UsageError where that is no name, or is taken: said before the command runs."""
    if options.save is None:
        return None
    saved = Golden.at(golden.db.parent, options.save)
    if saved.exists():
        raise UsageError(f"{saved.db}: this recording exists; choose another name for --save.")
    return saved


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
