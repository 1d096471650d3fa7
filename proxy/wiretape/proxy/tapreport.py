"""What a tap tells the sidecar while it records: by a thread of its own, so that traffic never waits for it.

If the sidecar goes away, or falls far behind, nothing more is told: what it has is then an exact beginning.
"""

from __future__ import annotations

import logging
import queue
import socket
import threading
import time
from collections.abc import Iterator

from wiretape.proxy.tapframes import Ended, Frame, Hello, Kind, LineReader

__all__ = ["Report"]

log = logging.getLogger("wiretape.proxy")

_BACKLOG = 1000
"""Pieces (64 KiB at most) that may wait for the sidecar."""

_LAST = 2.0
"""Seconds that the sidecar gets for what still waits at the end."""

type _Seen = tuple[Kind, int, bytes]


class Report:
    """`path`: the sidecar's socket. Times count from here."""

    def __init__(self, path: str | None, hello: Hello) -> None:
        self._path = path or ""
        self._began = time.monotonic_ns()
        self._seen: queue.SimpleQueue[_Seen | None] = queue.SimpleQueue()
        """None: nothing more comes."""
        self._full = False
        self._over = False
        """The server has said its last."""
        self._lines = {Kind.CLIENT: LineReader(), Kind.SERVER: LineReader()}
        self._put(Kind.HELLO, hello.model_dump_json().encode())
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def saw(self, kind: Kind, data: bytes) -> None:
        """Bytes of the client or of the server passed just now."""
        self._put(kind, data)

    def over(self) -> None:
        """The server closed its output: a client that leaves now leaves because of it."""
        self._over = True

    def left(self) -> None:
        """The client closed its side."""
        if not self._over:
            self._put(Kind.LEFT)

    def end(self, exit_code: int) -> None:
        self._put(Kind.END, Ended(exit_code=exit_code).model_dump_json().encode())
        self._seen.put(None)
        self._thread.join(_LAST)

    def _put(self, kind: Kind, data: bytes = b"") -> None:
        self._full = self._full or self._seen.qsize() > _BACKLOG
        if not self._full:
            self._seen.put((kind, (time.monotonic_ns() - self._began) // 1000, data))

    def _work(self) -> None:
        try:
            with socket.socket(socket.AF_UNIX) as sidecar:
                sidecar.connect(self._path)
                while seen := self._seen.get():
                    sidecar.sendall(b"".join(map(bytes, self._frames(*seen))))
        except OSError as error:
            self._full = True
            log.warning("tap: the sidecar is gone (%s); the server goes on unrecorded.", error.strerror or error)

    def _frames(self, kind: Kind, at: int, data: bytes) -> Iterator[Frame]:
        """A frame for each line that is whole now; at a side's end also for what it left without a line feed."""
        if lines := self._lines.get(kind):
            yield from (Frame(kind, at, line) for line in lines.feed(data))
            return
        for side in {Kind.LEFT: (Kind.CLIENT,), Kind.END: (Kind.CLIENT, Kind.SERVER)}.get(kind, ()):
            yield from (Frame(side, at, line) for line in self._lines[side].close())
        yield Frame(kind, at, data)
