"""Replacements in a text by their places: sorted, free of overlaps, and applied to the whole or to pieces of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator

__all__ = ["Edit", "cut", "edited", "merged", "window"]

type Edit = tuple[int, int, bytes]
"""Replace what stands between these two places."""


def cut(data: bytes, sizes: deque[int]) -> list[bytes]:
    out, at = [], 0
    for size in sizes:
        out.append(data[at : at + size])
        at += size
    return out


def window(data: bytes, edits: list[Edit], start: int, end: int) -> Iterator[bytes]:
    """What becomes of data[start:end]: a replacement goes where its secret began."""
    at = start
    for first, last, new in edits:
        if last <= start or first >= end:
            continue
        yield data[at : max(at, first)]
        if first >= start:
            yield new
        at = min(last, end)
    yield data[at:end]


def edited(data: bytes, edits: list[Edit]) -> Iterator[bytes]:
    at = 0
    for start, end, new in edits:
        yield data[at:start]
        yield new
        at = end
    yield data[at:]


def merged(first: list[Edit], second: list[Edit]) -> list[Edit]:
    """Sorted and free of overlaps; where two overlap, one of `first`, else the earlier and longer one, stays."""
    kept = _apart(first)
    if second:
        starts = [edit[0] for edit in kept]
        free = [edit for edit in _apart(second) if not _overlaps(edit, kept, bisect_left(starts, edit[0]))]
        kept = sorted(kept + free)
    return kept


def _apart(edits: list[Edit]) -> list[Edit]:
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if not kept or edit[0] >= kept[-1][1]:
            kept.append(edit)
    return kept


def _overlaps(edit: Edit, sorted_edits: list[Edit], at: int) -> bool:
    """`at` is where it would be put among them."""
    before, after = sorted_edits[at - 1 : at] if at else [], sorted_edits[at : at + 1]
    return any(other[1] > edit[0] and other[0] < edit[1] for other in before + after)
