"""The tables, and real exchanges through the front door."""

import json

import pytest
from support.facts import missed
from support.wire import CAPTURES, post, seen

from wiretape.traces import decoders
from wiretape.traces.types import End, Exchange, ExchangeKind, Request, Response, header

CHAT = post("https://a.test/v1/chat/completions", {"model": "m", "messages": []})
CHUNK = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n'


def test_it_lists_each_decoder_under_its_name_with_its_version():
    assert next(iter(decoders.DECODERS)) == "mcp"
    assert {name: decoder.name for name, decoder in decoders.DECODERS.items()} == {name: name for name in decoders.DECODERS}
    assert {name: decoder.version for name, decoder in decoders.DECODERS.items()} | {
        "sockets": 1,
        "stdio": 1,
    } == decoders.VERSIONS


@pytest.mark.parametrize("name", CAPTURES)
def test_it_reads_a_real_exchange_as_an_independent_reader_did(name):
    capture = CAPTURES[name]
    assert decoders.detect(capture.request) == capture.api
    assert missed(decoders.decode(capture.exchange, capture.response.body), capture.facts) == []


@pytest.mark.parametrize("name", CAPTURES)
def test_it_reads_a_real_exchange_alike_however_it_is_cut(name):
    capture = CAPTURES[name]
    kind = header(capture.response.headers, "content-type")
    view = seen(capture.request, capture.response.body, capture.response.status, kind)
    assert view.unknown_events == 0


@pytest.mark.parametrize(
    "request_",
    [
        post("https://a.test/"),
        post("https://a.test/x", {"messages": []}),
        Request("GET", "::not a url::"),
        Request("CONNECT", "a.test:443"),
        Request("", ""),
    ],
)
def test_it_leaves_plain_http_to_others(request_):
    assert decoders.detect(request_) is None
    assert decoders.decode(Exchange(1, request_, Response(200)), b"{}") is None


def test_it_leaves_conversations_on_sockets_to_others():
    assert decoders.decode(Exchange(1, CHAT, Response(101), kind=ExchangeKind.WEBSOCKET), b"") is None


def test_it_tells_the_request_where_no_answer_came():
    view = decoders.decode(Exchange(1, CHAT, None, end=End.REFUSED), b"")
    assert (view.requested_model, view.text, view.error, view.complete) == ("m", None, None, False)


@pytest.mark.parametrize(("end", "complete"), [(End.COMPLETE, True), (End.CLIENT_CLOSED, False), (None, False)])
def test_it_takes_a_clean_end_after_a_finish_reason_for_the_end_of_a_chat(end, complete):
    assert decoders.decode(Exchange(1, CHAT, Response(200), end=end), CHUNK).complete is complete


ERRORS = {
    "openai-chat": lambda error: (error["error"]["type"], error["error"]["code"], error["error"]["message"]),
    "openai-responses": lambda error: (error["error"]["type"], error["error"]["code"], error["error"]["message"]),
    "anthropic-messages": lambda error: (error["error"]["type"], error["type"], error["error"]["message"]),
    "mcp": lambda error: (error["jsonrpc"], error["id"], error["error"]["message"]),
    None: lambda error: (error["error"]["type"], error["error"]["code"], error["error"]["message"]),
}


@pytest.mark.parametrize(
    ("api", "status", "told"),
    [
        ("openai-chat", 422, ("invalid_request_error", "miss")),
        ("openai-chat", 429, ("rate_limit_error", "miss")),
        ("openai-responses", 503, ("server_error", "miss")),
        ("anthropic-messages", 422, ("invalid_request_error", "error")),
        ("anthropic-messages", 529, ("overloaded_error", "error")),
        ("anthropic-messages", 502, ("api_error", "error")),
        ("mcp", 422, ("2.0", None)),
        (None, 422, ("invalid_request_error", "miss")),
    ],
)
def test_it_says_an_error_in_the_shape_of_the_api(api, status, told):
    kind, body = decoders.error_response(api, status, "nothing recorded: ä", "miss")
    assert (kind, ERRORS[api](json.loads(body))) == ("application/json", (*told, "nothing recorded: ä"))


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_it_reads_its_own_errors(api):
    capture = next(each for each in CAPTURES.values() if each.api == api)
    _, body = decoders.error_response(api, 422, "nothing recorded", "miss")
    assert "nothing recorded" in seen(capture.request, body, 422).error


@pytest.mark.parametrize("live", ['"a-7"', '"1"', "0", "9007199254740993", "1.0", "1", "null"])
def test_it_puts_a_json_rpc_error_under_the_live_id(live):
    request = post("https://mcp.test/", f'{{"jsonrpc":"2.0","id":{live},"method":"ping"}}'.encode())
    _, body = decoders.error_response("mcp", 422, "nothing recorded", "miss", request)
    assert f'"id": {live},' in body.decode()


def test_it_answers_each_request_of_a_batch_with_the_error():
    batch = post(
        "https://mcp.test/",
        [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, "b")] + [{"jsonrpc": "2.0", "method": "notifications/x"}],
    )
    _, body = decoders.error_response("mcp", 422, "nothing recorded", "miss", batch)
    assert [each["id"] for each in json.loads(body)] == [1, "b"]


# every exchange of the collection that the captures were taken from
