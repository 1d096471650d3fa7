"""The sidecar's end of the stdio taps: a unix socket of its own, a conversation each.

Recording, a tap reports and is kept; what the tap says of times counts. Replaying, the tap has no server and is answered here.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM

from wiretape.proxy.capture import Capture, Origin
from wiretape.proxy.runs import TAP_FOLDER
from wiretape.proxy.tapframes import Ended, Frame, FrameReader, Hello, Kind
from wiretape.traces.types import End, ExchangeKind, Message, Request

__all__ = ["Taps", "as_message", "frames", "server_request"]

log = logging.getLogger("wiretape.proxy")

_BY_CLIENT = frozenset(128 + number for number in (SIGHUP, SIGINT, SIGKILL, SIGTERM))
"""How a server ends whose client ends it."""

type Answer = Callable[[Hello, AsyncIterator[Frame], asyncio.StreamWriter], Awaitable[None]]


class Taps:
    """`answer` stands in for the servers; without it they are there, and what passes is recorded."""

    def __init__(self, capture: Capture, answer: Answer | None = None) -> None:
        self._capture = capture
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self) -> Path | None:
        """The socket; None where the system gives us none, which is no reason to stop."""
        # 0700. Not in the user's own temporary folder: the path of a unix socket must be short (104 characters on macOS).
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=TAP_FOLDER, dir="/tmp"))
            self._server = await asyncio.start_unix_server(self._take, self._folder / "socket")
        except OSError as error:
            log.warning("no stdio taps: a socket for them cannot be made (%s).", error)
            return None
        return self._folder / "socket"

    async def close(self) -> None:
        if not hasattr(self, "_server"):
            return
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(frames(reader), writer)
        except ConnectionError:
            pass  # the tap was ended while it was told something
        except Exception as error:
            log.warning("a stdio tap could not be served (%r). Please report this.", error)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, told: AsyncIterator[Frame], writer: asyncio.StreamWriter) -> None:
        first = await anext(told, None)
        if first is None or first.kind is not Kind.HELLO:
            return
        hello = Hello.model_validate_json(first.payload)
        self._capture.know(hello.secrets)
        await (self._answer(hello, told, writer) if self._answer else self._record(hello, told))

    async def _record(self, hello: Hello, told: AsyncIterator[Frame]) -> None:
        origin = Origin(upstream=hello.name, kind=ExchangeKind.STDIO)
        live = self._capture.begin(server_request(hello.name), origin, hello.started_at)
        live.request_end(has_body=False)
        left = False
        async for frame in told:
            if message := as_message(frame):
                live.message(message)
            left = left or frame.kind is Kind.LEFT
            if frame.kind is Kind.END:
                live.end(*_ended(Ended.model_validate_json(frame.payload).exit_code, left=left))
            while self._capture.behind:  # noqa: ASYNC110  # the writer is a thread, and has no event to give
                await asyncio.sleep(0.01)
        live.end(End.INTERRUPTED, "the tap was killed, or fell behind")


def server_request(name: str) -> Request:
    """What stands for the start of a server."""
    return Request("STDIO", f"stdio://{name}", http_version="")


def as_message(frame: Frame) -> Message | None:
    """None for what is no part of the conversation. The close of a server holds its exit code."""
    if frame.kind is Kind.LEFT:
        return Message(frame.at, "client", "close")
    if frame.kind is Kind.END:
        return Message(frame.at, "server", "close", code=Ended.model_validate_json(frame.payload).exit_code)
    if frame.kind is Kind.HELLO:
        return None
    return Message(
        frame.at,
        "client" if frame.kind is Kind.CLIENT else "server",
        "text" if _is_text(frame.payload) else "binary",
        frame.payload,
    )


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[Frame]:
    """To the end of the connection, or to what is no frame."""
    read = FrameReader()
    with suppress(ConnectionError, ValueError):
        while data := await reader.read(1 << 16):
            for frame in read.feed(data):
                yield frame


def _ended(code: int, *, left: bool) -> tuple[End, str | None]:
    if left:
        return (End.COMPLETE, None) if code == 0 else (End.CLIENT_CLOSED, f"the server ended with {code} when its client left")
    if code in _BY_CLIENT:
        return End.CLIENT_CLOSED, f"the server was ended by a signal (exit code {code})"
    return End.UPSTREAM_TRUNCATED, f"the server ended with {code} while its client was there"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
