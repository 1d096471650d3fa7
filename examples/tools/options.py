"""The command line both tools share."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from starlette.types import ASGIApp

from examples import serving

__all__ = ["serve"]


def serve(name: str, app: ASGIApp, path: str) -> None:
    """Serve `app` as `--port` and `--ready-file` say; `path` completes the url that is reported."""
    parser = argparse.ArgumentParser(prog=f"examples.tools.{name.replace('-', '_')}")
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free port")
    parser.add_argument(
        "--ready-file", type=Path, metavar="F", help="JSON with url and pid once the port listens, else to stdout"
    )
    options = parser.parse_args()

    def ready(ports: Mapping[str, int]) -> None:
        serving.write_ready_file(options.ready_file, {"url": f"http://127.0.0.1:{ports[name]}{path}"})

    serving.run([serving.Listener(name, app, options.port)], ready)
