"""OpenAI's Responses: streams that tell everything twice, items, requests."""

import json

import pytest
from support.wire import CAPTURES, events, post, seen

from wiretape.traces.decoders import detect
from wiretape.traces.types import Usage

URL = "https://api.openai.com/v1/responses"
ASK = post(URL, {"model": "gpt-4o", "input": "Hi", "stream": True})
WHERE = {"item_id": "m1", "output_index": 0, "content_index": 0}
CREATED = {
    "type": "response.created",
    "response": {"id": "r1", "status": "in_progress", "model": "gpt-4o-2024-08-06", "output": []},
}


def ev(kind, **fields):
    return {"type": f"response.{kind}", **fields}


def message(*texts, item_id="m1"):
    return {
        "id": item_id,
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text} for text in texts],
    }


def response(*output, status="completed", **more):
    return {"id": "r1", "object": "response", "status": status, "model": "gpt-4o-2024-08-06", "output": list(output), **more}


def completed(*output, **more):
    return ev("completed", response=response(*output, **more))


def whole(*output, **more):
    return seen(ASK, json.dumps(response(*output, **more)).encode())


def text(*deltas, **where):
    return [ev("output_text.delta", **{**WHERE, **where}, delta=delta) for delta in deltas]


# the answer


def test_it_reads_a_stream_to_its_end():
    usage = {
        "input_tokens": 11,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    view = seen(
        ASK,
        events(
            CREATED, *text("Hel", "lo"), ev("output_text.done", **WHERE, text="Hello"), completed(message("Hello"), usage=usage)
        ),
    )
    assert (view.text, view.stop_reason, view.model, view.response_id) == ("Hello", "completed", "gpt-4o-2024-08-06", "r1")
    assert view.usage == Usage(input=11, output=4, cached=2, reasoning=3)
    assert (view.complete, view.streamed, view.error, view.unknown_events) == (True, True, None, 0)


def test_it_reads_the_same_in_one_piece():
    view = whole(message("Hel", "lo"), conversation={"id": "conv_1"})
    assert (view.text, view.stop_reason, view.complete, view.streamed) == ("Hello", "completed", True, False)
    assert view.conversation_id == "conv_1"


def test_it_gives_the_text_seen_so_far_where_a_stream_was_cut():
    view = seen(ASK, events(CREATED, *text("Hel")))
    assert (view.text, view.stop_reason, view.complete, view.model) == ("Hel", None, False, "gpt-4o-2024-08-06")
    assert seen(ASK, events(CREATED)).text == ""


def test_it_counts_no_text_twice():
    item = ev("output_item.done", output_index=0, item=message("Hello"))
    part = ev("content_part.done", **WHERE, part={"type": "output_text", "text": "Hello"})
    assert (
        seen(ASK, events(CREATED, *text("Hel", "lo"), ev("output_text.done", **WHERE, text="Hello"), part, item)).text
        == "Hello"
    )


def test_it_keeps_what_was_streamed_where_the_last_event_brings_no_output():
    view = seen(ASK, events(CREATED, *text("Hello"), completed()))
    assert (view.text, view.complete) == ("Hello", True)


def test_it_puts_texts_in_order_of_item_and_part():
    stream = [*text("c", output_index=1), *text("b", content_index=1), *text("a")]
    assert seen(ASK, events(CREATED, *stream)).text == "abc"


def test_it_finds_the_item_by_its_id_where_no_index_is_given():
    added = [ev("output_item.added", item=message(item_id=name)) for name in ("m1", "m2")]
    stream = [{"type": "response.output_text.delta", "item_id": name, "delta": name} for name in ("m2", "m1")]
    assert seen(ASK, events(CREATED, *added, *stream)).text == "m1m2"


def test_it_shows_a_refusal_as_text():
    assert seen(ASK, events(CREATED, ev("refusal.delta", **WHERE, delta="No"))).text == "No"
    assert whole({"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}).text == "No"


def test_it_skips_events_of_tomorrow_and_counts_them():
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}
    odd = [
        {"type": "keepalive"},
        ev("future_thing", x={"y": 1}),
        ev("image_generation_call.partial_image", partial_image_b64="AA"),
        ev("web_search_call.searching", item_id="ws_1"),
    ]
    view = seen(ASK, events(CREATED, *text("Hel"), *odd, *text("lo"), "data: 7\n\n", completed(search, message("Hello"))))
    assert (view.text, view.error, view.unknown_events) == ("Hello", None, 3)
    assert [(call.tool, call.by_provider, call.arguments) for call in view.asked] == [
        ("web_search", True, {"type": "search", "query": "x"})
    ]


def test_it_asks_for_functions_from_deltas_or_whole():
    call = {"id": "fc1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": ""}
    added = ev("output_item.added", output_index=0, item=call)
    deltas = [ev("function_call_arguments.delta", item_id="fc1", output_index=0, delta=delta) for delta in ('{"a":', "1}")]
    done = ev("function_call_arguments.done", item_id="fc1", output_index=0, arguments='{"a":1}')
    last = completed({**call, "arguments": '{"a":1}'})
    for stream in ([added, *deltas], [added, *deltas, done], [added, done], [last], [added, *deltas, done, last]):
        [asked] = seen(ASK, events(CREATED, *stream)).asked
        assert (asked.tool, asked.call_id, asked.arguments, asked.by_provider) == ("f", "c1", {"a": 1}, False)


def test_it_does_not_know_the_arguments_of_a_call_that_was_cut():
    added = ev(
        "output_item.added", output_index=0, item={"type": "function_call", "call_id": "c1", "name": "f", "arguments": ""}
    )
    assert [call.arguments for call in seen(ASK, events(CREATED, added)).asked] == [None]
    assert [call.arguments for call in seen(ASK, events(CREATED, added, completed())).asked] == [{}]


@pytest.mark.parametrize(
    ("item", "tool", "arguments", "by_provider"),
    [
        ({"type": "function_call", "call_id": "c", "name": "f", "namespace": "n", "arguments": "{}"}, "f", {}, False),
        ({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}, "patch", "*** Begin", False),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            "local_shell",
            {"command": ["ls"]},
            False,
        ),
        ({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}, "shell", {"commands": ["ls"]}, False),
        ({"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a"}}, "apply_patch", {"path": "a"}, False),
        ({"type": "computer_call", "call_id": "c", "action": {"type": "wait"}}, "computer", {"type": "wait"}, False),
        (
            {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"q": 1}},
            "tool_search",
            {"q": 1},
            False,
        ),
        ({"type": "tool_search_call", "id": "c", "execution": "server", "arguments": {"q": 1}}, "tool_search", {"q": 1}, True),
        (
            {"type": "mcp_call", "id": "c", "name": "read", "server_label": "files", "arguments": '{"a": 1}'},
            "read",
            {"a": 1},
            True,
        ),
        ({"type": "file_search_call", "id": "c", "queries": ["q"]}, "file_search", ["q"], True),
        ({"type": "code_interpreter_call", "id": "c", "code": "{}"}, "code_interpreter", {}, True),
        ({"type": "image_generation_call", "id": "c", "result": "AAAA"}, "image_generation", {}, True),
        ({"type": "web_search_call", "id": "c", "action": {"query": "x", "sources": [1]}}, "web_search", {"query": "x"}, True),
        ({"type": "future_call", "id": "c"}, "future", {}, True),
    ],
)
def test_it_tells_whose_call_an_item_is(item, tool, arguments, by_provider):
    [call] = whole(item).asked
    assert (call.tool, call.call_id, call.arguments, call.by_provider) == (tool, "c", arguments, by_provider)


def test_it_sees_that_the_provider_ran_a_call_by_its_result_in_the_same_answer():
    call = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
    result = {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a"}]}
    view = whole(call, result)
    assert [each.by_provider for each in view.asked] == [True]
    assert [(each.call_id, each.content) for each in view.handed] == [("c", [{"stdout": "a"}])]


def test_it_hands_over_results_that_stand_in_the_call_itself():
    fine = {"type": "mcp_call", "id": "c1", "name": "read", "arguments": "{}", "output": "done", "error": None}
    broken = {"type": "mcp_call", "id": "c2", "name": "read", "arguments": "{}", "output": None, "error": "denied"}
    handed = whole(fine, broken, {"type": "file_search_call", "id": "c3", "results": None}).handed
    assert [(each.call_id, each.tool, each.content, each.is_error) for each in handed] == [
        ("c1", "read", "done", False),
        ("c2", "read", "denied", True),
    ]


@pytest.mark.parametrize("kind", ["reasoning", "compaction", "mcp_list_tools", "mcp_approval_request", "program"])
def test_it_takes_other_items_for_no_calls(kind):
    view = whole({"type": kind, "id": "x"}, message("Hello"))
    assert (view.asked, view.handed, view.text, view.reasoning) == ((), (), "Hello", kind == "reasoning")


def test_it_leaves_reasoning_out_of_the_text():
    thought = {
        "type": "reasoning",
        "content": [{"type": "reasoning_text", "text": "hm"}],
        "summary": [{"type": "summary_text", "text": "hm"}],
    }
    stream = [
        ev("reasoning_text.delta", **WHERE, delta="hm"),
        *text("Hello", output_index=1),
        completed(thought, message("Hello")),
    ]
    for view in (
        whole(thought, message("Hello")),
        seen(ASK, events(CREATED, *stream)),
        seen(ASK, events(CREATED, *stream[:2])),
    ):
        assert (view.text, view.reasoning) == ("Hello", True)


@pytest.mark.parametrize(
    ("last", "error"),
    [
        ({"type": "error", "code": "overloaded", "message": "no capacity"}, "overloaded: no capacity"),
        (("error", {"error": {"code": "overloaded", "message": "no capacity"}}), "overloaded: no capacity"),
        (
            ev("failed", response=response(status="failed", error={"code": "overloaded", "message": "no capacity"})),
            "overloaded: no capacity",
        ),
        (ev("failed", response=response(status="failed", error=None)), "failed"),
    ],
)
def test_it_keeps_the_text_before_an_error_in_the_stream(last, error):
    view = seen(ASK, events(CREATED, *text("Par"), last))
    assert (view.text, view.error, view.complete) == ("Par", error, True)


def test_it_says_why_an_answer_is_incomplete():
    last = ev(
        "incomplete", response=response(message("Par"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    )
    view = seen(ASK, events(CREATED, *text("Par"), last))
    assert (view.text, view.stop_reason, view.error, view.complete) == ("Par", "max_output_tokens", None, True)


def test_it_has_no_text_where_an_error_came_in_place_of_an_answer():
    view = seen(ASK, b'{"error": {"code": "overloaded", "message": "no capacity"}}')
    assert (view.text, view.error) == (None, "overloaded: no capacity")


def test_it_joins_an_emoji_whose_halves_came_apart():
    stream = "".join(
        f'data: {{"type":"response.output_text.delta","output_index":0,"delta":"\\u{half}"}}\n\n' for half in ("d83d", "de00")
    )
    assert seen(ASK, events(CREATED, stream)).text == "\U0001f600"


# the request


def asked(**body):
    return seen(post(URL, {"model": "m", **body}), b"")


def test_it_tells_what_the_request_says():
    view = asked(
        instructions="Be kind.",
        temperature=0.5,
        reasoning={"effort": "low"},
        store=True,
        stream=True,
        previous_response_id="r0",
        conversation="conv_1",
        tools=[
            {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "g"}]},
            {"type": "web_search"},
        ],
        input=[
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "a"}]},
            {"role": "developer", "type": "additional_tools", "tools": [{"type": "function", "name": "h"}]},
            {"type": "item_reference", "id": "m0"},
        ],
    )
    assert (view.api, view.provider, view.requested_model) == ("responses", "openai", "m")
    assert (view.previous_id, view.conversation_id) == ("r0", "conv_1")
    assert view.parameters == {"temperature": 0.5, "reasoning": {"effort": "low"}, "store": True}
    assert [tool.name for tool in view.tools] == ["f", "g", "web_search", "h"]
    assert [(said.role, said.text) for said in view.said] == [
        ("user", "Hi"),
        ("assistant", ""),
        ("tool", ""),
        ("tool", ""),
        ("assistant", ""),
    ]
    assert [(call.call_id, call.tool, call.arguments) for said in view.said for call in said.asked] == [("c1", "f", {"a": 1})]
    assert [(each.call_id, each.tool, each.content) for said in view.said for each in said.handed] == [
        ("c1", "f", "done"),
        ("c2", None, "a"),
    ]


def test_it_reads_an_input_that_is_a_string_as_one_message():
    assert asked(input="Hi").said == asked(input=[{"role": "user", "content": "Hi"}]).said
    assert [said.text for said in asked(input="Hi").said] == ["Hi"]


def test_it_digests_the_prompt_wherever_it_stands():
    user = {"role": "user", "content": "Hi"}
    assert (
        asked(instructions="a", input=[user]).system_digest
        == asked(input=[{"role": "system", "content": "a"}, user]).system_digest
    )
    assert asked(input=[user]).system_digest is None


def test_it_digests_an_element_alike_in_a_later_request():
    first = CAPTURES["openai-responses/openai-two-tools-stream"]
    later = CAPTURES["openai-responses/openai-two-tools-stream-answer"]
    before, after = (seen(each.request, each.response.body) for each in (first, later))
    assert after.said[: len(before.said)] == before.said
    assert [result.tool for said in after.said for result in said.handed] == [call.tool for call in before.asked]


def test_it_digests_an_echoed_message_like_one_written_by_hand():
    echoed = {
        "type": "message",
        "id": "m1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
    }
    assert asked(input=[echoed]).said == asked(input=[{"role": "assistant", "content": "Hello"}]).said


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (URL, {"model": "m", "input": "Hi"}),
        (URL, b"\x1f\x8b"),
        ("https://a.test/openai/responses?api-version=2025-04-01-preview", {"model": "m", "input": "Hi"}),
        ("http://127.0.0.1:1/responses", {"model": "m", "input": "Hi"}),
        ("http://127.0.0.1:1/proxy/openai/responses", {"input": "Hi"}),
    ],
)
def test_it_claims_by_path_and_shape(url, body):
    assert detect(post(url, body)) == "openai-responses"


@pytest.mark.parametrize(
    "request_",
    [
        post(URL + "/r1", method="GET"),
        post(URL + "/r1/cancel"),
        post("https://survey.test/surveys/1/responses", {"answers": [1]}),
        post("https://survey.test/surveys/1/responses", b"a=1"),
    ],
)
def test_it_leaves_other_apis_alone(request_):
    assert detect(request_) is None


def test_a_response_in_the_background_says_later_what_it_says():
    url = "https://api.openai.com/v1/responses"
    queued = seen(
        post(url, {"model": "m", "input": "Hi", "background": True}), b'{"id": "resp_1", "status": "queued", "output": []}'
    )
    assert (queued.complete, queued.aside, queued.stop_reason) == (False, False, None)
    waiting = seen(post(f"{url}/resp_1", method="GET"), b'{"id": "resp_1", "status": "in_progress", "output": []}')
    assert waiting.aside
    item = '{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}'
    body = f'{{"id": "resp_1", "object": "response", "status": "completed", "output": [{item}]}}'.encode()
    done = seen(post(f"{url}/resp_1", method="GET"), body)
    assert (done.text, done.complete, done.aside, done.previous_id) == ("Hello", True, False, "resp_1")
