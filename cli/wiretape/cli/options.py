"""Options that several verbs share, and the settings that come of them: command line, then variables, then wiretape.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from wiretape.scenarios.config import Config, load_config

__all__ = [
    "AllowDrift",
    "AllowHost",
    "ConnectTo",
    "DenyHost",
    "Exhausted",
    "Ignore",
    "Insecure",
    "Match",
    "Noise",
    "Pace",
    "ServePartial",
    "UpstreamCa",
    "folder",
    "settings",
]

ConnectTo = Annotated[
    list[str], typer.Option("--connect-to", metavar="HOST:PORT:ADDR:PORT", help="Dial ADDR:PORT for HOST:PORT, as curl does.")
]
UpstreamCa = Annotated[str | None, typer.Option("--upstream-ca", metavar="FILE", help="PEM of more roots for upstreams.")]
Insecure = Annotated[list[str], typer.Option("--insecure-upstream", metavar="HOST", help="Do not verify this upstream.")]
Ignore = Annotated[list[str], typer.Option("--ignore", metavar="HOST", help="Pass this host through unrecorded.")]
Noise = Annotated[list[str], typer.Option("--noise", metavar="HOST", help="Set this host aside as background traffic.")]
AllowHost = Annotated[list[str], typer.Option("--allow-host", metavar="HOST", help="Refuse every other host.")]
DenyHost = Annotated[list[str], typer.Option("--deny-host", metavar="HOST", help="Refuse this host.")]
Pace = Annotated[str, typer.Option("--pace", metavar="instant|recorded|FLOAT", help="How fast recorded answers come.")]
Match = Annotated[
    str,
    typer.Option(
        "--match", metavar="LEVEL", help="The loosest level that answers: exact, canonical, normalised, rebound or sequence."
    ),
]
Exhausted = Annotated[
    str, typer.Option("--exhausted", metavar="error|repeat-last", help="When all recorded answers to a request are given.")
]
ServePartial = Annotated[bool, typer.Option("--serve-partial", help="Answer from interrupted exchanges too.")]
AllowDrift = Annotated[bool, typer.Option("--allow-drift", help="Let --match sequence answer changed requests.")]


def folder(context: typer.Context) -> Path:
    """Where names of recordings are looked up."""
    return Path(settings(context)["dir"])


def settings(context: typer.Context) -> Config:
    """The settings in force. InvalidFile or UsageError with every fault of a file, a variable or an option."""
    given: dict[str, Any] = {}
    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            given[name] = str(value) if isinstance(value, Path) else value
    return load_config(environment=os.environ, flags=given)
