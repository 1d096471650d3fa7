"""When each recorded piece goes out: at once, at its recorded times, or at these times by a factor."""

from __future__ import annotations

from wiretape.traces.types import Response

__all__ = ["schedule"]


def schedule(response: Response, pace: float) -> tuple[tuple[float, bytes], ...]:
    """(seconds to wait before it, piece) for each recorded piece; `pace` 0 waits for nothing, 1 as long as was recorded.

    The first piece waits for its own recorded time since the request started.
    """
    pieces: list[tuple[float, bytes]] = []
    at, before = 0, 0
    for arrived, length in response.chunks:
        pieces.append((pace * (arrived - before) / 1e6, response.body[at : at + length]))
        at, before = at + length, arrived
    if at < len(response.body) or (not pieces and response.body):
        pieces.append((0.0, response.body[at:]))
    return tuple(pieces)
