"""Anthropic's Messages: blocks, usage that is told twice, requests."""

import json

import pytest
from support.wire import CAPTURES, events, post, seen

from wiretape.traces.decoders import detect
from wiretape.traces.types import Usage

URL = "https://api.anthropic.com/v1/messages"
ASK = post(
    URL, {"model": "claude-sonnet-4-5", "max_tokens": 64, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
)
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 10, "output_tokens": 1},
}
STOP = ("message_stop", {"type": "message_stop"})
PING = ("ping", {"type": "ping"})


def ev(kind, **fields):
    return kind, {"type": kind, **fields}


START = ev("message_start", message=MESSAGE)


def opened(index, **block):
    return ev("content_block_start", index=index, content_block=block)


def delta(index, kind, **fields):
    return ev("content_block_delta", index=index, delta={"type": kind, **fields})


def closed(index):
    return ev("content_block_stop", index=index)


def ended(reason="end_turn", **usage):
    return ev("message_delta", delta={"stop_reason": reason}, usage=usage or {"output_tokens": 15})


def text(index, *pieces):
    return [opened(index, type="text", text=""), *(delta(index, "text_delta", text=piece) for piece in pieces), closed(index)]


def tool(index, call_id, name, *pieces, kind="tool_use", given=None):
    return [
        opened(index, type=kind, id=call_id, name=name, input=given or {}),
        *(delta(index, "input_json_delta", partial_json=piece) for piece in pieces),
        closed(index),
    ]


def answer(*middle, reason="end_turn"):
    return seen(ASK, events(START, *middle, ended(reason), STOP))


def whole(*blocks, **fields):
    return seen(ASK, json.dumps({**MESSAGE, "content": list(blocks), "stop_reason": "end_turn", **fields}).encode())


# the answer


def test_it_joins_the_text_of_a_stream():
    view = answer(PING, *text(0, "Hel", "lo"), PING)
    assert (view.text, view.stop_reason, view.model, view.response_id) == ("Hello", "end_turn", "claude-sonnet-4-5", "msg_1")
    assert (view.complete, view.streamed, view.error, view.unknown_events) == (True, True, None, 0)


def test_it_reads_the_same_in_one_piece():
    view = whole({"type": "text", "text": "Hello"})
    assert (view.text, view.stop_reason, view.usage, view.complete, view.streamed) == (
        "Hello",
        "end_turn",
        Usage(input=10, output=1),
        True,
        False,
    )


def test_it_is_not_complete_before_message_stop():
    assert not seen(ASK, events(START, *text(0, "Hello"), ended())).complete


def test_it_said_nothing_yet_where_a_message_began():
    assert seen(ASK, events(START)).text == ""


def test_it_lets_the_usage_at_the_end_override_that_of_the_start():
    assert answer(*text(0, "Hi")).usage == Usage(input=10, output=15)
    usage = {
        "input_tokens": 1591,
        "output_tokens": 9,
        "cache_read_input_tokens": 3,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    assert seen(ASK, events(START, ended(**usage), STOP)).usage == Usage(input=1591, output=9, cached=3, reasoning=4)


def test_it_asks_for_a_tool_with_its_arguments():
    view = answer(*text(0, "See."), *tool(1, "t1", "f", "", '{"a"', ": 1}"), reason="tool_use")
    assert [(call.call_id, call.tool, call.arguments, call.by_provider) for call in view.asked] == [
        ("t1", "f", {"a": 1}, False)
    ]
    assert (view.text, view.stop_reason) == ("See.", "tool_use")


def test_it_reads_no_arguments_as_none_given():
    assert [call.arguments for call in answer(*tool(0, "t1", "f", "", "")).asked] == [{}]
    assert [call.arguments for call in answer(*tool(0, "t1", "f")).asked] == [{}]
    assert [call.arguments for call in whole({"type": "tool_use", "id": "t1", "name": "f", "input": {}}).asked] == [{}]


def test_it_takes_arguments_that_the_start_gave():
    assert [call.arguments for call in answer(*tool(0, "t1", "f", given={"a": 1})).asked] == [{"a": 1}]


def test_it_does_not_know_the_arguments_of_a_call_that_was_cut():
    block = tool(0, "t1", "f", '{"a":')
    views = [seen(ASK, events(START, *block[:upto])) for upto in (1, 2)]
    assert [(call.arguments, call.arguments_text) for view in views for call in view.asked] == [(None, ""), (None, '{"a":')]


def test_it_keeps_interleaved_blocks_apart():
    starts = [opened(index, type="tool_use", id=f"t{index}", name="f", input={}) for index in (2, 1)]
    pieces = [(1, '{"a"'), (2, '{"b": '), (1, ": 1}"), (2, "2}")]
    view = answer(
        *starts, *(delta(index, "input_json_delta", partial_json=piece) for index, piece in pieces), closed(2), closed(1)
    )
    assert [(call.call_id, call.arguments) for call in view.asked] == [("t1", {"a": 1}), ("t2", {"b": 2})]


def test_it_lets_citations_and_unknown_deltas_disturb_nothing():
    pieces = [
        delta(0, "text_delta", text="See "),
        delta(0, "citations_delta", citation={}),
        delta(0, "future_delta", x=1),
        delta(0, "text_delta", text="this."),
    ]
    view = answer(opened(0, type="text", text=""), *pieces, closed(0), ev("future_event"), "data: 7\n\n", "data: {broken\n\n")
    assert (view.text, view.error, view.unknown_events) == ("See this.", None, 4)


def test_it_leaves_thinking_out_of_the_text():
    thought = [
        opened(0, type="thinking", thinking=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="s"),
        closed(0),
    ]
    view = answer(*thought, *text(1, "Hello"))
    assert (view.text, view.reasoning, view.unknown_events) == ("Hello", True, 0)
    assert whole({"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hello"}).reasoning
    assert not answer(*text(0, "Hello")).reasoning


def test_it_leaves_a_summary_of_what_was_compacted_out_of_the_text():
    assert (
        answer(
            opened(0, type="compaction", content=None), delta(0, "compaction_delta", content="x"), closed(0), *text(1, "Hello")
        ).text
        == "Hello"
    )


def test_it_tells_calls_that_the_provider_runs_itself_and_their_results():
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]}
    broken = {
        "type": "code_execution_tool_result",
        "tool_use_id": "s2",
        "content": {"type": "code_execution_tool_result_error", "error_code": "unavailable"},
    }
    view = answer(
        *tool(0, "s1", "web_search", '{"query": "x"}', kind="server_tool_use"),
        opened(1, **result),
        closed(1),
        opened(2, **broken),
        closed(2),
        *text(3, "Hello"),
    )
    assert [(call.tool, call.by_provider, call.arguments) for call in view.asked] == [("web_search", True, {"query": "x"})]
    assert [(each.call_id, each.tool, each.is_error) for each in view.handed] == [
        ("s1", "web_search", False),
        ("s2", None, True),
    ]
    assert view.text == "Hello"


def test_it_survives_blocks_that_nobody_opened_or_numbered():
    assert answer(delta(0, "text_delta", text="Hello")).text == "Hello"
    unnumbered = [
        ev("content_block_start", content_block={"type": "text", "text": "a"}),
        ev("content_block_delta", delta={"type": "text_delta", "text": "b"}),
    ]
    assert answer(*unnumbered, *unnumbered).text == "abab"


def test_it_tells_blocks_apart_that_use_one_index():
    assert [call.call_id for call in answer(*tool(0, "t1", "f"), *tool(0, "t2", "f")).asked] == ["t1", "t2"]


def test_it_keeps_the_text_before_an_error_in_the_stream():
    broken = ev("error", error={"type": "overloaded_error", "message": "Overloaded"})
    view = seen(ASK, events(START, *text(0, "Par")[:2], broken))
    assert (view.text, view.error, view.complete) == ("Par", "overloaded_error: Overloaded", True)


def test_it_has_no_text_where_an_error_came_in_place_of_an_answer():
    view = seen(ASK, b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}')
    assert (view.text, view.error) == (None, "overloaded_error: Overloaded")


def test_it_joins_an_emoji_whose_halves_came_apart():
    halves = "".join(
        f'data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"\\u{half}"}}}}\n\n'
        for half in ("d83d", "de00")
    )
    assert answer(opened(0, type="text", text=""), halves, closed(0)).text == "\U0001f600"


# the request


def asked(**body):
    return seen(post(URL, {"model": "m", "max_tokens": 9, "messages": [], **body}), b"")


def test_it_tells_what_the_request_says():
    marker = {"type": "ephemeral"}
    view = asked(
        temperature=0,
        stream=True,
        cache_control=marker,
        system=[{"type": "text", "text": "Be kind.", "cache_control": marker}],
        tools=[
            {"name": "f", "description": "d", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        messages=[
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "See."}, {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "broken"}],
                        "is_error": True,
                        "cache_control": marker,
                    }
                ],
            },
        ],
    )
    assert (view.api, view.provider, view.requested_model) == ("messages", "anthropic", "m")
    assert view.parameters == {"max_tokens": 9, "temperature": 0}
    assert view.system_digest == asked(system="Be kind.").system_digest is not None
    assert [(each.name, each.parameters) for each in view.tools] == [("f", {"type": "object"}), ("web_search", None)]
    assert [(said.role, said.text) for said in view.said] == [("user", "Hi"), ("assistant", "See."), ("user", "")]
    assert [(each.call_id, each.tool, each.content, each.is_error) for each in view.said[2].handed] == [
        ("t1", "f", "broken", True)
    ]


def test_it_digests_an_element_alike_where_the_cache_marker_moved_on():
    part = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
    assert (
        asked(messages=[{"role": "user", "content": "Hi"}]).said == asked(messages=[{"role": "user", "content": [part]}]).said
    )


def test_it_digests_an_element_alike_in_a_later_request():
    names = ("anthropic-messages/tool-search", "anthropic-messages/tool-search-answer")
    before, after = (seen(CAPTURES[name].request, CAPTURES[name].response.body) for name in names)
    assert after.said[: len(before.said)] == before.said
    assert [result.tool for said in after.said for result in said.handed] == [
        call.tool for call in before.asked if not call.by_provider
    ]


def test_it_finds_the_model_in_the_path_where_vertex_has_it():
    view = seen(CAPTURES["anthropic-messages/vertex-tool"].request, b"")
    assert (view.requested_model, view.provider) == ("claude-3-7-sonnet@20250219", "vertex")


HISTORY = {"model": "m", "max_tokens": 9, "messages": []}


@pytest.mark.parametrize(
    "request_",
    [
        post(URL, HISTORY),
        post(URL + "?beta=true", HISTORY),
        post("http://127.0.0.1:1/anthropic/v1/messages", {"messages": []}),
        post("http://127.0.0.1:1/api/messages", HISTORY),
        post("http://127.0.0.1:1/api/messages", {"messages": []}, ("Anthropic-Version", "2023-06-01")),
        post(URL, b"\x1f\x8b", ("anthropic-version", "2023-06-01")),
        post("https://a.test/v1/projects/p/publishers/anthropic/models/m:streamRawPredict", {"messages": []}),
        post("https://adb.test/serving-endpoints/claude/invocations", {"anthropic_version": "x", "messages": []}),
    ],
)
def test_it_claims_by_path_and_shape(request_):
    assert detect(request_) == "anthropic-messages"


@pytest.mark.parametrize(
    "request_",
    [
        post(URL, method="GET"),
        post("https://api.openai.com/v1/threads/t1/messages", {"role": "user", "content": "Hi"}),
        post("https://mail.test/v1/messages", {"to": "a"}),
        post("https://mail.test/v1/messages", b"to=a"),
        post("https://chat.test/api/messages", {"messages": []}),
    ],
)
def test_it_leaves_other_apis_alone(request_):
    assert detect(request_) is None
