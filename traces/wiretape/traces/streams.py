"""Redaction of what comes in pieces: response bodies, and the messages of a socket.

Payload goes out as soon as no known secret can still span it: of event streams whole lines, of what is no text piece by piece.
JSON and encoded bodies are held until the end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice

from wiretape.traces.assembly import Assembly
from wiretape.traces.codings import codings
from wiretape.traces.edits import Edit, edited, merged, window
from wiretape.traces.redact import Redactor
from wiretape.traces.types import Headers, Message, header

__all__ = ["LONGEST_HELD", "ConversationRedactor", "Pieces", "StreamRedactor"]

_LONGEST_LINE = 1 << 18
LONGEST_HELD = 1 << 18
"""Bytes that wait for the rest of a secret that may never come."""

_BY_LINE = ("event-stream", "ndjson", "jsonl", "text/plain")
_OPAQUE = ("image/", "audio/", "video/")


class Pieces:
    """The pieces of a body, whose bytes come back redacted: as many, in order, of other lengths."""

    def __init__(self) -> None:
        self._sizes: deque[int] = deque()
        """Lengths of those whose bytes are not all back yet: the first is what is left of it to come."""
        self._ready = bytearray()
        """The redacted beginning of the first."""
        self.changed = False

    def add(self, size: int) -> None:
        self._sizes.append(size)

    def take(self, data: bytes, edits: list[Edit]) -> list[bytes]:
        """The next bytes of the body with their replacements: the pieces that these make whole."""
        self.changed = self.changed or bool(edits)
        out: list[bytes] = []
        at = passed = 0
        while self._sizes and at + self._sizes[0] <= len(data):
            size = self._sizes.popleft()
            out.append(bytes(self._ready) + b"".join(window(data, islice(edits, passed, None), at, at + size)))
            self._ready.clear()
            at += size
            while passed < len(edits) and edits[passed][1] <= at:
                passed += 1
        if at < len(data):
            self._ready += b"".join(window(data, islice(edits, passed, None), at, len(data)))
            self._sizes[0] -= len(data) - at
        return out

    def rest(self) -> list[bytes]:
        """Those that were empty."""
        return [b"" for _ in range(len(self._sizes))]


class StreamRedactor:
    """Pieces in, redacted pieces out: one for each, in order, their lengths may change."""

    def __init__(self, redactor: Redactor, headers: Headers) -> None:
        kind = (header(headers, "content-type") or "").lower()
        self._redactor = redactor
        self._headers = headers
        self._coded = bool(codings(headers))
        self._opaque = not self._coded and kind.startswith(_OPAQUE)
        self._by_line = not self._coded and any(word in kind for word in _BY_LINE)
        self._assembly = redactor.assembly()
        self.pieces = Pieces()
        self._held = bytearray()
        self._out = 0
        """How much went out: where what is held begins in the stream."""
        self._units: deque[int] = deque()
        """Where the units end that are searched and not out."""
        self._edits: list[Edit] = []

    def feed(self, data: bytes) -> list[bytes]:
        if self._redactor.off:
            return [data]
        self.pieces.add(len(data))
        self._held += data
        if self._opaque:
            self._search(len(self._held))
        elif self._by_line:
            self._search(self._whole_lines())
        else:
            return []
        return self._release(self._assembly.safe)

    def close(self) -> list[bytes]:
        """The rest; a piece that was empty is one too."""
        if self._opaque or self._by_line:
            self._search(len(self._held))
            self._edits += self._assembly.close()
            out = self._release(self._out + len(self._held))
        else:
            out = self._release_whole()
        return out + self.pieces.rest()

    def _whole_lines(self) -> int:
        end = max(self._held.rfind(b"\n"), self._held.rfind(b"\r")) + 1
        return len(self._held) if len(self._held) - end > _LONGEST_LINE else end

    def _search(self, end: int) -> None:
        """What came since the last time, up to there."""
        new = bytes(self._held[self._assembly.size - self._out : end])
        if new:
            self._edits += self._assembly.plain(new) if self._opaque else self._assembly.unit(new)
            self._units.append(self._assembly.size)

    def _release(self, safe: int) -> list[bytes]:
        if self._assembly.size - safe > LONGEST_HELD:
            self._edits += self._assembly.give_up()
            safe = self._assembly.size
        end = self._out
        while self._units and self._units[0] <= safe:
            end = self._units.popleft()
        return self._let_go(end - self._out)

    def _let_go(self, end: int) -> list[bytes]:
        """So many bytes; no replacement spans their end."""
        unit = bytes(self._held[:end])
        del self._held[:end]
        edits = merged((start - self._out, last - self._out, new) for start, last, new in self._edits if start >= self._out)
        self._out += end
        self._edits = [(start + self._out - end, last + self._out - end, new) for start, last, new in edits if start >= end]
        edits = [edit for edit in edits if edit[0] < end]
        self._redactor.tell(edits)
        return self.pieces.take(unit, edits)

    def _release_whole(self) -> list[bytes]:
        data = bytes(self._held)
        if not self._coded:
            self._edits = self._redactor.edits(data, self._headers)
            return self._let_go(len(data))
        redacted = self._redactor.body(data, self._headers)
        # Where the coded bytes are other ones, what came in pieces is one.
        return self.pieces.take(data, [] if redacted == data else [(0, len(data), redacted)])


class ConversationRedactor:
    """Messages in, redacted messages out, in their order: each waits until no secret of its sender can still span it."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._assemblies: dict[str, Assembly] = {}
        self._edits: dict[str, list[Edit]] = {}
        self._held: deque[tuple[Message, int, int]] = deque()
        """With their places in what their sender said so far."""

    def feed(self, message: Message) -> list[Message]:
        if self._redactor.off:
            return [message]
        assembly = self._assemblies.setdefault(message.sender, self._redactor.assembly())
        start = assembly.size
        self._edits.setdefault(message.sender, []).extend(assembly.unit(message.data))
        self._held.append((message, start, assembly.size))
        if assembly.size - assembly.safe > LONGEST_HELD:
            self._edits[message.sender] += assembly.give_up()
        return self._release()

    def close(self) -> list[Message]:
        for sender, assembly in self._assemblies.items():
            self._edits[sender] += assembly.close()
        return self._release()

    def _release(self) -> list[Message]:
        out: list[Message] = []
        while self._held and self._held[0][2] <= self._assemblies[self._held[0][0].sender].safe:
            message, start, end = self._held.popleft()
            before = [edit for edit in self._edits[message.sender] if start <= edit[0] < end]
            edits = merged((first - start, last - start, new) for first, last, new in before)
            self._edits[message.sender] = [edit for edit in self._edits[message.sender] if edit[0] >= end]
            self._redactor.tell(edits)
            out.append(replace(message, data=b"".join(edited(message.data, edits))))
        return out
