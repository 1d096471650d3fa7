"""The stage as its users start it: a child process, known by its ready file. And relays that see what the agents send."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the examples are no installed package


@contextlib.contextmanager
def _started(folder: Path, module: str, *options: str) -> Iterator[dict[str, Any]]:
    """The content of the ready file of `python -m module`; SIGTERM must end it with 0 and without a word."""
    file = folder / "ready.json"
    command = [sys.executable, "-m", module, "--ready-file", str(file), *options]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield _content(file, process)
    finally:
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=30)
    assert (process.returncode, complaint) == (0, "")


def _content(file: Path, process: "subprocess.Popen[str]") -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while not file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"no ready file; exit code {process.returncode}")
        time.sleep(0.02)
    content: dict[str, Any] = json.loads(file.read_text())
    return content


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def started() -> Callable[..., contextlib.AbstractContextManager[dict[str, Any]]]:
    return _started


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with _started(tmp_path_factory.mktemp("stage"), "examples.stage", "--pause", "0") as content:
        yield content


@pytest.fixture(scope="session")
def run_agent() -> Callable[..., str]:
    """What the agent prints; it must end with 0 and have nothing to complain of."""

    def run(script: str, variables: Mapping[str, str], *options: str) -> str:
        foreign = ("_PROXY", "_URL", "_API_KEY")
        inherited = {name: value for name, value in os.environ.items() if not name.upper().endswith(foreign)}
        command = [sys.executable, str(ROOT / "examples" / script), *options]
        done = subprocess.run(command, env={**inherited, **variables}, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


class Relay:
    """A listening port that passes bytes on: all to one address, or as a forward proxy to where `routes` sends a name.

    `sent` keeps what the clients sent, one entry a connection; `gate` sees it before it is passed on, and may hold it back.
    """

    def __init__(self, routes: Mapping[str, tuple[str, int]] | tuple[str, int]) -> None:
        self.sent: list[bytearray] = []
        self.names: set[str] = set()
        self.gate: Callable[[bytes], object] = len
        self._routes = routes
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def take(self) -> list[bytes]:
        """What was sent since the last time, once every connection has ended."""
        while self._threads:
            self._threads.pop().join()
        taken, self.sent = [bytes(kept) for kept in self.sent], []
        return taken

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = client.recv(65536)
            address = self._routes if isinstance(self._routes, tuple) else self._routes[self._name(head)]
            with socket.create_connection(address) as upstream:
                self._join(client, upstream, head)

    def _join(self, client: socket.socket, upstream: socket.socket, head: bytes) -> None:
        kept = bytearray()
        self.sent.append(kept)
        if head.startswith(b"CONNECT"):
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            head = b""
        back = threading.Thread(target=self._pump, args=(b"", upstream, client, bytearray(), len), daemon=True)
        back.start()
        self._pump(head, client, upstream, kept, self.gate)
        back.join()

    def _name(self, head: bytes) -> str:
        """`host:port` of a CONNECT or an absolute-form request."""
        authority = head.split(b" ", 2)[1].decode().removeprefix("http://").split("/", 1)[0]
        name = authority if ":" in authority else f"{authority}:80"
        self.names.add(name)
        return name

    @staticmethod
    def _pump(
        data: bytes, source: socket.socket, sink: socket.socket, kept: bytearray, gate: Callable[[bytes], object]
    ) -> None:
        with contextlib.suppress(OSError):
            while data or (data := source.recv(65536)):
                kept += data
                gate(data)
                sink.sendall(data)
                data = b""
            sink.shutdown(socket.SHUT_WR)


def _address(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split("/", 1)[0].split(":")
    return host, int(port)


@pytest.fixture
def taps(stage: Mapping[str, Any]) -> Iterator[tuple[dict[str, str], list[Relay]]]:
    """Relays before the plain provider and both tools, and the variables that send an agent through them."""
    direct: dict[str, str] = stage["direct"]
    relays = {address: Relay(address) for address in {_address(url) for url in direct.values()}}
    variables = {
        name: url.replace(f"http://127.0.0.1:{_address(url)[1]}", relays[_address(url)].url) for name, url in direct.items()
    }
    yield {**variables, "OPENAI_AGENTS_DISABLE_TRACING": "1"}, list(relays.values())
    for relay in relays.values():
        relay.close()


@pytest.fixture
def proxy(stage: Mapping[str, Any]) -> Iterator[tuple[dict[str, str], Relay]]:
    """A forward proxy that finds the real names on the stage, and the variables that send an agent through it."""
    entries = (entry.split(":") for entry in stage["connect_to"])
    relay = Relay({f"{host}:{port}": (address, int(to)) for host, port, address, to in entries})
    variables = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), relay.url)
    yield {**variables, "NO_PROXY": "", "SSL_CERT_FILE": stage["upstream_ca"]}, relay
    relay.close()
