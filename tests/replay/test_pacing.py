from __future__ import annotations

from wiretape.replay.pacing import schedule
from wiretape.traces.types import Response

ANSWER = Response(200, (), b"abcdef", chunks=((1_000_000, 2), (1_500_000, 3), (1_500_000, 1)))


def test_at_instant_pace_nothing_waits() -> None:
    assert schedule(ANSWER, 0) == ((0, b"ab"), (0, b"cde"), (0, b"f"))


def test_at_recorded_pace_pieces_come_as_far_apart_as_they_came() -> None:
    assert schedule(ANSWER, 1) == ((1.0, b"ab"), (0.5, b"cde"), (0, b"f"))


def test_a_factor_stretches_all_waits() -> None:
    assert [wait for wait, _ in schedule(ANSWER, 0.5)] == [0.5, 0.25, 0]


def test_a_body_without_chunks_is_one_piece() -> None:
    assert schedule(Response(200, (), b"abc"), 1) == ((0.0, b"abc"),)
    assert schedule(Response(204), 1) == ()
