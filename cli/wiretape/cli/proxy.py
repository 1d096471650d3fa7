"""`replay proxy`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from wiretape.cli import options
from wiretape.proxy.sidecar import Mode
from wiretape.scenarios.service import ServiceOptions, serve
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", help="The port of proxy and gateway; 0 takes a free one.")] = 8080,
    control_port: Annotated[int, typer.Option("--control-port", help="The port of the control API; 0 takes a free one.")] = 0,
    mode: Annotated[str, typer.Option("--mode", metavar="record|replay|passthrough")] = "record",
    store: Annotated[str | None, typer.Option("--store", metavar="F.db", help="What is recorded to or replayed from.")] = None,
    upstream: Annotated[list[str], typer.Option("--upstream", metavar="NAME=URL", help="A gateway name and its address.")] = [],
    pace: options.Pace = "",
    match: Annotated[str, typer.Option("--match", metavar="LEVEL", help="The loosest level of match that answers.")] = "",
    exhausted: Annotated[str, typer.Option("--exhausted", metavar="error|repeat-last")] = "",
    serve_partial: Annotated[bool, typer.Option("--serve-partial", help="Answer from interrupted exchanges too.")] = False,
    allow_drift: Annotated[bool, typer.Option("--allow-drift", help="Let --match sequence answer changed requests.")] = False,
    ca_dir: Annotated[
        Path | None, typer.Option("--ca-dir", help="Keep the certificate authority here, and use it again.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="The control API's token: read where it exists, else written.")
    ] = None,
    ready_file: Annotated[Path | None, typer.Option("--ready-file", help="Written once every port listens.")] = None,
    connect_to: options.ConnectToOption = [],
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
    if mode not in list(Mode):
        raise UsageError(f"--mode: expected one of {', '.join(Mode)}, got {mode!r}.")
    chosen = ServiceOptions(
        mode=Mode(mode),
        port=port,
        control_port=control_port,
        store=store,
        capture=options.capture_settings(
            ignore=ignore,
            noise=noise,
            upstreams=upstream,
            connect=connect_to,
            upstream_ca=upstream_ca,
            insecure=insecure_upstream,
            allow=allow_host,
            deny=deny_host,
        ),
        match=options.match_overrides(
            pace=pace, match=match, exhausted=exhausted, serve_partial=serve_partial, allow_drift=allow_drift
        ),
        ca_dir=ca_dir,
        token_file=token_file,
        ready_file=ready_file,
    )
    return asyncio.run(serve(chosen, context.obj.say))
