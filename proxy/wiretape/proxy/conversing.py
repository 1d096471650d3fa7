"""A recorded socket played to a live client: what is due goes out at its time, what is heard goes to the matcher."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from wiretape.proxy.capture import Live
from wiretape.proxy.channel import Channel
from wiretape.proxy.front import RESET_DELAY
from wiretape.proxy.tally import Tally
from wiretape.replay.conversation import Conversation
from wiretape.replay.miss import CLOSE_CODE, Miss, error_message
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import Level
from wiretape.traces.types import End, Message

__all__ = ["Converser"]

_FAREWELL = 10.0
"""Seconds that a client gets to answer a close."""

_DROPS = (End.UPSTREAM_TRUNCATED, End.UPSTREAM_RESET)


class Converser:
    """`live` keeps what is said, where a run asks for that; `level` is that of the handshake, which the tally has counted."""

    def __init__(
        self, channel: Channel, conversation: Conversation, live: Live, redactor: Redactor, tally: Tally, level: Level
    ) -> None:
        self._channel = channel
        self._conversation = conversation
        self._live = live
        self._redactor = redactor
        self._tally = tally
        self._level = level

    async def run(self) -> None:
        """To the end of the conversation; what is left then is to hang up."""
        while True:
            if await self._say_what_is_due():
                return await self._part()
            if self._conversation.over and self._conversation.exchange.end in _DROPS:
                return await self._drop()
            heard = await self._hear()
            if heard is None or heard.type == "close":
                return await self._left(heard)
            found = self._conversation.hear(replace(heard, data=self._redactor.body(heard.data, ())))
            if isinstance(found, Miss):
                return await self._refuse(found)
            self._level = self._tally.loosened(self._level, found)

    async def _say_what_is_due(self) -> bool:
        """Whether the server's close was among it."""
        parted = False
        for wait, message in self._conversation.due():
            if wait:
                await self._channel.flush()
                await self._channel.wait(wait)
            self._say(message)
            parted = parted or message.type == "close"
        await self._channel.flush()
        return parted

    def _say(self, message: Message) -> None:
        if not self._channel.gone:
            self._live.message(replace(message, at=self._live.now))
            self._channel.send(message)

    async def _hear(self) -> Message | None:
        heard = await self._channel.receive()
        if heard:
            heard = replace(heard, at=self._live.now)
            self._live.message(heard)
        return heard

    async def _left(self, goodbye: Message | None) -> None:
        """The client ended it, with a close or without."""
        if goodbye is None:
            self._conversation.leave()
            self._live.end(End.CLIENT_CLOSED)
            return
        self._say(self._conversation.goodbye(goodbye))
        await self._channel.flush()
        self._live.end(End.COMPLETE)

    async def _part(self) -> None:
        """Our close is said: the client's answer to it is the last word (RFC 6455, section 7)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                while (heard := await self._hear()) and heard.type != "close":
                    pass
        self._live.end(End.COMPLETE)

    async def _drop(self) -> None:
        end = self._conversation.exchange.end or End.INTERRUPTED
        await self._channel.wait(self._conversation.until_end())
        if end is End.UPSTREAM_RESET:
            await self._channel.wait(RESET_DELAY)
            self._channel.reset()
        self._live.end(end)

    async def _refuse(self, miss: Miss) -> None:
        self._tally.missed(miss)
        if not self._conversation.settled:
            self._tally.taken_back(self._level)
        self._say(Message(0, "server", "text", error_message(miss)))
        self._say(Message(0, "server", "close", b"replay miss", CLOSE_CODE))
        await self._channel.flush()
        await self._part()
