"""`replay learn`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from wiretape.cli.console import printable
from wiretape.scenarios.config import load_config
from wiretape.scenarios.learn import learn, write
from wiretape.scenarios.run import RunOptions

__all__ = ["run"]


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The recording to run against.")],
    yes: Annotated[bool, typer.Option("--yes", help="Write the rules without asking.")] = False,
) -> int:
    """Find the request fields that vary between runs, and write them into the scenario as volatile.

    replay learn refund -- python agent.py

    The command runs offline against its recording. 0: every request matches now; 1: something varies that no rule may set
    aside, or the rules were not written.
    """
    config = load_config(environment=os.environ, flags={"match": "sequence", "allow_drift": True})
    found = learn(RunOptions(name, context.obj.command, config))
    for line in found.shown:
        context.obj.result(printable(f"varies: {line}"))
    for line in found.beyond:
        context.obj.say(f"replay: no rule may set this aside: {printable(line)}")
    written = not found.rules or _agreed(yes=yes)
    if found.rules and written:
        context.obj.say(f"replay: {len(found.rules)} rules written to {write(name, found.rules)}")
    elif found.rules:
        context.obj.say("replay: nothing was written; --yes writes these rules into the scenario.")
    else:
        context.obj.say("replay: no field varies that a rule could set aside.")
    return 0 if written and not found.beyond else 1


def _agreed(*, yes: bool) -> bool:
    return yes or (sys.stdin.isatty() and typer.confirm("Write these as volatile into the scenario?"))
