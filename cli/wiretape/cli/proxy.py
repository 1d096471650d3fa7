"""`replay proxy`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.scenarios.service import serve

__all__ = ["run"]


def run(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", help="The port of proxy and gateway; 0 takes a free one.")] = 8080,
    control_port: Annotated[int, typer.Option("--control-port", help="The port of the control API; 0 takes a free one.")] = 0,
    mode: Annotated[str, typer.Option("--mode", metavar="record|replay|passthrough")] = "record",
    store: Annotated[str | None, typer.Option("--store", metavar="F.db", help="What is recorded to or replayed from.")] = None,
    upstream: Annotated[list[str], typer.Option("--upstream", metavar="NAME=URL", help="A gateway name and its address.")] = [],
    rules: Annotated[Path | None, typer.Option("--rules", metavar="F", help="Mock rules to begin with.")] = None,
    persist_rules: Annotated[bool, typer.Option("--persist-rules", help="Write changes of the rules into that file.")] = False,
    no_mocks: Annotated[bool, typer.Option("--no-mocks", help="Refuse mock rules, and changes of them.")] = False,
    pace: options.Pace = "",
    match: options.Match = "",
    exhausted: options.Exhausted = "",
    serve_partial: options.ServePartial = False,
    allow_drift: options.AllowDrift = False,
    ca_dir: Annotated[
        Path | None, typer.Option("--ca-dir", help="Keep the certificate authority here, and use it again.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="The control API's token: read where it exists, else written.")
    ] = None,
    ready_file: Annotated[Path | None, typer.Option("--ready-file", help="Written once every port listens.")] = None,
    connect_to: options.ConnectTo = [],
    upstream_ca: options.UpstreamCa = None,
    insecure_upstream: options.Insecure = [],
    ignore: options.Ignore = [],
    noise: options.Noise = [],
    allow_host: options.AllowHost = [],
    deny_host: options.DenyHost = [],
) -> int:
    """Run the sidecar by itself until SIGTERM or Ctrl-C: forward proxy and gateway on one port.

    replay proxy --mode record --store session.db
    """
    return asyncio.run(serve(options.settings(context), context.obj.say))
