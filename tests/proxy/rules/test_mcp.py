from __future__ import annotations

import json

import pytest

from wiretape.proxy.rules.mcp import called, result_of, tool_result
from wiretape.traces.types import Request


def request(id_: str = "7", accept: str | None = None, **params: object) -> Request:
    body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {"name": "t", **params}})
    headers = () if accept is None else (("Accept", accept),)
    return Request("POST", "http://x/mcp", headers, body.replace('"id": 0', f'"id": {id_}').encode())


@pytest.mark.parametrize("id_", ["7", '"a-7"', "1.0", str(2**70), "null", '"ünf"'])
def test_the_result_has_the_live_id_in_its_own_type(id_):
    body = tool_result(request(id_), "x").body.decode()
    assert f'"id": {id_}, ' in body


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [("x", "x", None), ({"a": 1}, '{"a": 1}', {"a": 1}), ([1], "[1]", None), (None, "null", None)],
)
def test_a_value_is_text_and_structured_content_where_it_is_an_object(value, text, structured):
    result = json.loads(tool_result(request(), value).body)["result"]
    assert (result["content"], result.get("structuredContent")) == ([{"type": "text", "text": text}], structured)
    assert result["isError"] is False


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "application/json"),
        ("application/json, text/event-stream", "application/json"),
        ("*/*", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ],
)
def test_it_answers_as_the_client_accepts(accept, kind):
    made = tool_result(request(accept=accept), {"a": 1})
    assert made.headers == (("Content-Type", kind),)
    call = called(request())
    assert result_of(made.body, call) == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"jsonrpc": "2.0", "method": "tools/call"}', b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'],
)
def test_what_is_no_single_call_of_a_tool_is_none(body):
    assert called(Request("POST", "http://x", (), body)) is None
    assert called(Request("GET", "http://x", (), request().body)) is None


def test_there_is_no_value_in_an_error():
    with pytest.raises(ValueError, match="holds no result of the tool"):
        result_of(b'{"jsonrpc": "2.0", "id": 7, "error": {"code": 1}}', called(request()))
