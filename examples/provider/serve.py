"""The provider alone: `python -m examples.provider --port 8080`, with TLS by `--ca-file F` or `--tls-cert F --tls-key F`."""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from examples import serving
from examples.provider import certificates
from examples.provider.app import create_app

__all__ = ["main"]


def main() -> None:
    options = _parser().parse_args()
    if bool(options.tls_cert) != bool(options.tls_key):
        _parser().error("--tls-cert and --tls-key go together")
    with tempfile.TemporaryDirectory() as folder:
        cert, key = options.tls_cert, options.tls_key
        if options.ca_file and not cert:
            cert, key = certificates.issue(Path(folder), options.ca_file)
        scheme = "https" if cert else "http"

        def ready(ports: Mapping[str, int]) -> None:
            serving.write_ready_file(options.ready_file, {"url": f"{scheme}://127.0.0.1:{ports['provider']}"})

        serving.run([serving.Listener("provider", create_app(options.pause), options.port, cert, key)], ready)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="examples.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free port")
    parser.add_argument("--tls-cert", metavar="F", help="serve TLS with this certificate (PEM)")
    parser.add_argument("--tls-key", metavar="F", help="its key (PEM)")
    parser.add_argument("--ca-file", type=Path, metavar="F", help="make a certificate, serve TLS, write its authority here")
    parser.add_argument("--pause", type=float, default=0.002, metavar="S", help="seconds before each event of a stream")
    parser.add_argument(
        "--ready-file", type=Path, metavar="F", help="JSON with url and pid once the port listens, else to stdout"
    )
    return parser
