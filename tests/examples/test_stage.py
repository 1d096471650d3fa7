import contextlib
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

Started = Callable[..., contextlib.AbstractContextManager[dict[str, Any]]]


def test_says_where_it_is_and_leaves_nothing_behind(tmp_path: Path, started: Started) -> None:
    ca = tmp_path / "authority.pem"
    with started(tmp_path, "examples.stage", "--ca-file", str(ca)) as content:
        os.kill(content["pid"], 0)
        assert content["upstream_ca"] == str(ca)
        names = [entry.rsplit(":", 2)[0] for entry in content["connect_to"]]
        assert names == ["api.openai.com:443", "api.anthropic.com:443", "tools.example.test:80", "mcp.example.test:80"]
        addresses = [(host, int(port)) for host, port in (entry.rsplit(":", 2)[1:] for entry in content["connect_to"])]
        for name, address in zip(("api.openai.com", "api.anthropic.com"), addresses, strict=False):
            context = ssl.create_default_context(cafile=ca)
            with socket.create_connection(address) as sock, context.wrap_socket(sock, server_hostname=name) as tls:
                assert tls.version() in {"TLSv1.2", "TLSv1.3"}
    assert [path.name for path in tmp_path.iterdir()] == ["authority.pem"]
    for address in addresses:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)


def test_stops_while_an_mcp_client_holds_its_stream_open(tmp_path: Path, started: Started) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    accept = {"accept": "application/json, text/event-stream"}
    with httpx2.Client(headers=accept) as client, started(tmp_path, "examples.tools.mcp_server") as content:
        session = client.post(content["url"], json=initialize).headers["mcp-session-id"]
        stream = client.stream("GET", content["url"], headers={"mcp-session-id": session})
        assert stream.__enter__().status_code == 200


@pytest.mark.parametrize("module", ["examples.provider", "examples.tools.http_tool", "examples.tools.mcp_server"])
def test_refuses_a_port_that_is_taken(module: str, root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", module, "--port", str(port)], cwd=root, capture_output=True, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr.endswith(f": port {port} can't be used (Address already in use); give another, or 0 for any.\n")


def test_serves_tls_by_a_certificate_of_its_own(tmp_path: Path, started: Started) -> None:
    ca = tmp_path / "authority.pem"
    with started(tmp_path, "examples.provider", "--ca-file", str(ca)) as content:
        assert content["url"].startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=ca)
        assert httpx2.get(f"{content['url']}/v1/models", verify=context).status_code == 404


def test_refuses_a_certificate_that_is_none(root: Path) -> None:
    options = ["--tls-cert", "README.md", "--tls-key", "README.md"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.provider", *options], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr.startswith("provider: README.md and README.md are no PEM certificate with its key (")
