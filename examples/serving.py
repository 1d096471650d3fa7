"""Several ASGI apps in one process, each on its own loopback port, until SIGTERM or SIGINT.

The ports are bound before any server starts, so a port that is taken is one sentence and not a server that quietly died, and
port 0 (any free one) is known to the caller as soon as all of them answer.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import uvicorn
from starlette.types import ASGIApp

__all__ = ["Listener", "Ready", "run", "write_ready_file"]

Ready = Callable[[Mapping[str, int]], None]
"""Called once, with the port of each listener by its name, when every port answers."""


@dataclass(frozen=True)
class Listener:
    name: str
    app: ASGIApp
    port: int = 0
    """0: any free port."""
    cert: str | None = None
    """Path of a PEM file; with `key` the listener speaks TLS."""
    key: str | None = None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = asyncio.Event()
        """Started, or failed to: `started` tells which."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.settled.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Several servers share the process: `_serve` takes the signals for all of them."""
        yield


def run(listeners: Sequence[Listener], ready: Ready) -> None:
    """Serve until SIGTERM or SIGINT, then return. Exits 3 with a sentence where a port or a certificate is of no use."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(_bind(listener)) for listener in listeners]
        asyncio.run(_serve(listeners, sockets, ready))


def _bind(listener: Listener) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", listener.port))
    except OSError as error:
        sock.close()
        _fail(f"{listener.name}: port {listener.port} can't be used ({error.strerror}); give another, or 0 for any.")
    return sock


async def _serve(listeners: Sequence[Listener], sockets: Sequence[socket.socket], ready: Ready) -> None:
    servers = [_Server(_config(listener)) for listener in listeners]
    _stop_on_signals(servers)
    tasks = [asyncio.create_task(server.serve(sockets=[sock])) for server, sock in zip(servers, sockets, strict=True)]
    for server in servers:
        await server.settled.wait()
    lame = [listener.name for listener, server in zip(listeners, servers, strict=True) if not server.started]
    if not lame:
        ready({listener.name: sock.getsockname()[1] for listener, sock in zip(listeners, sockets, strict=True)})
    for server in servers:
        server.should_exit = server.should_exit or bool(lame)
    await asyncio.gather(*tasks)
    if lame:
        _fail(f"{', '.join(lame)} did not start.")


def _config(listener: Listener) -> uvicorn.Config:
    config = uvicorn.Config(
        listener.app,
        ssl_certfile=listener.cert,
        ssl_keyfile=listener.key,
        log_level="critical",
        timeout_graceful_shutdown=1,  # an MCP client may hold its stream open for ever
    )
    try:
        config.load()
    except OSError as error:
        _fail(f"{listener.name}: {listener.cert} and {listener.key} are no PEM certificate with its key ({error}).")
    return config


def _fail(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    raise SystemExit(3)


def _stop_on_signals(servers: Sequence[uvicorn.Server]) -> None:
    def stop() -> None:
        for server in servers:
            server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)


def write_ready_file(path: Path | None, content: Mapping[str, Any]) -> None:
    """Whole or not at all, so that whoever polls for the file never reads half of it. Without a path: to standard output."""
    text = json.dumps({**content, "pid": os.getpid()}, indent=2) + "\n"
    if path is None:
        print(text, end="", flush=True)
        return
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
