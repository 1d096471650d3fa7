"""Server-sent events, incremental and total: bytes split anywhere in, events out.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation. A line ends with CR LF, LF or CR,
mixed at will; a byte order mark before the first line is set aside; lines that begin with a colon are comments; a field that
nobody knows is nothing. An event is what a blank line closes and what has at least one `data` line, empty ones included
(MCP primes its streams with them). Bytes that are no UTF-8 become U+FFFD, never an exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SseEvent", "SseReader"]

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    name: str
    """What `event` said, else `message`."""
    data: str
    """The data lines, joined by line feeds."""


class SseReader:
    """Time and memory are linear in what was fed; what is kept is the open event alone."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._scanned = 0
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that `data` completes. A CR ends its line at once; the LF that may follow belongs to it."""
        if data and self._after_cr:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        self._rest += data
        events, start = [], 0
        while end := _LINE_END.search(self._rest, max(start, self._scanned)):
            event = self._line(bytes(self._rest[start : end.start()]))
            if event is not None:
                events.append(event)
            start = end.end()
            self._after_cr = end.group() == b"\r" and start == len(self._rest)
        del self._rest[:start]
        self._scanned = len(self._rest)
        return events

    def pending(self) -> SseEvent | None:
        """The event that is still open, as if the stream ended here: some servers leave out the last blank line."""
        name, data = self._field(bytes(self._rest))
        lines = [*self._data, data] if name == "data" else self._data
        return self._event(lines) if lines else None

    def _line(self, line: bytes) -> SseEvent | None:
        if not line:
            self._first = False
            return self._close()
        name, value = self._field(line)
        self._first = False
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        return None

    def _field(self, line: bytes) -> tuple[str, str]:
        if self._first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        name, _, value = line.decode("utf-8", "replace").partition(":")
        return name, value.removeprefix(" ")

    def _close(self) -> SseEvent | None:
        event = self._event(self._data) if self._data else None
        self._name, self._data = "", []
        return event

    def _event(self, lines: list[str]) -> SseEvent:
        return SseEvent(self._name or "message", "\n".join(lines))
