"""What an export is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from wiretape.traces.assemble import AgentEvent
from wiretape.traces.types import Exchange, RecordingInfo, Trace

__all__ = ["Recorded"]


class Recorded(Protocol):
    """One recording, or one session of it. Each question is answered anew, so that an export pays for what it needs alone."""

    @property
    def info(self) -> RecordingInfo: ...

    def exchanges(self) -> Iterator[Exchange]:
        """In the order of their numbers, one at a time in memory."""

    def events(self) -> Sequence[AgentEvent]: ...

    def trace(self) -> Trace: ...

    def digest(self) -> str: ...
