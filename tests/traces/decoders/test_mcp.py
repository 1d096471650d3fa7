"""MCP over HTTP: requests, batches, answers as JSON and as streams, sessions."""

import json

import pytest
from support.wire import CAPTURES, events, post, seen

from wiretape.traces.decoders import DECODERS, decode, detect
from wiretape.traces.types import End, Exchange, McpAnswer, McpRequest, Response

URL = "https://mcp.test/mcp"
EVENTS = ("Accept", "text/event-stream")
SESSION = ("Mcp-Session-Id", "s1")


def rpc(method, id_=None, **fields):
    return {"jsonrpc": "2.0", "method": method, **({} if id_ is None else {"id": id_}), **fields}


def result(id_, value=None, **fields):
    return {"jsonrpc": "2.0", "id": id_, **(fields or {"result": value or {}})}


CALL = post(URL, rpc("tools/call", 1, params={"name": "x", "arguments": {"a": 1}}))


def reader(request, body=b"", status=200):
    made = DECODERS["mcp"].reader(request, status, None)
    made.feed(body)
    return made


def test_it_links_request_and_answer_by_the_json_text_of_their_id():
    for id_, text in ((1, "1"), ("1", '"1"'), ("a-7", '"a-7"'), (9007199254740993, "9007199254740993"), (1.0, "1.0"), (0, "0")):
        view = seen(post(URL, rpc("tools/call", id_)), json.dumps(result(id_)).encode())
        assert (view.requests, view.answers) == ((McpRequest(id=text, method="tools/call"),), (McpAnswer(id=text, result={}),))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_it_reads_an_answer_in_a_stream_after_a_priming_event_and_notifications(end):
    note = rpc("notifications/progress", params={"progressToken": 1, "progress": 1})
    lines = [
        "id: s1:0",
        "retry: 1000",
        "data:",
        "",
        ": ping",
        "",
        "event: message",
        f"data: {json.dumps(note)}",
        "",
        f"data: {json.dumps(result(1, {'a': 1}))}",
        "",
        "",
    ]
    view = seen(CALL, end.join(lines).encode())
    assert view.answers == (McpAnswer(id="1", result={"a": 1}),)
    assert view.from_server == (McpRequest(id=None, method="notifications/progress", params=note["params"]),)
    assert (view.unknown_events, view.error) == (0, None)


def test_it_reads_batches_answered_in_another_order():
    request = post(URL, [rpc("tools/list", 1), rpc("notifications/x"), rpc("tools/call", "b")])
    answers = [result("b", {"b": 1}), result(1, {"tools": [{"name": "x"}]})]
    for body in (events(*answers), events(answers), json.dumps(answers).encode()):
        view = seen(request, body)
        assert [each.id for each in view.requests] == ["1", None, '"b"']
        assert [each.id for each in view.answers] == ['"b"', "1"]
        assert [tool.name for tool in view.declared] == ["x"]


def test_it_declares_the_tools_of_a_list_with_their_hints():
    tools = [
        {
            "name": "read",
            "description": "d",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True, "destructiveHint": False},
        },
        {"name": "wipe", "inputSchema": {}, "annotations": {"destructiveHint": True, "readOnlyHint": "no"}},
        {"name": "plain", "annotations": None},
    ]
    view = seen(post(URL, rpc("tools/list", 1)), json.dumps(result(1, {"tools": tools})).encode())
    assert [(tool.name, tool.read_only, tool.destructive) for tool in view.declared] == [
        ("read", True, False),
        ("wipe", None, True),
        ("plain", None, None),
    ]
    assert view.declared[0].parameters == {"type": "object"}


def test_it_declares_no_tools_of_other_answers():
    assert seen(CALL, json.dumps(result(1, {"tools": [{"name": "x"}]})).encode()).declared == ()


def test_it_names_the_server_of_an_initialize():
    view = seen(CAPTURES["mcp/initialize"].request, CAPTURES["mcp/initialize"].response.body)
    assert (view.server, view.requests[0].method) == ("DeepWiki", "initialize")


def test_it_knows_the_session_that_was_sent_or_handed_out():
    asked = post(URL, rpc("tools/list", 1), SESSION)
    given = Response(200, (("mcp-session-id", "s2"),), b"{}")
    assert decode(Exchange(1, asked, given), b"{}").session == "s1"
    assert decode(Exchange(1, post(URL, rpc("initialize", 1)), given), b"{}").session == "s2"
    assert decode(Exchange(1, CALL), b"").session is None


def test_it_keeps_errors_with_their_answers():
    view = seen(CALL, json.dumps(result(1, error={"code": -32602, "message": "unknown tool"})).encode())
    assert view.answers == (McpAnswer(id="1", error={"code": -32602, "message": "unknown tool"}),)
    assert view.error is None


def test_it_has_an_error_that_belongs_to_nobody():
    body = json.dumps(result(None, error={"code": -32700, "message": "parse error"})).encode()
    assert [seen(CALL, body, status).error for status in (200, 400)] == ["parse error", "parse error"]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (404, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"session not found"}}', "session not found"),
        (401, b'{"error": "invalid_token", "error_description": "x"}', "invalid_token"),
        (502, b"Bad Gateway", "Bad Gateway"),
        (500, b"", "HTTP 500"),
    ],
)
def test_it_has_an_error_for_an_error_status(status, body, error):
    assert seen(CALL, body, status).error == error


def test_it_takes_a_405_to_get_or_delete_for_no_error():
    assert [seen(post(URL, None, SESSION, EVENTS, method=method), b"", 405).error for method in ("GET", "DELETE")] == [
        None,
        None,
    ]
    assert seen(CALL, b"", 405).error == "HTTP 405"


def test_it_keeps_what_the_client_answers_to_the_server():
    ask = rpc("elicitation/create", 7, params={"message": "Sure?"})
    assert seen(CALL, events(ask)).from_server == (
        McpRequest(id="7", method="elicitation/create", params={"message": "Sure?"}),
    )
    view = seen(post(URL, result(7, {"action": "accept"})), b"", 202)
    assert (view.requests, view.replies) == ((), (McpAnswer(id="7", result={"action": "accept"}),))


def test_it_is_complete_when_every_request_is_answered():
    batch = post(URL, [rpc("tools/list", 1), rpc("ping", 2)])
    assert [reader(batch, events(*map(result, ids))).complete for ids in ((), (1,), (2, 1))] == [False, False, True]
    assert reader(CALL, b"Bad Gateway", 502).complete is False
    assert reader(CALL, b'{"error": "x"}', 500).complete is True


def test_it_needs_no_answer_to_a_notification_and_never_ends_a_listening_get():
    assert reader(post(URL, rpc("notifications/initialized")), status=202).complete
    assert reader(post(URL, None, SESSION, method="DELETE")).complete
    assert not reader(post(URL, None, SESSION, EVENTS, method="GET"), events(rpc("notifications/x"))).complete


def test_it_reads_what_a_server_sends_on_a_listening_get():
    view = seen(post(URL, None, SESSION, EVENTS, method="GET"), events(rpc("notifications/tools/list_changed"), rpc("ping", 5)))
    assert [(each.id, each.method) for each in view.from_server] == [(None, "notifications/tools/list_changed"), ("5", "ping")]


def test_it_finds_the_answers_of_the_older_transport_in_its_stream():
    listening = post("https://mcp.test/sse", None, EVENTS, method="GET")
    body = events("event: endpoint\ndata: /messages?session_id=1\n\n", result(1, {"a": 1}))
    view = decode(Exchange(1, listening, Response(200), end=End.CLIENT_CLOSED), body)
    assert (view.answers, view.unknown_events) == ((McpAnswer(id="1", result={"a": 1}),), 0)
    assert decode(Exchange(1, listening, Response(200)), events({"text": "jsonrpc"})) is None
    assert decode(Exchange(1, listening, Response(200)), b'data: {"jsonrpc"\n\n') is None


def test_it_counts_events_that_are_no_messages():
    view = seen(CALL, events({"a": 1}, "data: 7\n\n", "data: {broken\n\n", ("ping", []), result(1)))
    assert (view.unknown_events, len(view.answers)) == (4, 1)


@pytest.mark.parametrize(
    "request_",
    [
        CALL,
        post(URL, [rpc("notifications/x")]),
        post("https://anything.test/", rpc("initialize", 0)),
        post(URL, result(1, {"action": "accept"})),
        post(URL, rpc("own/method", 1), SESSION),
        post(URL, rpc("own/method", 1), ("MCP-Protocol-Version", "2025-11-25")),
        post(URL, None, SESSION, method="DELETE"),
        post(URL, None, SESSION, EVENTS, method="GET"),
        post(URL, None, ("mcp-protocol-version", "2025-06-18"), EVENTS, method="GET"),
    ],
)
def test_it_claims_what_mcp_clients_send(request_):
    assert detect(request_) == "mcp"


@pytest.mark.parametrize(
    "request_",
    [
        post("https://node.test/", rpc("eth_call", 1)),
        post(URL, {"method": "tools/call", "id": 1}),
        post(URL, b"tools/call"),
        post(URL, None, EVENTS, method="GET"),
        post(
            "https://mcp.test/.well-known/oauth-protected-resource", None, ("mcp-protocol-version", "2025-06-18"), method="GET"
        ),
        post(URL, None, method="DELETE"),
    ],
)
def test_it_leaves_other_apis_alone(request_):
    assert detect(request_) is None
