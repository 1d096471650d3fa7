"""The job behind `replay record`: run a command, keep what passed as the golden recording of that name."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretape.proxy.clients import diagnosis
from wiretape.proxy.sidecar import Mode, SidecarSettings
from wiretape.scenarios.config import Config
from wiretape.scenarios.draft import draft
from wiretape.scenarios.evidence import Evidence, load
from wiretape.scenarios.files import load_scenario
from wiretape.scenarios.golden import Golden, replace_together
from wiretape.scenarios.mocking import mock_settings
from wiretape.scenarios.model import Scenario
from wiretape.scenarios.session import EXIT_CODE, Ran, exit_code_of, new_writer, run_behind, with_secrets
from wiretape.traces.diff import Difference, diff
from wiretape.traces.errors import CaptureError, StoreError, UsageError, WiretapeError
from wiretape.traces.exports.text import render
from wiretape.traces.types import End, Exchange, ModelCall, RecordingStatus, ToolCall, Trace

__all__ = ["RecordOptions", "Recorded", "record"]


@dataclass(frozen=True)
class RecordOptions:
    name: str
    argv: Sequence[str]
    config: Config
    update: bool = False

    @property
    def folder(self) -> Path:
        return Path(self.config["dir"])


@dataclass(frozen=True)
class Recorded:
    """What was recorded; `exit_code` is what the command should end with."""

    exit_code: int
    summary: tuple[str, ...]
    differences: tuple[Difference, ...] = ()
    """Of the new recording from the one that it replaced."""


def record(options: RecordOptions) -> Recorded:
    """UsageError where the name exists (without `update`) or the command does not; CaptureError where nothing was kept."""
    golden = Golden.at(options.folder, options.name)
    if golden.exists() and not options.update:
        raise UsageError(
            f"{golden.db}: this recording exists. Add --update to record it anew and replace it, or choose another name."
        )
    if options.update and not golden.exists():
        raise UsageError(f"{golden.db}: there is no recording to update. Leave out --update to make it.")
    if EXIT_CODE in options.config["label"]:
        raise UsageError(f"--label {EXIT_CODE}: wiretape keeps the command's exit code under this name; choose another.")
    scenario = load_scenario(golden.yaml) if golden.yaml.exists() else None
    if options.update:
        return _update(options, golden, scenario)
    return _first(options, golden, scenario)


def _first(options: RecordOptions, golden: Golden, scenario: Scenario | None) -> Recorded:
    ran = _run(options, golden.db, scenario)
    problem = _problem(ran, options.argv)
    if ran.sidecar.capture.total == 0:
        golden.db.unlink(missing_ok=True)
        return _failed(ran, problem)
    with load(str(golden.db), scenario) as evidence:
        trace = evidence.trace()
        golden.trace.write_text(render(trace, evidence=evidence.digest()), encoding="utf-8")
        drafted = () if scenario else (_next_step(golden),)
        if scenario is None:
            golden.yaml.write_text(draft(options.name, trace, options.argv, golden.yaml.parent), encoding="utf-8")
        faults = (*problem, *_faults(evidence))
        summary = _summary(golden, evidence, trace, ran)
    return Recorded(ran.exit_code or (3 if faults else 0), (*summary, *faults, *drafted))


def _update(options: RecordOptions, golden: Golden, scenario: Scenario | None) -> Recorded:
    """Record beside, verify, then replace all files at once; anything wrong leaves the old recording as it was."""
    before = _before(golden, scenario)
    beside = Path(tempfile.mkdtemp(prefix=f".{options.name}-", dir=options.folder))
    try:
        ran = _run(options, beside / f"{options.name}.db", scenario)
        problem = _problem(ran, options.argv)
        if problem or ran.exit_code not in (0, exit_code_of(before.recording)):
            return _failed(ran, (*problem, f"{golden.db} was left as it is."))
        with load(str(beside / f"{options.name}.db"), scenario) as evidence:
            if faults := _faults(evidence):
                return _failed(ran, (*faults, f"{golden.db} was left as it is."))
            after = evidence.trace()
            text = beside / f"{options.name}.trace"
            text.write_text(render(after, evidence=evidence.digest()), encoding="utf-8")
            summary = _summary(golden, evidence, after, ran)
        files = {evidence.path: golden.db, text: golden.trace}
        if scenario is None:
            sketch = beside / f"{options.name}.yaml"
            sketch.write_text(draft(options.name, after, options.argv, options.folder), encoding="utf-8")
            files[sketch] = golden.yaml
            summary = (*summary, _next_step(golden))
        replace_together(files)
        return Recorded(ran.exit_code, summary, diff(before, after))
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _before(golden: Golden, scenario: Scenario | None) -> Trace:
    """What is to be replaced, read before the command runs: what cannot be compared is not thrown away unseen."""
    try:
        with load(str(golden.db), scenario) as old:
            return old.trace()
    except StoreError as error:
        raise StoreError(f"{error} Or remove the file, and record without --update.") from None


def _next_step(golden: Golden) -> str:
    return f"wrote a draft of {golden.yaml}: say there what must stay true, then judge it: replay check {golden.folder}"


def _faults(evidence: Evidence) -> tuple[str, ...]:
    """Why the recording is not whole, a sentence each."""
    return (*evidence.lost(), *evidence.interrupted())


def _run(options: RecordOptions, path: Path, scenario: Scenario | None) -> Ran:
    capture, redact = options.config.capture_settings(scenario), with_secrets(options.config.redact_settings(scenario))
    mocks = mock_settings(scenario, options.folder / f"{options.name}.yaml", options.config)
    writer = new_writer(path, options.name, redact, options.config["label"])
    try:
        return run_behind(SidecarSettings(Mode.RECORD, capture=capture, redact=redact, mocks=mocks), writer, options.argv)
    except (WiretapeError, OSError):
        path.unlink(missing_ok=True)  # the file is ours, and the command never ran
        raise


def _problem(ran: Ran, argv: Sequence[str]) -> tuple[str, ...]:
    if ran.failure:
        return (f"the recording is incomplete: {ran.failure}",)
    if ran.info.status is not RecordingStatus.COMPLETE:
        return (f"the recording is {ran.info.status}, not complete.",)
    if ran.sidecar.capture.total == 0:
        why = dict.fromkeys(ran.sidecar.capture.refused) or diagnosis(argv)
        return ("nothing was captured: no request of the command came through the proxy.", *why)
    return ()


def _failed(ran: Ran, problem: tuple[str, ...]) -> Recorded:
    if ran.exit_code == 0:
        raise CaptureError("\n".join(problem))
    return Recorded(ran.exit_code, (f"the command ended with {ran.exit_code}.", *problem))


def _summary(golden: Golden, evidence: Evidence, trace: Trace, ran: Ran) -> tuple[str, ...]:
    exchanges = list(evidence.exchanges())
    calls = [step for step in trace.steps if isinstance(step, ModelCall)]
    tools = [step for step in trace.steps if isinstance(step, ToolCall)]
    tokens = sum((call.usage.input or 0) + (call.usage.output or 0) for call in calls)
    hosts = sorted({exchange.request.url.split("/")[2] for exchange in exchanges if not exchange.noise})
    noise = sum(exchange.noise for exchange in exchanges)
    lines = [
        f"recorded {golden.db}: {len(exchanges)} exchanges, {len(calls)} model calls, {len(tools)} tool calls, "
        f"{tokens} tokens, {evidence.redactions} redactions",
        f"hosts: {', '.join(hosts)}" + (f"; {noise} exchanges of background traffic set aside" if noise else ""),
    ]
    lines += dict.fromkeys(ran.sidecar.capture.refused)
    lines += (sentence for exchange in exchanges if (sentence := _broken(exchange)))
    if ran.sidecar.ignored:
        lines.append(f"passed through unrecorded: {', '.join(sorted(ran.sidecar.ignored))}")
    return tuple(lines)


_BREAKS = {
    End.REFUSED: "never reached its upstream",
    End.TIMEOUT: "got no whole answer in time",
    End.UPSTREAM_RESET: "was cut: the upstream reset the connection",
    End.UPSTREAM_TRUNCATED: "was cut: the upstream closed the connection before the end",
}


def _broken(exchange: Exchange) -> str | None:
    """What the upstream did to it; such an exchange is whole, and replays as it was."""
    if exchange.noise or exchange.request.method == "CONNECT" or exchange.end not in _BREAKS:
        return None
    why = f" ({exchange.error})" if exchange.error else ""
    return f"exchange {exchange.seq} ({exchange.request.method} {exchange.request.url}) {_BREAKS[exchange.end]}{why}"
