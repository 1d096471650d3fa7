"""`replay show`: what a recording cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import replay


def test_it_tells_the_cost_where_prices_are_set(sums: Path) -> None:
    assert "cost" not in replay("show", "sums", cwd=sums).stdout
    assert "cost" not in shown(sums)
    (sums / "wiretape.toml").write_text("[prices.o4-mini]\ninput = 1.1\noutput = 4.4\n")
    assert replay("show", "sums", cwd=sums).stdout.endswith("\n\ncost: unknown\n")
    assert shown(sums)["cost"] is None
    with (sums / "wiretape.toml").open("a") as file:
        file.write('[prices."*"]\ninput = 1\noutput = 3\n')
    expected = ((64 + 92) * 1.1 + (87 + 56) * 4.4 + (201 + 296) * 1 + (58 + 30) * 3) / 1e6
    assert replay("show", "sums", cwd=sums).stdout.endswith(f"\n\ncost: {round(expected, 9)}\n")
    assert shown(sums)["cost"] == pytest.approx(expected)


def shown(sums: Path) -> dict[str, object]:
    return json.loads(replay("show", "sums", "--format", "json", cwd=sums).stdout)["recording"]
