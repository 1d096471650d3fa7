from __future__ import annotations

import json
from typing import Any

import pytest

from wiretape.proxy.events import EVENT_FIELDS, read_event

GOOD: list[dict[str, Any]] = [
    {"type": "approval_requested", "tool": "refund", "call_id": "c1"},
    {"type": "approval_decided", "tool": "refund", "approved": True},
    {"type": "skill_used", "skill": "refunds", "session": "run-42"},
    {"type": "state_changed", "object": "refund", "name": "A-17", "from": None, "to": {"paid": True}},
    {"type": "turn_started", "turn": 2, "input": "Yes"},
    {"type": "final_answer", "text": "done"},
    {"type": "run_ended", "as": "goal_achieved"},
    {"type": "custom", "name": "x", "data": [1]},
]


@pytest.mark.parametrize("event", GOOD, ids=lambda event: str(event["type"]))
def test_it_takes_every_kind_of_event(event: dict[str, Any]) -> None:
    assert read_event(json.dumps(event).encode()) == event


def test_every_kind_has_an_example_above() -> None:
    assert {event["type"] for event in GOOD} == set(EVENT_FIELDS)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "JSON"),
        (b"[1]", "list"),
        (b'{"type": "nope"}', "nope"),
        (b'{"type": ["skill_used"]}', "skill_used"),
        (b'{"type": "skill_used"}', "skill"),
        (b'{"type": "skill_used", "skill": 7}', "int"),
        (b'{"type": "skill_used", "skill": "x", "extra": 1}', "extra"),
        (b'{"type": "approval_decided", "tool": "x", "approved": "yes"}', "approved"),
    ],
)
def test_it_says_what_does_not_fit(body: bytes, named: str) -> None:
    sentence = read_event(body)
    assert isinstance(sentence, str)
    assert named in sentence
