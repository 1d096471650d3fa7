"""Where a JSON body may be cut so that what was sent before is recognised: at the elements of its long arrays.

An agent resends its whole history on each call. The top-level arrays `messages`, `input`, `contents` and `tools` are cut at
the end of each element, by the bytes as they stand: nothing is serialised anew, and the parts joined are compared with the
body before they count. Anything unexpected (no object, damaged, not UTF-8, nested too deep) is not cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from itertools import pairwise

__all__ = ["History", "split"]

_ARRAYS = frozenset({"contents", "input", "messages", "tools"})
_SMALLEST = 512
"""Bytes below which a body is not worth cutting."""

_MOST_KNOWN = 1 << 16
"""Elements remembered; a longer history than that of any agent seen so far."""

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def split(body: bytes) -> list[bytes]:
    """The parts of a body in order, joined equal to it; empty where it is not cut."""
    if len(body) < _SMALLEST or not body.lstrip().startswith(b"{") or not any(b'"%b"' % a.encode() in body for a in _ARRAYS):
        return []
    try:
        text = body.decode()
        cuts = [0, *_cuts(text), len(text)]
    except (ValueError, IndexError, RecursionError):
        return []
    # Characters are bytes in ASCII, where slicing the bytes saves encoding every part.
    source: str | bytes = body if len(text) == len(body) else text
    slices = [source[start:end] for start, end in pairwise(cuts)]
    parts = [part.encode() if isinstance(part, str) else part for part in slices]
    return parts if len(parts) > 2 and b"".join(parts) == body else []


def _cuts(text: str) -> Generator[int, None, None]:
    """Offsets at which the arrays of interest begin and their elements end. ValueError or IndexError where it is not JSON."""
    at = _expected(text, 0, "{")
    while True:
        name, at = _DECODER.raw_decode(text, _skipped(text, at))
        at = _skipped(text, _expected(text, at, ":"))
        if name in _ARRAYS and text[at] == "[" and text[_skipped(text, at + 1)] != "]":
            at += 1
            yield at
            at = yield from _elements(text, at)
        else:
            _, at = _DECODER.raw_decode(text, at)
        at = _skipped(text, at)
        if text[at] == "}":
            return
        at = _expected(text, at, ",")


def _elements(text: str, at: int) -> Generator[int, None, int]:
    """Yields where each element ends, returns the place after the array."""
    while True:
        _, at = _DECODER.raw_decode(text, _skipped(text, at))
        yield at
        at = _skipped(text, at)
        if text[at] == "]":
            return at + 1
        at = _expected(text, at, ",")


def _skipped(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()


def _expected(text: str, at: int, mark: str) -> int:
    at = _skipped(text, at)
    if text[at] != mark:
        raise ValueError(f"expected {mark!r}")
    return at + 1


class History:
    """Which elements have passed: those of a body are first only remembered, and put away once a second body has them.

    So a single request stays one compressed piece, which is smaller, and a conversation is interned from its second turn on.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, list[int]] = {}
        """Digest of an element → ids of the bodies that it is kept in; none where it was only seen."""

    def mostly_known(self, digests: Sequence[bytes], parts: Sequence[bytes]) -> bool:
        """Whether half of these bytes were seen before; from now on all of them were."""
        known = sum(len(part) for key, part in zip(digests, parts, strict=True) if key in self._known)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        for key in digests:
            self._known.setdefault(key, [])
        return bool(parts) and 2 * known >= sum(map(len, parts))

    def ids(self, digest: bytes) -> list[int]:
        return self._known.get(digest, [])

    def keep(self, digest: bytes, ids: list[int]) -> None:
        self._known[digest] = ids
