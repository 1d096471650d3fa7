"""Everything the agents in this folder talk to, on free ports, in one process: `python -m examples.stage --ready-file F`.

The provider listens twice, plain and with TLS under the real providers' names; beside it the MCP server and the HTTP tool. The
ready file says how to reach them, directly or (`connect_to`, `upstream_ca`) through a recorder; F.env beside it sets the
latter for `replay` when a shell reads it. SIGTERM stops all of it.
"""

import argparse
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examples import serving
from examples.provider import certificates
from examples.provider.app import create_app as provider
from examples.tools.http_tool import create_app as http_tool
from examples.tools.mcp_server import create_app as mcp_server

__all__ = ["main"]


def main() -> None:
    options = _parser().parse_args()
    ca_file = options.ca_file or options.ready_file.with_name(options.ready_file.name + ".ca.pem")
    environment = options.ready_file.with_name(options.ready_file.name + ".env")
    for file in (options.ready_file, ca_file):
        if not file.parent.is_dir():
            _parser().error(f"{file} can't be written: there is no folder {file.parent}; make it first")
    with tempfile.TemporaryDirectory() as folder:
        cert, key = certificates.issue(Path(folder), ca_file)
        app = provider(options.pause)
        listeners = [
            serving.Listener("provider", app),
            serving.Listener("provider-tls", app, cert=cert, key=key),
            serving.Listener("http", http_tool()),
            serving.Listener("mcp", mcp_server()),
        ]

        def ready(ports: Mapping[str, int]) -> None:
            content = _ready(ports, ca_file.absolute())
            environment.write_text(_environment(content), encoding="utf-8")
            serving.write_ready_file(options.ready_file, content)

        try:
            serving.run(listeners, ready)
        finally:
            options.ready_file.unlink(missing_ok=True)
            environment.unlink(missing_ok=True)


def _ready(ports: Mapping[str, int], ca_file: Path) -> dict[str, Any]:
    upstreams = {
        "api.openai.com:443": "provider-tls",
        "api.anthropic.com:443": "provider-tls",
        "tools.example.test:80": "http",
        "mcp.example.test:80": "mcp",
    }
    plain = f"http://127.0.0.1:{ports['provider']}"
    return {
        "connect_to": [f"{name}:127.0.0.1:{ports[listener]}" for name, listener in upstreams.items()],
        "upstream_ca": str(ca_file),
        "direct": {
            "OPENAI_BASE_URL": f"{plain}/v1",
            "ANTHROPIC_BASE_URL": plain,
            "TOOLS_URL": f"http://127.0.0.1:{ports['http']}",
            "MCP_URL": f"http://127.0.0.1:{ports['mcp']}/mcp",
        },
    }


def _environment(content: Mapping[str, Any]) -> str:
    """Shell lines that tell a recorder where the real names are to be found."""
    told = {"WIRETAPE_CONNECT_TO": ",".join(content["connect_to"]), "WIRETAPE_UPSTREAM_CA": content["upstream_ca"]}
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in told.items())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="examples.stage", description="provider, MCP server and HTTP tool, until SIGTERM")
    parser.add_argument("--ready-file", type=Path, required=True, metavar="F", help="written once everything listens")
    parser.add_argument(
        "--ca-file", type=Path, metavar="F", help="where the provider's authority goes (default: beside the ready file)"
    )
    parser.add_argument("--pause", type=float, default=0.002, metavar="S", help="seconds before each event of a stream")
    return parser


if __name__ == "__main__":
    main()
