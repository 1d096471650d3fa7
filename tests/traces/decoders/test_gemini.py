"""Gemini: shapes that the captures do not hold."""

import json

import pytest
from support.wire import events, post, seen

from wiretape.traces.decoders import decode, detect, error_response
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request

MODELS = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"
ASK = {"contents": [{"role": "user", "parts": [{"text": "Weather?"}]}]}
CALL = {"functionCall": {"name": "weather", "args": {"city": "Bonn"}}}


def chunk(*parts, **more):
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": list(parts)}, **more}]}


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent?alt=sse", "countTokens", "embedContent"])
def test_it_answers_errors_in_googles_shape(method):
    request = post(f"{MODELS}:{method}", {"contents": []})
    kind, body = error_response(detect(request), 422, "nothing recorded", "replay_miss", request)
    assert (kind, json.loads(body)) == (
        "application/json",
        {"error": {"code": 422, "message": "nothing recorded", "status": "INVALID_ARGUMENT"}},
    )


@pytest.mark.parametrize(
    ("status", "word"), [(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (502, "INTERNAL"), (400, "INVALID_ARGUMENT")]
)
def test_it_says_the_status_in_googles_word(status, word):
    _, body = error_response(None, status, "m", "c", post(f"{MODELS}:generateContent"))
    assert json.loads(body)["error"]["status"] == word


def test_it_reads_both_spellings_of_a_request():
    camel = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]}],
        "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": {"type": "object"}}]}],
    }
    snake = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGk="}}]}],
        "tools": [{"function_declarations": [{"name": "weather", "parameters_json_schema": {"type": "object"}}]}],
    }
    views = [seen(post(f"{MODELS}:generateContent", body), b"{}") for body in (camel, snake)]
    assert views[0] == views[1]
    assert views[0].said[0].attachments[0].startswith("image sha256:")
    assert views[0].tools[0].parameters == {"type": "object"}


def test_it_names_the_tool_of_a_result_and_takes_off_what_an_sdk_wraps_around_it():
    contents = [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": [CALL]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}}]},
    ]
    view = seen(post(f"{MODELS}:generateContent", {"contents": contents}), b"{}")
    assert [said.role for said in view.said] == ["user", "assistant", "user"]
    [result] = view.said[2].handed
    assert (result.tool, result.content) == ("weather", "rain")


@pytest.mark.parametrize("end", ["", "]"])
def test_it_reads_an_array_that_grows_whole_or_cut(end):
    body = "[" + json.dumps(chunk({"text": "Hel"})) + "\n,\n" + json.dumps(chunk({"text": "lo"}, finishReason="STOP")) + end
    view = seen(post(f"{MODELS}:streamGenerateContent", ASK), body.encode())
    assert (view.text, view.stop_reason, view.streamed, view.complete) == ("Hello", "STOP", True, True)


def test_it_leaves_out_the_element_that_was_cut():
    body = "[" + json.dumps(chunk({"text": "Hel"})) + ",\n" + json.dumps(chunk({"text": "lo"}))[:-9]
    view = seen(post(f"{MODELS}:streamGenerateContent", ASK), body.encode())
    assert (view.text, view.complete) == ("Hel", False)


def test_it_keeps_thoughts_out_of_the_text():
    body = events(
        chunk({"text": "Hm", "thought": True}, CALL), chunk({"text": "", "thoughtSignature": "x"}, finishReason="STOP")
    )
    view = seen(post(f"{MODELS}:streamGenerateContent?alt=sse", ASK), body)
    assert (view.text, view.reasoning) == ("", True)
    assert [(call.tool, call.arguments, call.call_id) for call in view.asked] == [("weather", {"city": "Bonn"}, None)]


def test_it_puts_arguments_together_that_come_in_pieces():
    pieces = [
        {"functionCall": {"name": "weather", "willContinue": True}},
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Bo"}], "willContinue": True}},
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "nn"}], "willContinue": True}},
        {"functionCall": {"partialArgs": [{"jsonPath": "$.days", "numberValue": 2}]}},
    ]
    body = events(*(chunk(piece) for piece in pieces), chunk(finishReason="STOP"))
    view = seen(post(f"{MODELS}:streamGenerateContent?alt=sse", ASK), body)
    assert [(call.tool, call.arguments) for call in view.asked] == [("weather", {"city": "Bonn", "days": 2})]


def test_it_says_why_a_prompt_was_blocked():
    body = json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}).encode()
    view = seen(post(f"{MODELS}:generateContent", ASK), body)
    assert (view.stop_reason, view.text, view.complete) == ("SAFETY", "", True)


def test_it_takes_an_error_in_a_stream_for_one():
    body = events(chunk({"text": "He"}), {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})
    view = seen(post(f"{MODELS}:streamGenerateContent?alt=sse", ASK), body)
    assert view.error == "UNAVAILABLE: overloaded"


def test_a_live_conversation_that_was_cut_has_what_was_said():
    sent = {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "Hi"}]}], "turnComplete": True}}
    said = [
        ("client", {"setup": {"model": "models/live"}}),
        ("server", {"setupComplete": {}}),
        ("client", sent),
        ("server", {"serverContent": {"modelTurn": {"parts": [{"text": "Hel"}]}}}),
    ]
    messages = tuple(Message(at, sender, "binary", json.dumps(value).encode()) for at, (sender, value) in enumerate(said))
    exchange = Exchange(
        1, Request("GET", "wss://a.test/ws"), kind=ExchangeKind.WEBSOCKET, messages=messages, end=End.UPSTREAM_RESET
    )
    [call] = decode(exchange, b"").calls
    assert (call.text, call.complete, call.said[0].text, call.requested_model) == ("Hel", False, "Hi", "models/live")
