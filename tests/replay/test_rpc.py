from __future__ import annotations

import json

import pytest

from wiretape.replay.rpc import courtesy, with_live_ids
from wiretape.traces.types import Exchange, Request, Response

SSE = (("Content-Type", "text/event-stream"),)
JSON = (("Content-Type", "application/json"),)


def call(id_: str, token: str = "1", tool: str = "t") -> Request:
    params = {"name": tool, "_meta": {"progressToken": "%"}}
    text = json.dumps({"jsonrpc": "2.0", "id": "@", "method": "tools/call", "params": params})
    return Request("POST", "http://x.test/mcp", JSON, text.replace('"@"', id_).replace('"%"', token).encode())


@pytest.mark.parametrize("live", ['"a-7"', '"1"', "0", "9007199254740993", "1.0"])
def test_the_live_id_comes_back_with_its_exact_text(live: str) -> None:
    body = b'{ "jsonrpc":"2.0", "result":{"id":1,"content":[]} , "id" : 1 }'
    got = with_live_ids(Exchange(1, call("1")), Response(200, JSON, body, chunks=((5, 20), (9, len(body) - 20))), call(live))
    assert got.body == body.replace(b'"id" : 1 }', f'"id" : {live} }}'.encode())
    assert sum(size for _, size in got.chunks) == len(got.body)
    assert [at for at, _ in got.chunks] == [5, 9]


def test_in_a_stream_id_and_progress_token_are_replaced_event_by_event() -> None:
    events = [
        b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}\n\n',
        b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    ]
    body = b"".join(events)
    chunks = tuple((at, len(event)) for at, event in enumerate(events))
    got = with_live_ids(Exchange(1, call("1", "1")), Response(200, SSE, body, chunks=chunks), call('"live"', '"tok"'))
    first, second = got.body[: got.chunks[0][1]], got.body[got.chunks[0][1] :]
    assert first == events[0].replace(b'"progressToken":1', b'"progressToken":"tok"')
    assert second == events[1].replace(b'"id":1', b'"id":"live"')


def test_an_answer_without_an_id_keeps_its_null() -> None:
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}'
    assert with_live_ids(Exchange(1, call("1")), Response(400, JSON, body), call('"x"')).body == body


def test_the_same_ids_leave_the_answer_alone() -> None:
    response = Response(200, JSON, b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert with_live_ids(Exchange(1, call("1")), response, call("1")) is response


def test_a_batch_in_another_order_gets_each_id_right() -> None:
    def batch(*pairs: tuple[object, str]) -> Request:
        messages = [{"jsonrpc": "2.0", "id": id_, "method": method} for id_, method in pairs]
        return Request("POST", "http://x.test/mcp", JSON, json.dumps(messages).encode())

    recorded, live = batch((1, "a"), ("b", "c")), batch((6, "c"), (5, "a"))
    body = b'[{"jsonrpc":"2.0","id":"b","result":"of c"},{"jsonrpc":"2.0","id":1,"result":"of a"}]'
    got = json.loads(with_live_ids(Exchange(1, recorded), Response(200, JSON, body), live).body)
    assert {each["id"]: each["result"] for each in got} == {6: "of c", 5: "of a"}


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (Request("POST", "http://x.test/mcp", JSON, b'{"jsonrpc":"2.0","method":"notifications/x"}'), 202),
        (Request("POST", "http://x.test/mcp", JSON, b'{"jsonrpc":"2.0","id":9,"result":{}}'), 202),
        (Request("GET", "http://x.test/mcp", (("Mcp-Session-Id", "s"),)), 405),
        (Request("DELETE", "http://x.test/mcp", (("Mcp-Session-Id", "s"),)), 405),
        (Request("GET", "http://x.test/anything"), None),
        (call("1"), None),
    ],
)
def test_only_what_needs_no_recording_is_answered_out_of_courtesy(request_: Request, status: int | None) -> None:
    found = courtesy(request_)
    assert (found and found[0]) == status


def test_one_message_alone_gets_its_live_id_whatever_else_varies() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    got = with_live_ids(Exchange(1, call("1", tool="a")), Response(200, JSON, body), call('"x"', tool="b"))
    assert json.loads(got.body)["id"] == "x"
