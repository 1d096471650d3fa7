"""A window over the assembled texts of an event stream: a secret that is cut over events is found, and mapped back.

The strings that stand at the same path of one event after another are one text (`choices[].delta.content`), apart by the
`index` members around them; so are plain `data:` lines, and so is the stream as it is written. Of each text only that end is
kept with which a secret may be under way. Places are counted from the stream's beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wiretape.traces.edits import Edit
from wiretape.traces.known import SHORTEST, Known
from wiretape.traces.named import Names
from wiretape.traces.secrets import ANYONES
from wiretape.traces.spans import StringValue, string_values
from wiretape.traces.views import View, unescaped

__all__ = ["Assembly"]

type _Key = tuple[object, ...]

_LEAST = 3
"""Bytes that a secret may begin with: fewer hold nothing back, since any word may end so (half an escape is none)."""

_LONGEST = 1 << 14
"""Bytes of a text that are kept for the end of a secret: what is longer is none, or is blanked out as one."""

_WRITTEN: _Key = ("as it is written",)
_DATA: _Key = ("data lines",)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text, and where it stands in the stream."""

    start: int
    """In the track's text."""
    base: int
    view: View

    @property
    def end(self) -> int:
        return self.start + len(self.view.text)

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Of the part of it within start…end of the track's text."""
        size = len(self.view.text)
        first, last = self.view.written(max(0, start - self.start), min(size, end - self.start))
        return self.base + first, self.base + last


class _Track:
    """One text: what of it is kept, and the pieces that this is made of."""

    def __init__(self) -> None:
        self.text = b""
        self.pieces: list[_Piece] = []
        self.free = 0
        """So many of them, the first, were not held back: they may be out."""

    def fork(self) -> _Track:
        other = _Track()
        other.text, other.pieces, other.free = self.text, list(self.pieces), self.free
        return other

    @property
    def held(self) -> int | None:
        """Where in the stream that begins which is held back."""
        return self.pieces[self.free].written(0, 0)[0] if self.free < len(self.pieces) else None

    def add(self, base: int, view: View) -> None:
        if view.text:
            self.pieces.append(_Piece(len(self.text), base, view))
            self.text += view.text

    def place(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """In the stream: the first piece of a secret that was held back becomes its placeholder, those after it are emptied."""
        for start, end, new in edits:
            held = [piece for piece in self.pieces[self.free :] if piece.start < end and start < piece.end]
            for piece in held:
                yield *piece.written(start, end), new if piece is held[0] else b""

    def keep(self, at: int) -> None:
        """Forget what stands before."""
        kept = [_Piece(piece.start - at, piece.base, piece.view) for piece in self.pieces if piece.end > at]
        self.free = max(0, self.free - (len(self.pieces) - len(kept)))
        self.text, self.pieces = self.text[at:], kept

    def let_go(self) -> None:
        """What is kept is no longer held back."""
        self.free = len(self.pieces)


class Assembly:
    """Units in (lines, frames, messages), edits out. `safe` tells how far they are final."""

    def __init__(self, known: Known, names: Names) -> None:
        self._known = known
        self._names = names
        self._tracks: dict[_Key, _Track] = {}
        self._open: set[_Key] = set()
        """Those that hold something back."""
        self.size = 0
        """Of all that came so far."""

    @property
    def safe(self) -> int:
        """No secret that stands before this place is still under way."""
        return min((self._tracks[key].held or 0 for key in self._open), default=self.size)

    def plain(self, data: bytes) -> list[Edit]:
        """A unit that is searched as it is written."""
        base, self.size = self.size, self.size + len(data)
        return self._add(_WRITTEN, base, View(data))

    def unit(self, data: bytes) -> list[Edit]:
        """Lines that may hold JSON, or JSON that stands alone."""
        found: list[Edit] = []
        at = self.size
        for line in data.splitlines(keepends=True) if data.lstrip()[:1] not in (b"[", b"{") else [data]:
            found += self._line(line, at)
            at += len(line)
        # What stands under a secret name is known by now.
        return found + self.plain(data)

    def _line(self, line: bytes, base: int) -> list[Edit]:
        start = min((at for mark in (b"{", b"[") if (at := line.find(mark)) >= 0), default=-1)
        if start >= 0:
            return self._json(line, start, base)
        if line.startswith(b"data:"):
            text = line[5:].rstrip(b"\r\n").removeprefix(b" ")
            return self._add(_DATA, base + line.find(text, 5), View(text))
        return []

    def close(self) -> list[Edit]:
        """Nothing more comes."""
        found: list[Edit] = []
        for key in tuple(self._open):
            found += self._settle(key, final=True)
        return found

    def give_up(self) -> list[Edit]:
        """Hold nothing back any longer. What begins as a known secret does, and not by accident, is blanked out; its rest is
        still found where it comes."""
        found: list[Edit] = []
        for key in self._open:
            track = self._tracks[key]
            at = self._known.scan(track.text)[1]
            if len(track.text) - at >= SHORTEST:
                found += track.place([(at, len(track.text), ANYONES.encode())])
            track.let_go()
        self._open.clear()
        return found

    def _json(self, data: bytes, start: int, base: int) -> list[Edit]:
        found: list[Edit] = []
        for value in sorted(string_values(data, start), key=lambda value: value.start):
            named = list(self._names.value(data, value, depth=0))
            found += ((base + first, base + last, new) for first, last, new in self._known.replacing(named))
            if (value.start, value.end) not in {(first, last) for first, last, _ in named}:
                found += self._value(data, value, base + value.start)
        for first, last, digits, quote in self._names.numbers(data):
            found.append((base + first, base + last, quote + self._known.placeholder(digits) + quote))
        return found

    def _value(self, data: bytes, value: StringValue, base: int) -> list[Edit]:
        """A string goes on one text, or on two: where an index goes up with each event, it parts what belongs together."""
        source = View(data[value.start : value.end])
        view = unescaped(source) or source
        part, whole = (value.path, value.places), (value.path,)
        if value.places and whole not in self._tracks:
            self._tracks[whole] = self._tracks.get((value.path, ()), _Track()).fork()
        found = self._add(part, base, view)
        return found + self._add(whole, base, view) if whole in self._tracks else found

    def _add(self, key: _Key, base: int, view: View) -> list[Edit]:
        track = self._tracks.setdefault(key, _Track())
        track.add(base, view)
        return self._settle(key, final=False)

    def _settle(self, key: _Key, *, final: bool) -> list[Edit]:
        track = self._tracks[key]
        found, named, keep = self._found(key, track.text, final=final)
        edits = list(track.place(self._known.replacing(named + [span for span in found if span[1] <= keep])))
        if len(track.text) - keep > _LONGEST:
            edits += track.place([(keep, len(track.text), ANYONES.encode())])
            keep = len(track.text)
        track.keep(keep)
        if len(track.text) < _LEAST and b"\\" not in track.text:
            track.let_go()
        (self._open.add if track.free < len(track.pieces) else self._open.discard)(key)
        return edits

    def _found(self, key: _Key, text: bytes, *, final: bool) -> tuple[list[Edit], list[Edit], int]:
        """(start, end, secret) by value and shape; the same by name; from where on the text must be kept."""
        found, keep = self._known.scan(text)
        named: list[Edit] = []
        if key not in (_WRITTEN, _DATA):
            named, opened = self._names.scan(text, final=final)
            keep = min(keep, opened)
        keep = len(text) if final else keep
        for start, end, _ in sorted(found, key=lambda span: -span[1]):
            # One that something longer may still grow from waits with it.
            keep = min(keep, start) if end > keep else keep
        return found, named, keep
