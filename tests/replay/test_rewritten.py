from __future__ import annotations

import pytest

from wiretape.replay.rewritten import rewritten
from wiretape.traces.types import Response


@pytest.mark.parametrize(
    ("edits", "pieces"),
    [
        ([(1, 3, b"XYZ")], [b"aXYZd", b"efgh", b"ij"]),
        ([(3, 5, b"XYZ")], [b"abcXYZ", b"fgh", b"ij"]),
        ([(3, 9, b"X")], [b"abcX", b"", b"j"]),
        ([(0, 1, b""), (9, 10, b"JJ")], [b"bcd", b"efgh", b"iJJ"]),
        ([(2, 3, b"-"), (3, 6, b"+"), (7, 8, b"*")], [b"ab-+", b"g*", b"ij"]),
    ],
)
def test_what_replaces_something_lies_in_the_piece_where_that_began(
    edits: list[tuple[int, int, bytes]], pieces: list[bytes]
) -> None:
    made = rewritten(Response(200, (("ETag", "x"),), b"abcdefghij", chunks=((1, 4), (2, 4), (3, 2))), b"abcdefghij", edits)
    assert made.headers == ()
    assert [at for at, _ in made.chunks] == [1, 2, 3]
    found, at = [], 0
    for _, length in made.chunks:
        found.append(made.body[at : at + length])
        at += length
    assert found == pieces
    assert at == len(made.body)


def test_without_an_edit_it_is_the_same() -> None:
    response = Response(200, (("ETag", "x"),), b"abc", chunks=((0, 3),))
    assert rewritten(response, b"abc", []) is response
