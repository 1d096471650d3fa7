"""`replay run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.cli.console import Output, printable, refuse_unwritable
from wiretape.scenarios.run import Report, RunOptions
from wiretape.scenarios.run import run as run_recording

__all__ = ["run"]


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The recording to run against.")],
    pace: options.Pace = "",
    strict: Annotated[bool, typer.Option("--strict", help="Recorded exchanges that the run did not use fail it.")] = False,
    match: options.Match = "",
    exhausted: options.Exhausted = "",
    serve_partial: options.ServePartial = False,
    allow_drift: options.AllowDrift = False,
    noise: options.Noise = [],
    save: Annotated[str | None, typer.Option("--save", metavar="NAME2", help="Keep this run as a recording.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - is standard output.")
    ] = None,
) -> int:
    """Run a command against a recording, offline, and compare its behaviour.

    replay run refund -- python agent.py

    No byte goes to a provider. 0: same behaviour, and no oracle of the scenario failed; 1: not; 2: the scenario does not fit;
    3: it could not be told. Without oracles the comparison alone decides.
    """
    config = options.settings(context)
    refuse_unwritable(json_file)
    report = run_recording(RunOptions(name, context.obj.command, config, save))
    if json_file:
        context.obj.report(json_file, json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n")
    _tell(context.obj, name, report)
    return _CODES[report.status]


_CODES = {"passed": 0, "failed": 1, "error": 3}


def _tell(output: Output, name: str, report: Report) -> None:
    """What came of it, what is to blame first."""
    levels = ", ".join(f"{count} {level}" for level, count in report.levels.items())
    output.say(
        f"replay: {name}: {report.served} exchanges served{f' ({levels})' if levels else ''}, {len(report.misses)} missed"
    )
    for match in report.loose:
        causes = ", ".join(cause.partition(" → ")[0] for cause in match.because) or "what was bound before"
        output.say(f"replay: exchange {match.seq} is {match.level} by {printable(causes)}")
    for binding in report.bindings:
        output.say(f"replay: bound {printable(str(binding))}")
    for difference in report.drift():
        output.say(f"replay: {printable(difference.message)}")
    for problem in report.problems():
        output.say(f"replay: {printable(problem)}")
    if report.unused:
        numbers = ", ".join(map(str, report.unused))
        output.say(f"replay: not asked for: exchange {numbers}{'' if report.strict else ' (--strict makes this a failure)'}")
    if report.options.save:
        output.say(f"replay: kept as {report.options.save}, beside {name}; make it golden: replay accept {report.options.save}")
    output.say(f"replay: {name} {report.status}")
