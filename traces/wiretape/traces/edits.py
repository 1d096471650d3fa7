"""Replacements in a text by their places: sorted, free of overlaps, and applied to the whole or to pieces of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["Edit", "edited", "merged", "window"]

type Edit = tuple[int, int, bytes]
"""Replace what stands between these two places."""


def window(data: bytes, edits: Iterable[Edit], start: int, end: int) -> Iterator[bytes]:
    """What becomes of data[start:end]: a replacement goes where its secret began. `edits` are sorted, and end behind start."""
    at = start
    for first, last, new in edits:
        if first >= end:
            break
        yield data[at : max(at, first)]
        if first >= start:
            yield new
        at = max(at, min(last, end))
    yield data[at:end]


def edited(data: bytes, edits: list[Edit]) -> Iterator[bytes]:
    at = 0
    for start, end, new in edits:
        yield data[at:start]
        yield new
        at = end
    yield data[at:]


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """Sorted and free of overlaps: those that overlap become one over all that they cover, with what the longest says."""
    kept: list[Edit] = []
    longest = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, new))
            longest = end - start
        else:
            first, last, before = kept[-1]
            kept[-1] = first, max(last, end), new if end - start > longest else before
            longest = max(longest, end - start)
    return kept
