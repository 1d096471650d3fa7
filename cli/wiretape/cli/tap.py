"""`replay tap`."""

from __future__ import annotations

from typing import Annotated

import typer

from wiretape.proxy.tap import tap

__all__ = ["run"]


def run(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", metavar="N", help="What the server is called in the recording.")],
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="Which sidecar, if not one above us.")] = None,
) -> int:
    """Put the sidecar between an MCP client and its stdio server.

    replay tap --name files -- npx -y @modelcontextprotocol/server-filesystem .

    Below `replay record` what passes is recorded; below `replay run` the recording answers and CMD is not started; anywhere
    else CMD runs as if we were not there.
    """
    return tap(name, context.obj.command, run_id)
