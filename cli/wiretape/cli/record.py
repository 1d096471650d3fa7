"""`replay record`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.scenarios.record import RecordOptions, record
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call the recording.")],
    dir: Annotated[Path, typer.Option("--dir", help="Where its files go.")] = Path("recordings"),
    update: Annotated[bool, typer.Option("--update", help="Record an existing one anew and replace it on success.")] = False,
    label: Annotated[list[str], typer.Option("--label", metavar="K=V", help="A label kept with the recording.")] = [],
    connect_to: options.ConnectTo = [],
    upstream_ca: options.UpstreamCa = None,
    insecure_upstream: options.Insecure = [],
    ignore: options.Ignore = [],
    noise: options.Noise = [],
    allow_host: options.AllowHost = [],
    deny_host: options.DenyHost = [],
    redact: Annotated[str, typer.Option("--redact", help="strict, default, or off.")] = "default",
    yes_store_secrets: Annotated[
        bool, typer.Option("--yes-store-secrets", help="With --redact off: yes, keep secrets.")
    ] = False,
) -> int:
    """Run a command and record what it says to its models and tools.

    replay record refund -- python agent.py

    Writes DIR/NAME.db (the evidence), DIR/NAME.trace (the trace as text, for review) and, the first time, a draft DIR/NAME.yaml
    to say what must stay true. Ends with the command's own exit code; 3 where nothing was captured.
    """
    config = options.settings(context)
    if config["redact"] == "off" and not yes_store_secrets:
        raise UsageError("--redact off would write keys and tokens to the disk; add --yes-store-secrets if that is meant.")
    recorded = record(RecordOptions(name, context.obj.command, config, update))
    for line in recorded.summary:
        context.obj.say(f"replay: {line}")
    for difference in recorded.differences:
        context.obj.say(f"replay: changed: {difference.message}")
    return recorded.exit_code
