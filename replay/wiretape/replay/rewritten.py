"""A recorded response with other bytes in some places: its pieces keep their boundaries, digests that would lie are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from wiretape.traces import codings
from wiretape.traces.edits import Edit, edited
from wiretape.traces.types import Response

__all__ = ["rewritten"]

_DIGESTS = frozenset({"etag", "content-md5", "digest", "content-digest", "repr-digest"})


def rewritten(response: Response, plain: bytes, edits: list[Edit]) -> Response:
    """`plain` is its body without content coding; the edits are sorted and free of overlaps."""
    if not edits:
        return response
    headers = tuple(pair for pair in response.headers if pair[0].lower() not in _DIGESTS)
    response, body = replace(response, headers=headers), b"".join(edited(plain, edits))
    if codings.codings(response.headers):
        body = codings.redo(body, response.headers)
        at = response.chunks[-1][0] if response.chunks else 0
        return replace(response, body=body, chunks=((at, len(body)),))
    moved = list(_moved([*accumulate(length for _, length in response.chunks)], edits))
    chunks = tuple((at, end - start) for (at, _), start, end in zip(response.chunks, [0, *moved], moved, strict=False))
    return replace(response, body=body, chunks=chunks)


def _moved(ends: list[int], edits: list[Edit]) -> Iterator[int]:
    """Where the ends of pieces lie now; what replaces something lies in the piece where that began."""
    done = shift = 0
    for end in ends:
        while done < len(edits) and edits[done][1] <= end:
            first, last, new = edits[done]
            done, shift = done + 1, shift + len(new) - (last - first)
        begun = done < len(edits) and edits[done][0] < end
        yield end + shift + (len(edits[done][2]) - (end - edits[done][0]) if begun else 0)
