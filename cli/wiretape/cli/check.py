"""`replay check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.cli.console import refuse_unwritable
from wiretape.oracles.gate import decide, parse_fail_on
from wiretape.oracles.reports import console, json
from wiretape.scenarios.check import check

__all__ = ["run"]


def run(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Recordings, scenarios, suites, or folders of them.")],
    fail_on: Annotated[
        str, typer.Option("--fail-on", metavar="any|low|medium|high|critical", help="The least risk whose failure is red.")
    ] = "high",
    allow_unasserted: Annotated[
        bool, typer.Option("--allow-unasserted", help="Let recordings pass that no oracle judges.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - is standard output.")
    ] = None,
) -> int:
    """Judge stored recordings, with no agent and no provider: the command for CI.

    replay check recordings/

    Each recording's file is verified, its trace text compared with its evidence, and its scenario's oracles judge it. 0: all
    passed; 1: a gate failed, a file changed, or nothing judges a recording; 2: a scenario does not fit; 3: a recording cannot
    be read, or every oracle was skipped.
    """
    config = options.settings(context)
    fail_on = parse_fail_on(config["fail_on"])
    refuse_unwritable(json_file)
    decision = decide(check(paths, config), fail_on=fail_on, allow_unasserted=config["allow_unasserted"])
    if json_file:
        context.obj.report(json_file, json.render(decision))
    console.render(decision, context.obj.console(sys.stderr if str(json_file) == "-" else None))
    return decision.exit_code
