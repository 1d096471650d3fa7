"""A recorded MCP server for a tap that has none: what the client says goes to the recorded conversations, what is due comes
back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from wiretape.proxy.capture import Capture, Live, Origin
from wiretape.proxy.tally import Tally
from wiretape.proxy.tapframes import Ended, Frame, Hello, Kind
from wiretape.proxy.taps import as_message, server_request
from wiretape.replay.matcher import Match, Matcher
from wiretape.replay.miss import STATUS
from wiretape.replay.stdio import Due, Missed, Stock, Telling
from wiretape.traces.decoders import error_response
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import MatchSettings
from wiretape.traces.types import End, ExchangeKind, Message, Request, Source

__all__ = ["Tapped"]


class Tapped:
    """`answer` takes one tap to its end."""

    def __init__(self, matcher: Matcher, settings: MatchSettings, redactor: Redactor, capture: Capture, tally: Tally) -> None:
        self._matcher = matcher
        self._settings = settings
        self._redactor = redactor
        self._capture = capture
        self._tally = tally
        self._stocks: dict[str, Stock] = {}

    async def answer(self, hello: Hello, told: AsyncIterator[Frame], writer: asyncio.StreamWriter) -> None:
        self._redactor.know(hello.secrets)
        request = server_request(hello.name)
        if hello.name not in self._stocks:
            self._stocks[hello.name] = Stock(self._matcher.recorded(request), self._settings)
        found = self._matcher.find(request)
        own = found if isinstance(found, Match) else None
        if own:
            self._tally.levels[own.level] += 1
        origin = Origin("", hello.name, Source.REPLAYED, own.level if own else "miss", kind=ExchangeKind.STDIO)
        live = self._capture.begin(request, origin)
        live.request_end(has_body=False)
        telling = Telling(self._stocks[hello.name], own.exchange if own else None, request.url)
        await _Told(telling, live, self._redactor, self._tally, writer).run(told)


class _Told:
    """One live conversation."""

    def __init__(self, telling: Telling, live: Live, redactor: Redactor, tally: Tally, writer: asyncio.StreamWriter) -> None:
        self._telling = telling
        self._live = live
        self._redactor = redactor
        self._tally = tally
        self._writer = writer
        self._saying: set[asyncio.Task[None]] = set()

    async def run(self, told: AsyncIterator[Frame]) -> None:
        try:
            await self._converse(told)
        finally:
            for task in self._saying:
                task.cancel()
            self._live.end(End.CLIENT_CLOSED, "the tap was ended")

    async def _converse(self, told: AsyncIterator[Frame]) -> None:
        await self._say(self._telling.opening())
        if await self._died():
            return
        async for frame in told:
            if message := as_message(frame):
                self._live.message(Message(self._live.now, message.sender, message.type, message.data))
            if frame.kind is Kind.LEFT:
                await self._send(Kind.END, Ended(exit_code=self._telling.exit_code).model_dump_json().encode())
                self._live.end(End.COMPLETE)
                return
            await self._hear(frame.payload)
            if await self._died():
                return

    async def _hear(self, line: bytes) -> None:
        found = self._telling.hear(self._redactor.body(line, ()))
        if isinstance(found, Missed):
            self._tally.missed(found.miss)
            found = ((0.0, _error(found)),)
        # What is said at its recorded time must not keep the next request waiting.
        task = asyncio.create_task(self._say(found))
        self._saying.add(task)
        task.add_done_callback(self._saying.discard)
        if not any(wait for wait, _ in found):
            await task

    async def _say(self, due: Due) -> None:
        for wait, line in due:
            if wait:
                await asyncio.sleep(wait)
            await self._send(Kind.SERVER, line)

    async def _died(self) -> bool:
        """The recorded server ended by itself here, once everything was said."""
        code = self._telling.died()
        if code is None:
            return False
        await asyncio.gather(*self._saying)
        await self._send(Kind.END, Ended(exit_code=code).model_dump_json().encode())
        self._live.end(End.UPSTREAM_TRUNCATED, f"the server ended with {code} while its client was there")
        return True

    async def _send(self, kind: Kind, payload: bytes) -> None:
        frame = Frame(kind, self._live.now, payload)
        if message := as_message(frame):
            self._live.message(message)
        self._writer.write(bytes(frame))
        await self._writer.drain()


def _error(missed: Missed) -> bytes:
    """The JSON-RPC error under the live id."""
    request = Request("POST", "stdio://", (), missed.live)
    return error_response("mcp", STATUS, f"replay miss: {missed.miss.message}", "replay_miss", request)[1]
