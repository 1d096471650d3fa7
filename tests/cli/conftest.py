from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.command import chat_answer
from support.upstream import Asked, Upstream, Wire, whole


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
