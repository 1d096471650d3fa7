from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import chat_answer
from support.upstream import Asked, Upstream, Wire, whole

RECORDINGS = Path(__file__).parents[2] / "recordings"


def answer(wire: Wire, asked: Asked) -> None:
    """A model that asks for get_order once and then answers."""
    messages = json.loads(asked.body)["messages"]
    done = messages[-1]["role"] == "tool"
    body = chat_answer("Order 7 is shipped.") if done else chat_answer(None, [("c1", "get_order", '{"id": 7}')])
    wire.send(whole(body, "Content-Type: application/json"))


@pytest.fixture
def model() -> Iterator[Upstream]:
    up = Upstream(answer)
    yield up
    up.stop()


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    """A project with the golden recording `sums`."""
    (tmp_path / "recordings").mkdir()
    for end in ("db", "trace", "yaml"):
        shutil.copy(RECORDINGS / f"sums.{end}", tmp_path / "recordings")
    return tmp_path
