from __future__ import annotations

import json
from typing import Any

import pytest
from support.traces import ask, asking, exchange, executed, handing, model, said, trace, user

from wiretape.traces.types import End, ExchangeKind, RecordingStatus, Trace

CALL = ask("c1")
WHOLE = model(user("q"), text="a")


def tools(made: Trace) -> tuple[str, tuple[str, ...]]:
    return made.observed.tools, made.gaps


def test_tools_are_complete_where_every_model_call_was_read_to_its_end():
    made = trace(model(user("q"), asked=(CALL,)), model(user("q"), asking(CALL), handing("c1")), exchange(3))
    assert tools(made) == ("complete", ())


@pytest.mark.parametrize("end", [End.CLIENT_CLOSED, End.UPSTREAM_RESET, End.TIMEOUT, End.INTERRUPTED, None])
def test_a_cut_answer_may_hide_a_call(end: End | None):
    cut = exchange(2, end=end), model(user("other"), complete=False)
    assert tools(trace(WHOLE, cut)) == ("partial", ("the answer in exchange 2 was cut and not asked for again",))


def test_an_answer_that_was_cut_and_made_again_hides_none():
    cut = exchange(1, end=End.UPSTREAM_RESET), model(user("q"), complete=False)
    assert tools(trace(cut, WHOLE)) == ("complete", ())


def test_an_error_of_the_provider_hides_none():
    assert trace(model(user("q"), text=None, error="rate limited")).observed.tools == "complete"


def test_events_of_an_unknown_kind_may_hide_a_call():
    assert tools(trace(model(user("q"), unknown_events=1))) == ("partial", ("exchange 1 holds events of an unknown kind",))


def test_a_history_tells_of_model_calls_that_went_another_way():
    made = trace(WHOLE, model(user("q"), said("a"), asking(ask("c7", "refund")), handing("c7")))
    assert tools(made) == ("partial", ("exchange 2 shows a call of refund that was not seen being asked for",))


def test_a_client_that_renames_calls_hides_none():
    renamed = CALL.model_copy(update={"call_id": "mine"})
    assert (
        trace(model(user("q"), asked=(CALL,)), model(user("q"), asking(renamed), handing("mine"))).observed.tools == "complete"
    )


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"contents": [{"parts": []}]}, "partial"),
        ({"messages": []}, "partial"),
        ({"model": "m", "prompt": "q"}, "partial"),
        ({"model": "T-Ford"}, "complete"),
        ({"order": "A-17"}, "complete"),
        ([1], "complete"),
    ],
)
def test_a_request_like_a_model_call_that_nobody_can_read_may_hide_one(body: Any, word: str):
    assert trace(WHOLE, exchange(2, body=json.dumps(body).encode())).observed.tools == word


def test_a_socket_that_nobody_can_read_may_hide_a_call():
    made = trace(WHOLE, exchange(2, "GET", "wss://api.test/realtime", kind=ExchangeKind.WEBSOCKET, status=101))
    assert tools(made) == ("partial", ("exchange 2 is a websocket conversation of no known API",))


def test_a_refused_connection_may_hide_a_call():
    refused = exchange(2, "CONNECT", "https://other.test:443", status=None, end=End.REFUSED, error="unknown CA")
    assert tools(trace(WHOLE, refused)) == ("partial", ("connections to other.test were refused by the client",))


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (trace(), "none"),
        (trace(exchange(1)), "none"),
        (trace(executed("read")), "partial"),
        (trace(exchange(1), observe={"complete": ["tools"]}), "complete"),
    ],
)
def test_without_a_model_call_nobody_knows_what_was_asked_for(made: Trace, word: str):
    assert made.observed.tools == word


@pytest.mark.parametrize("status", [RecordingStatus.INCOMPLETE, RecordingStatus.INTERRUPTED])
def test_of_a_recording_that_was_cut_nothing_is_complete(status: RecordingStatus):
    vouched = {"complete": ["tools", "approvals", "skills", "state"]}
    made = trace(WHOLE, info={"status": status}, observe=vouched)
    assert set(made.observed.model_dump().values()) == {"partial"}
    assert made.gaps == (f"the recording is {status}",)


def test_the_scenario_vouches_for_channels():
    made = trace(WHOLE, observe={"complete": ["approvals", "skills"]})
    assert (made.observed.approvals, made.observed.skills, made.observed.state) == ("complete", "complete", "none")


@pytest.mark.parametrize(
    ("event", "channel"),
    [
        ({"type": "approval_requested", "tool": "refund"}, "approvals"),
        ({"type": "skill_used", "skill": "x"}, "skills"),
        ({"type": "state_changed", "object": "a", "name": "b"}, "state"),
    ],
)
def test_a_channel_on_which_something_was_seen_is_partly_observed(event: dict[str, Any], channel: str):
    seen = trace(WHOLE, events=[(9.0, "", event)]).observed.model_dump()
    assert {name for name, word in seen.items() if word == "partial"} == {channel}


def test_a_mapping_that_found_nothing_has_looked_all_the_same():
    made = trace(WHOLE, observe={"approvals": [{"tool": "ask_user"}]})
    assert (made.observed.approvals, made.observed.skills) == ("partial", "none")
