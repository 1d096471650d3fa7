"""`replay version`."""

from __future__ import annotations

import platform
from importlib.metadata import version

import typer

from wiretape.traces.decoders import VERSIONS
from wiretape.traces.store import SCHEMA_VERSION

__all__ = ["run"]


def run(
    context: typer.Context,
    format: str = typer.Option("text", "--format", help="text or json."),
) -> None:
    """Print the versions of the tool, of its store format and of its decoders."""
    found = {
        "wiretape": version("wiretape"),
        "python": platform.python_version(),
        "mitmproxy": version("mitmproxy"),
        "store": SCHEMA_VERSION,
        "decoders": VERSIONS,
    }
    if format == "json":
        context.obj.json(found)
        return
    decoders = ", ".join(f"{name} {number}" for name, number in sorted(VERSIONS.items()))
    context.obj.result(f"wiretape {found['wiretape']} (Python {found['python']}, mitmproxy {found['mitmproxy']})")
    context.obj.result(f"store format {SCHEMA_VERSION}; decoders: {decoders}")
