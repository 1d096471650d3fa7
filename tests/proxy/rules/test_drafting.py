from __future__ import annotations

import json

import pytest

from wiretape.proxy.rules.drafting import drafted, drafted_call
from wiretape.proxy.rules.reading import read_rule
from wiretape.traces.types import Exchange, Request, Response

CHAT = {
    "id": "1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"message": {"role": "assistant", "content": "Hello"}}],
}


def exchange(url: str, asked: object, answered: bytes, kind: str = "application/json") -> Exchange:
    request = Request("POST", url, (), json.dumps(asked).encode())
    return Exchange(3, request, Response(200, (("Content-Type", kind),), answered))


def test_it_drafts_an_mcp_call_with_its_arguments_and_result():
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add up", "arguments": {"a": 2, "l": [1]}}}
    result = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": '{"sum": 2}'}]}}
    assert drafted(exchange("http://x/mcp", asked, json.dumps(result).encode())) == {
        "id": "add-up-3",
        "enabled": False,
        "where": "mcp",
        "match": {"tool": "add up"},
        "when": [{"arg": "a", "equals": 2}],
        "answer": {"json": {"sum": 2}},
    }


def test_it_drafts_what_a_model_said():
    asked = {"model": "m", "messages": []}
    rule = drafted(exchange("https://api.openai.com/v1/chat/completions", asked, json.dumps(CHAT).encode()))
    assert (rule["where"], rule["match"], rule["answer"]) == ("model", {"api": "chat", "model": "m"}, {"text": "Hello"})


def test_it_drafts_text_with_its_type():
    rule = drafted(exchange("https://shop.test/a%20b/?q=1", {}, b"<p>", "text/html"))
    assert rule["match"] == {"host": "shop.test", "method": "POST", "path": "/a%20b/"}
    assert rule["answer"] == {"status": 200, "text": "<p>", "headers": {"Content-Type": "text/html"}}


def test_every_draft_is_a_rule():
    for url in ("https://shop.test", "https://shop.test/%2F?x"):
        rule = drafted(exchange(url, {}, b"[]"))
        assert read_rule(json.dumps(rule), "rule").enabled is False
    assert read_rule(json.dumps(drafted_call("mcp__a__b c", None, "x", 1)), "rule").id == "mcp__a__b-c-1"


def test_there_is_nothing_to_draft_from_without_an_answer():
    with pytest.raises(ValueError, match="exchange 1 has no answer"):
        drafted(Exchange(1, Request("GET", "http://x")))
