"""What passes on a recorded socket, read along: messages go to the store as they pass, and relaying never fails for it."""

from __future__ import annotations

from wiretape.proxy.capture import Live
from wiretape.proxy.frames import FrameReader, Sender
from wiretape.proxy.handshake import unpackers
from wiretape.traces.types import End, Headers

__all__ = ["Overheard"]


class Overheard:
    """One socket; `agreed` is the head of the 101."""

    def __init__(self, live: Live, agreed: Headers) -> None:
        client, server = unpackers(agreed)
        self._live = live
        self._readers: dict[Sender, FrameReader] = {
            "client": FrameReader("client", client),
            "server": FrameReader("server", server),
        }
        self._parted: set[Sender] = set()
        """Who sent a close."""

    def data(self, sender: Sender, data: bytes) -> None:
        for message in self._readers[sender].feed(data, self._live.now):
            self._live.message(message)
            if message.type == "close":
                self._parted.add(sender)
        if len(self._parted) == 2:
            self.end(End.COMPLETE)

    def end(self, end: End) -> None:
        """The connection ended so; a conversation in which anybody said goodbye is complete however it was then cut."""
        broken = [f"the {sender}'s frames: {reader.broken}" for sender, reader in self._readers.items() if reader.broken]
        error = f"passed on, but could not be read to the end: {'; '.join(broken)}" if broken else None
        self._live.end(End.COMPLETE if self._parted else end, error)
