"""Bedrock's dialects: shapes that the captures do not hold."""

import base64
import json

import pytest
from support.frames import event, framed
from support.wire import post, seen

HOST = "https://bedrock-runtime.us-east-1.amazonaws.com"
ASK = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


def wrapped(value) -> bytes:
    return event("chunk", {"bytes": base64.b64encode(json.dumps(value).encode()).decode(), "p": "abc"})


def delta(text: str, **more) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}, **more})


def test_a_text_block_needs_no_start():
    body = event("messageStart", {"role": "assistant"}) + event(
        "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hel"}}
    )
    body += event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "lo"}, "p": "x"})
    body += event("messageStop", {"stopReason": "end_turn"}) + event(
        "metadata", {"usage": {"inputTokens": 3, "outputTokens": 2}}
    )
    view = seen(post(f"{HOST}/model/amazon.nova%3A0/converse-stream", ASK), body)
    assert (view.text, view.stop_reason, view.usage.output, view.complete) == ("Hello", "end_turn", 2, True)
    assert (view.provider, view.requested_model, view.model) == ("bedrock", "amazon.nova:0", None)


def test_an_exception_in_the_stream_is_its_error():
    body = delta("Hel")
    body += framed({":message-type": "exception", ":exception-type": "throttlingException"}, b'{"message":"Too many"}')
    view = seen(post(f"{HOST}/model/m/converse-stream", ASK), body)
    assert (view.error, view.text) == ("throttlingException: Too many", "Hel")


def test_a_corrupt_frame_is_an_error():
    good, bad = (
        event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hel"}}),
        bytearray(event("messageStop", {})),
    )
    bad[-1] ^= 1
    view = seen(post(f"{HOST}/model/m/converse-stream", ASK), good + bytes(bad))
    assert (view.error, view.text, view.complete) == ("corrupt frame: its checksum does not hold", "Hel", False)


def test_it_reads_what_was_handed_back():
    messages = [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "no"}], "status": "error"}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"b": 2}}]}}, {"cachePoint": {}}]},
    ]
    view = seen(post(f"{HOST}/model/m/converse", {"messages": messages}), b"{}")
    assert [(each.tool, each.content, each.is_error) for said in view.said for each in said.handed] == [
        ("f", "no", True),
        ("f", {"b": 2}, False),
    ]


@pytest.mark.parametrize(
    ("sent", "answer", "text"),
    [
        ({"prompt": "Hi"}, {"generation": "Llama", "generation_token_count": 1, "stop_reason": "stop"}, "Llama"),
        ({"prompt": "Hi"}, {"outputs": [{"text": "Mistral", "stop_reason": "stop"}]}, "Mistral"),
        ({"inputText": "Hi"}, {"results": [{"outputText": "Titan", "tokenCount": 1, "completionReason": "FINISH"}]}, "Titan"),
        ({"messages": [{"role": "user", "content": "Hi"}]}, {"choices": [{"message": {"content": "Chat"}}]}, "Chat"),
        (ASK, {"output": {"message": {"role": "assistant", "content": [{"text": "Nova"}]}}}, "Nova"),
        (
            {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "Hi"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Claude"}]},
            "Claude",
        ),
    ],
)
def test_each_family_has_its_dialect_under_invoke(sent, answer, text):
    view = seen(post(f"{HOST}/model/some.model/invoke", sent), json.dumps(answer).encode())
    assert (view.text, view.provider, view.requested_model) == (text, "bedrock", "some.model")
    assert view.said[0].text == "Hi"


def test_amazons_events_come_under_their_names():
    body = wrapped({"messageStart": {"role": "assistant"}}) + wrapped(
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}}
    )
    view = seen(
        post(f"{HOST}/model/m/invoke-with-response-stream", ASK), body + wrapped({"messageStop": {"stopReason": "end_turn"}})
    )
    assert (view.text, view.stop_reason, view.unknown_events) == ("Hi", "end_turn", 0)


def test_an_agent_gives_control_back_and_its_chunks_are_text():
    url = "https://bedrock-agent-runtime.us-east-1.amazonaws.com/agents/A1/agentAliases/B2/sessions/C3/text"
    chunk = event("chunk", {"bytes": base64.b64encode(b'{"a": 1}').decode()})
    asks = {
        "invocationId": "i1",
        "invocationInputs": [{"functionInvocationInput": {"function": "f", "parameters": [{"name": "x", "value": "1"}]}}],
    }
    view = seen(post(url, {"inputText": "Hi"}), chunk + event("returnControl", asks))
    assert (view.text, view.requested_model, view.conversation_id) == ('{"a": 1}', "A1", "C3")
    assert [(call.tool, call.arguments, call.call_id) for call in view.asked] == [("f", {"x": "1"}, "i1")]


def test_cohere_under_invoke_has_its_calls():
    answer = {"text": "", "tool_calls": [{"name": "f", "parameters": {"a": 1}}], "finish_reason": "COMPLETE"}
    view = seen(post(f"{HOST}/model/cohere.command-r-v1:0/invoke", {"message": "Hi"}), json.dumps(answer).encode())
    assert [(call.tool, call.arguments) for call in view.asked] == [("f", {"a": 1})]
    assert (view.said[0].text, view.requested_model) == ("Hi", "cohere.command-r-v1:0")


def test_a_model_that_embeds_converses_with_nobody():
    answer = b'{"embedding": [0.1], "inputTextTokenCount": 3}'
    view = seen(post(f"{HOST}/model/amazon.titan-embed-text-v2:0/invoke", {"inputText": "Hi"}), answer)
    assert (view.aside, view.api, view.usage.input) == (True, "embeddings", 3)
