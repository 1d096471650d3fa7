"""A2A as its two versions say it."""

import json

import pytest
from support.traces import exchange, kinds, of, trace
from support.wire import events, post, seen

from wiretape.traces.decoders import decode, detect, error_response
from wiretape.traces.types import A2aView, Event, McpView

URL = "https://agent.test/a2a"
OLD = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "message/send",
    "params": {"message": {"role": "user", "parts": [{"kind": "text", "text": "Book it"}], "messageId": "m1"}},
}
NEW = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "SendMessage",
    "params": {"message": {"role": "ROLE_USER", "parts": [{"text": "Book it"}], "messageId": "m1"}},
}


def answered(result) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


@pytest.mark.parametrize(
    ("sent", "result"),
    [
        (OLD, {"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "Booked"}]}),
        (NEW, {"message": {"role": "ROLE_AGENT", "parts": [{"text": "Booked"}]}}),
        (
            OLD,
            {
                "kind": "task",
                "id": "t1",
                "contextId": "c1",
                "status": {"state": "completed"},
                "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "Booked"}]}],
            },
        ),
    ],
)
def test_it_reads_what_the_other_agent_answered(sent, result):
    view = seen(post(URL, sent), answered(result))
    assert (view.said, view.text, view.complete, view.error) == ("Book it", "Booked", True, None)


def told(result) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def update(text: str, *, append: bool) -> dict:
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
    return told({"kind": "artifact-update", "taskId": "t1", "artifact": artifact, "append": append})


def status(state: str) -> dict:
    return told({"kind": "status-update", "taskId": "t1", "status": {"state": state}})


def test_it_puts_a_streamed_artifact_together():
    body = events(status("working"), update("Boo", append=False), update("ked", append=True), status("completed"))
    view = seen(post(URL, {**OLD, "method": "message/stream"}), body)
    assert (view.text, view.state, view.task, view.complete) == ("Booked", "completed", "t1", True)


def test_a_stream_that_was_cut_is_not_complete():
    body = events(told({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}}))
    view = seen(post(URL, {**NEW, "method": "SendStreamingMessage"}), body)
    assert (view.state, view.complete, view.text) == ("working", False, None)


def test_it_is_not_taken_for_mcp_nor_mcp_for_it():
    assert detect(post(URL, OLD)) == "a2a"
    ping = post(URL, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert isinstance(decode(exchange(1, url=URL, body=ping.body), b"{}"), McpView)


def test_a_miss_is_a_json_rpc_error_under_the_live_id():
    request = post(URL, {**OLD, "id": "x"})
    assert json.loads(error_response(detect(request), 422, "gone", "replay_miss", request)[1])["id"] == "x"


def test_its_step_is_a_request_and_an_event_beside_it():
    made = trace((exchange(1, url=URL), A2aView(method="message/send", said="Book it", text="Booked", complete=True)))
    assert kinds(made) == ["http_call", "event"]
    assert of(made, Event)[0].data == {"said": "Book it", "text": "Booked"}
