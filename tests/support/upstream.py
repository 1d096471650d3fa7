"""A scripted HTTP/1.1 upstream on a loopback socket: every byte and every break is the test's own."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes = b""

    def get(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Wire:
    """A socket with a read buffer, and just enough HTTP/1.1."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.buffer = b""
        sock.settimeout(20)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def until(self, mark: bytes) -> bytes:
        while mark not in self.buffer:
            self._more()
        found, self.buffer = self.buffer.split(mark, 1)
        return found

    def exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self._more()
        found, self.buffer = self.buffer[:size], self.buffer[size:]
        return found

    def chunk(self) -> bytes:
        """The next chunk; b"" is the last one, trailers are not expected."""
        size = int(self.until(b"\r\n").split(b";")[0], 16)
        data = self.exactly(size)
        self.exactly(2)
        return data

    def _more(self) -> None:
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def head(self) -> tuple[str, list[tuple[str, str]]]:
        first, *lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        return first, [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


type Script = Callable[[Wire, Asked], None]


class Upstream:
    """Answers each request by `script`; None from it keeps the connection open for the next."""

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self._script = script
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.asked: list[Asked] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = Wire(self._tls.wrap_socket(sock, server_side=True) if self._tls else sock)
            while True:
                asked = self._read(wire)
                self.asked.append(asked)
                self._script(wire, asked)

    def _read(self, wire: Wire) -> Asked:
        first, headers = wire.head()
        method, target, _ = first.split(" ", 2)
        asked = Asked(method, target, headers)
        if asked.get("transfer-encoding"):
            while piece := wire.chunk():
                asked.body += piece
        else:
            asked.body = wire.exactly(int(asked.get("content-length") or 0))
        return asked

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def whole(body: bytes = b"ok", *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]).encode() + body


def chunked(pieces: Iterable[bytes]) -> bytes:
    return CHUNKED + b"".join(map(framed, pieces)) + b"0\r\n\r\n"


def framed(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def always(answer: bytes) -> Script:
    return lambda wire, asked: wire.send(answer)


@dataclass
class Answer:
    """What a client got. `end` is complete, cut, reset or garbage."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""
    pieces: list[bytes] = field(default_factory=list)
    end: str = "complete"

    def get(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    wire: Wire, method: str, target: str, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None, *, host: str = "x"
) -> Answer:
    """One request on an open connection, written to the letter, and its answer."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    wire.send("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
    return answer(wire, method)


def answer(wire: Wire, method: str = "GET") -> Answer:
    first, headers = wire.head()
    got = Answer(int(first.split(" ")[1]), headers)
    try:
        _body(wire, got, method)
    except EOFError:
        got.end = "cut"
    except ConnectionError:
        got.end = "reset"
    except ValueError:
        got.end = "garbage"
    got.body = b"".join(got.pieces)
    return got


def _body(wire: Wire, got: Answer, method: str) -> None:
    if method == "HEAD" or got.status in (204, 304):
        return
    if got.get("transfer-encoding"):
        while piece := wire.chunk():
            got.pieces.append(piece)
        return
    length = got.get("content-length")
    left = int(length) if length is not None else None
    while left is None or left > 0:
        try:
            piece = wire.exactly(len(wire.buffer) or 1) if left is None else wire.exactly(min(left, len(wire.buffer) or 1))
        except EOFError:
            if left is None:
                return
            raise
        got.pieces.append(piece)
        left = None if left is None else left - len(piece)
