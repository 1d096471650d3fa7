from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.stores import opened, plain, put

from wiretape.scenarios.evidence import load
from wiretape.traces.types import End


def test_an_interrupted_request_does_not_take_the_place_of_its_repetition(tmp_path: Path) -> None:
    """Its answer is not served, so the same request is answered by the exchange that came after."""
    path = tmp_path / "a.db"
    writer = opened(path)
    first = plain(1)
    put(writer, replace(first, end=End.INTERRUPTED))
    put(writer, replace(first, seq=2))
    writer.close()
    with load(str(path)) as evidence:
        assert evidence.lost() == ()
