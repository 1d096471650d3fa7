"""Decoding golden recordings again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from wiretape.scenarios.rebuild import rebuild
from wiretape.traces.errors import UsageError

GOLDEN = Path(__file__).parents[2] / "recordings"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for ending in (".db", ".trace", ".yaml"):
        shutil.copy(GOLDEN / f"sums{ending}", tmp_path)
    return tmp_path


def test_it_counts_what_it_reads_and_leaves_a_text_that_is_up_to_date(folder: Path) -> None:
    before = (folder / "sums.trace").read_bytes()
    [one] = rebuild([folder])
    assert one.same
    assert "4 model calls, 3 tool calls; sums.trace is up to date" in one.says
    assert (folder / "sums.trace").read_bytes() == before


def test_it_renews_the_header_of_a_text_that_shows_the_same_steps(folder: Path) -> None:
    text = (folder / "sums.trace").read_text(encoding="utf-8")
    (folder / "sums.trace").write_text(text.replace("openai-chat 2", "openai-chat 1"), encoding="utf-8")
    [one] = rebuild([folder])
    assert one.same
    assert (folder / "sums.trace").read_text(encoding="utf-8") == text


def test_it_leaves_a_text_that_shows_other_steps_to_somebody_who_looks(folder: Path) -> None:
    text = (folder / "sums.trace").read_text(encoding="utf-8").replace("Florence", "Venice")
    (folder / "sums.trace").write_text(text, encoding="utf-8")
    [one] = rebuild([folder])
    assert not one.same
    assert "replay accept" in one.says
    assert (folder / "sums.trace").read_text(encoding="utf-8") == text


def test_it_says_which_path_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file or folder"):
        list(rebuild([tmp_path / "nothing.db"]))
