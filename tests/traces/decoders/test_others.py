"""Cohere, Ollama, text completions, calls aside, answers that tell what the request does not: shapes beyond the captures."""

import json

import pytest
from support.wire import events, post, seen

from wiretape.traces.decoders import decode, detect, error_response
from wiretape.traces.types import End, Exchange, Request, Response

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def lines(*values) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


# Ollama


def test_ollamas_stream_says_what_it_said_so_far_where_it_was_cut():
    body = lines(
        {"model": "m", "message": {"content": "Hel"}, "done": False},
        {"model": "m", "message": {"content": "lo"}, "done": False},
    )
    view = seen(post("http://localhost:11434/api/chat", CHAT), body[:-12])
    assert (view.text, view.complete, view.streamed, view.provider) == ("Hel", False, True, "ollama")


def test_ollama_reports_an_error_in_its_stream():
    body = lines({"model": "m", "message": {"content": "He"}, "done": False}, {"error": "out of memory"})
    assert seen(post("http://localhost:11434/api/chat", CHAT), body).error == "out of memory"


def test_ollama_names_the_tool_of_a_result_and_hangs_images_on_a_message():
    messages = [
        {"role": "user", "content": "What is it?", "images": ["aGk="]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"n": 1}}}]},
        {"role": "tool", "tool_name": "look", "content": "a cat"},
    ]
    view = seen(post("http://x.test/api/chat", {"model": "m", "messages": messages}), b"{}")
    assert view.said[0].attachments[0].startswith("image sha256:")
    assert view.said[1].asked[0].arguments == {"n": 1}
    assert (view.said[2].handed[0].tool, view.said[2].handed[0].content) == ("look", "a cat")


# Cohere


def test_cohere_plans_are_no_text():
    body = events(
        ("message-start", {"id": "c1", "type": "message-start", "delta": {"message": {"role": "assistant"}}}),
        ("tool-plan-delta", {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will look"}}}),
        (
            "tool-call-start",
            {
                "type": "tool-call-start",
                "index": 0,
                "delta": {"message": {"tool_calls": {"id": "t1", "function": {"name": "f", "arguments": ""}}}},
            },
        ),
        (
            "tool-call-delta",
            {
                "type": "tool-call-delta",
                "index": 0,
                "delta": {"message": {"tool_calls": {"function": {"arguments": '{"a": 1}'}}}},
            },
        ),
        ("tool-call-end", {"type": "tool-call-end", "index": 0}),
        (
            "message-end",
            {
                "type": "message-end",
                "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 4}}},
            },
        ),
    )
    view = seen(post("https://api.cohere.com/v2/chat", CHAT), body)
    assert (view.text, view.reasoning, view.stop_reason, view.usage.input) == ("", True, "TOOL_CALL", 9)
    assert [(call.tool, call.call_id, call.arguments) for call in view.asked] == [("f", "t1", {"a": 1})]


def test_coheres_first_version_hands_results_back_beside_the_message():
    sent = {
        "model": "command-r",
        "message": "",
        "chat_history": [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "Hello"}],
        "tool_results": [{"call": {"name": "f", "parameters": {}}, "outputs": [{"text": "42"}]}],
    }
    view = seen(
        post("https://api.cohere.com/v1/chat", sent), json.dumps({"text": "It is 42.", "finish_reason": "COMPLETE"}).encode()
    )
    assert [(said.role, said.text) for said in view.said] == [("user", "Hi"), ("assistant", "Hello"), ("tool", "")]
    assert (view.said[2].handed[0].tool, view.text) == ("f", "It is 42.")


# text completions

TWO_TEXTS = b'{"choices": [{"index": 1, "text": "B"}, {"index": 0, "text": "A"}]}'


@pytest.mark.parametrize(
    ("path", "sent", "body", "text"),
    [
        ("/v1/completions", {"prompt": "Hi"}, events({"value": "He"}, {"value": "llo"}, "data: [DONE]\n\n"), "Hello"),
        (
            "/v1/completions",
            {"prompt": ["a", "b"]},
            b'{"choices": [{"index": 1, "text": "B"}, {"index": 0, "text": "A"}]}',
            "A\nB",
        ),
        ("/generate", {"inputs": "Hi"}, b'[{"generated_text": "Hello"}]', "Hello"),
        (
            "/generate_stream",
            {"inputs": "Hi"},
            events({"token": {"text": "Hel", "special": False}}, {"token": {"text": "</s>", "special": True}}),
            "Hel",
        ),
    ],
)
def test_it_reads_one_text_in_many_shapes(path, sent, body, text):
    assert seen(post(f"http://x.test{path}", sent), body).text == text


# calls aside


@pytest.mark.parametrize(
    ("url", "sent", "answer", "told"),
    [
        (
            "https://api.openai.com/v1/embeddings",
            {"model": "e", "input": "Hi"},
            {"model": "e-1", "data": [], "usage": {"prompt_tokens": 2}},
            ("embeddings", "e", "e-1", 2),
        ),
        ("https://api.anthropic.com/v1/messages/count_tokens", CHAT, {"input_tokens": 14}, ("count_tokens", "m", None, 14)),
        (
            "https://g.test/v1beta/models/gemini-x:countTokens",
            {"contents": []},
            {"totalTokens": 3},
            ("count_tokens", "gemini-x", None, 3),
        ),
        (
            "https://api.openai.com/v1/images/generations",
            {"model": "i", "prompt": "x"},
            {"data": [], "usage": {"input_tokens": 5, "output_tokens": 6}},
            ("images", "i", None, 5),
        ),
        ("https://api.anthropic.com/v1/messages/batches", {"requests": []}, {"id": "b"}, ("batches", None, None, None)),
    ],
)
def test_it_labels_calls_that_are_no_conversation(url, sent, answer, told):
    view = seen(post(url, sent), json.dumps(answer).encode())
    assert view.aside
    assert (view.api, view.requested_model, view.model, view.usage.input) == told


def test_a_call_aside_that_answers_with_sound_is_complete_when_its_exchange_is():
    request = post("https://api.openai.com/v1/audio/speech", {"model": "tts", "input": "Hi"})
    exchange = Exchange(1, request, Response(200, (("Content-Type", "audio/mpeg"),)), end=End.COMPLETE)
    view = decode(exchange, b"\xff\xfb\x90\x00" * 900)
    assert (view.aside, view.complete, view.error) == (True, True, None)


def test_it_finds_the_model_in_a_form():
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n\xff\xfb\r\n'
    form += b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--x--\r\n'
    request = post("https://api.openai.com/v1/audio/transcriptions", form, ("Content-Type", "multipart/form-data; boundary=x"))
    answer = b'{"text": "Hi", "usage": {"type": "tokens", "input_tokens": 14, "output_tokens": 2}}'
    view = seen(request, answer)
    assert (view.requested_model, view.api, view.usage.input, view.usage.output) == ("whisper-1", "audio", 14, 2)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"model": "m", "message": {"content": "Hel"}, "done": false}\n', ("Hel", False)),
        (b'{"model": "m", "message": {"content": "Hel"}, "done": true}\n', ("Hel", True)),
    ],
)
def test_the_only_line_of_a_stream_says_whether_more_was_to_come(body, told):
    view = seen(post("http://localhost:11434/api/chat", CHAT), body)
    assert (view.text, view.complete) == told


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://ci.test/api/runs", {"name": "nightly"}),
        ("https://tube.test/videos", {"title": "cat"}),
        ("https://chat.test/api/chat", {"messages": []}),
        ("https://shop.test/v1/generate", {"report": 1}),
        ("https://shop.test/interactions", {"input": "x"}),
    ],
)
def test_it_leaves_what_asks_no_model_alone(url, body):
    assert detect(post(url, body)) is None


# answers that tell


@pytest.mark.parametrize(
    ("answer", "api", "text"),
    [
        (b'{"choices": [{"message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}]}', "chat", "A"),
        (events({"choices": [{"delta": {"content": "B"}}]}), "chat", "B"),
        (b'{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "C"}]}', "messages", "C"),
        (
            b'{"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "D"}]}]}',
            "responses",
            "D",
        ),
        (b'[{"candidates": [{"content": {"parts": [{"text": "E"}]}}]}]', "generateContent", "E"),
        (lines({"model": "m", "message": {"content": "F"}, "done": True}), "chat", "F"),
    ],
)
def test_an_unmistakable_answer_tells_where_the_request_does_not(answer, api, text):
    exchange = Exchange(1, Request("POST", "https://unknown.test/ask"), Response(200), end=End.COMPLETE)
    view = decode(exchange, answer)
    assert (view.api, view.text) == (api, text)


@pytest.mark.parametrize(
    "answer", [b'{"choices": ["a"]}', b"data: 7\n\n", b"", b"[[", b'{"message": "ok", "done": 1}', b"<html>"]
)
def test_an_answer_that_could_be_anything_tells_nothing(answer):
    exchange = Exchange(1, Request("POST", "https://unknown.test/ask"), Response(200), end=End.COMPLETE)
    assert decode(exchange, answer) is None


@pytest.mark.parametrize(
    ("url", "body", "error"),
    [
        ("http://x.test/api/chat", CHAT, {"error": "gone"}),
        ("http://x.test/v2/chat", CHAT, {"message": "gone"}),
        ("http://x.test/model/m/converse", CHAT, {"__type": "ValidationException", "message": "gone"}),
    ],
)
def test_errors_have_the_shape_of_their_api(url, body, error):
    request = post(url, body)
    assert json.loads(error_response(detect(request), 422, "gone", "replay_miss", request)[1]) == error
