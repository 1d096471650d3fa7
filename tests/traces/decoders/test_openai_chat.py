"""OpenAI's chat dialect: streams in every accent, whole answers, requests."""

import json

import pytest
from support.wire import CAPTURES, events, post, seen

from wiretape.traces.decoders import detect
from wiretape.traces.types import Usage

URL = "https://api.openai.com/v1/chat/completions"
ASK = post(URL, {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}], "stream": True})
DONE = "data: [DONE]\n\n"


def delta(part=None, *, finish=None, choice=0, **more):
    return {
        "id": "c1",
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": choice, "delta": part or {}, "finish_reason": finish}],
        **more,
    }


def calls(*fragments, choice=0):
    return delta({"tool_calls": list(fragments)}, choice=choice)


def call(call_id, name, arguments, **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def rest(arguments, **more):
    return {"function": {"arguments": arguments}, **more}


def asked(*stream, finish="tool_calls"):
    """(call id, tool, arguments) of the calls in a stream."""
    view = seen(ASK, events(*stream, delta(finish=finish), DONE))
    return [(each.call_id, each.tool, each.arguments) for each in view.asked]


def message(**fields):
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}]}).encode()


# the answer


def test_it_joins_the_text_of_a_stream():
    view = seen(
        ASK,
        events(
            delta({"role": "assistant", "content": ""}),
            delta({"content": "Hel"}),
            delta({"content": "lo"}),
            delta(finish="stop"),
            DONE,
        ),
    )
    assert (view.text, view.stop_reason, view.model, view.response_id) == ("Hello", "stop", "gpt-4o-mini-2024-07-18", "c1")
    assert (view.complete, view.streamed, view.error, view.unknown_events, view.usage) == (True, True, None, 0, Usage())


def test_it_is_not_complete_before_done():
    assert not seen(ASK, events(delta({"content": "Hello"}, finish="stop"))).complete


def test_it_said_nothing_where_only_a_tool_was_asked_for():
    assert seen(ASK, events(calls(call("a", "f", "{}", index=0)), DONE)).text == ""


def test_it_keeps_interleaved_fragments_with_their_choice_and_index():
    stream = [
        calls(call("A", "f", "", index=0)),
        calls(call("B", "g", "", index=1)),
        calls(call("C", "h", "", index=0), choice=1),
        calls(rest('{"x":', index=0)),
        calls(rest('{"y":', index=1)),
        calls(rest('{"z":3}', index=0), choice=1),
        calls(rest("2}", index=1)),
        calls(rest("1}", index=0)),
    ]
    assert asked(*stream) == [("A", "f", {"x": 1}), ("B", "g", {"y": 2}), ("C", "h", {"z": 3})]


def test_it_orders_calls_by_index():
    assert asked(calls(call("B", "g", "{}", index=1)), calls(call("A", "f", "{}", index=0))) == [("A", "f", {}), ("B", "g", {})]


def test_it_tells_calls_without_index_apart_by_id_and_gives_the_rest_to_the_open_one():
    stream = [calls(call("c1", "f", "{}"), call("c2", "g", '{"q":')), calls(rest('"b"}'))]
    assert asked(*stream) == [("c1", "f", {}), ("c2", "g", {"q": "b"})]


def test_it_tells_nameless_fragments_apart_by_their_place_in_the_list():
    stream = [calls(call("c1", "f", '{"a":'), call("c2", "g", '{"b":')), calls(rest("1}"), rest("2}"))]
    assert asked(*stream) == [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})]


def test_it_continues_a_call_by_its_id():
    stream = [calls(call("c1", "f", '{"a":'), call("c2", "g", '{"b":')), calls(rest("1}", id="c1")), calls(rest("2}", id="c2"))]
    assert asked(*stream) == [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})]


def test_it_opens_another_call_where_an_index_is_used_again():
    stream = [
        calls(call("c1", "f", '{"a": 1}', index=0)),
        calls(call("c2", "f", '{"a":', index=0)),
        calls(rest(" 2}", index=0)),
    ]
    assert asked(*stream) == [("c1", "f", {"a": 1}), ("c2", "f", {"a": 2})]


def test_it_opens_another_call_after_a_whole_one_where_nothing_has_an_id():
    stream = [calls({"function": {"name": "f", "arguments": text}}) for text in ('{"a": 1}', '{"a": 2}')]
    assert asked(*stream) == [(None, "f", {"a": 1}), (None, "f", {"a": 2})]


def test_it_takes_a_repeated_name_or_id_for_the_same_call():
    stream = [
        calls(call("c1", "f", '{"a":', index=0)),
        calls(call("c1", "f", " 1", index=0)),
        calls({"index": 0, "id": "", "function": {"name": "f", "arguments": "}"}}),
    ]
    assert asked(*stream) == [("c1", "f", {"a": 1})]


def test_it_reads_empty_ids_as_none():
    stream = [
        calls(call("c1", "f", "", index=0)),
        calls({"index": 0, "id": "", "function": {"name": "", "arguments": '{"a": 1}'}}),
    ]
    assert asked(*stream) == [("c1", "f", {"a": 1})]


def test_it_reads_arguments_that_came_as_an_object():
    assert asked(calls(call("c1", "f", {"a": 1}, index=0))) == [("c1", "f", {"a": 1})]


def test_it_reads_no_arguments_as_none_given():
    assert asked(calls(call("c1", "f", "", index=0))) == [("c1", "f", {})]


def test_it_does_not_know_the_arguments_of_a_call_that_was_cut():
    views = [seen(ASK, events(calls(call("c1", "f", text, index=0)))) for text in ("", '{"a":')]
    assert [(each.arguments, each.arguments_text) for view in views for each in view.asked] == [(None, ""), (None, '{"a":')]


def test_it_reads_the_call_of_the_days_before_tool_calls():
    stream = [delta({"function_call": {"name": "f", "arguments": ""}}), delta({"function_call": {"arguments": '{"a": 1}'}})]
    assert asked(*stream) == [(None, "f", {"a": 1})]
    assert [each.tool for each in seen(ASK, message(content=None, function_call={"name": "f", "arguments": "{}"})).asked] == [
        "f"
    ]
    assert seen(ASK, message(content="x", function_call={"name": "", "arguments": ""})).asked == ()


def test_it_reads_the_input_of_a_custom_tool_as_its_argument():
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    assert [each.arguments for each in seen(ASK, message(content=None, tool_calls=[custom])).asked] == ["*** Begin"]
    assert asked(calls({**custom, "index": 0})) == [("c1", "patch", "*** Begin")]


def test_it_survives_chunks_without_choices_and_data_that_is_no_object():
    odd = [
        {"usage": {"total_tokens": 9}},
        {"choices": None},
        {"x_groq": {"usage": {}}},
        "data: 123\n\n",
        "data: {broken\n\n",
        "data: []\n\n",
        "data: null\n\n",
    ]
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
    view = seen(ASK, events(delta({"content": "He"}), *odd, delta({"content": "llo"}), delta(finish="stop"), usage, DONE))
    assert (view.text, view.stop_reason, view.usage) == ("Hello", "stop", Usage(input=7, output=2))
    assert view.unknown_events == 4


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (
            {
                "prompt_tokens": 21,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 16},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(input=21, output=8, cached=16, reasoning=5),
        ),
        ({"prompt_tokens": 3, "completion_tokens": 1, "prompt_cache_hit_tokens": 0}, Usage(input=3, output=1, cached=0)),
        ({"prompt_tokens": 3, "completion_tokens": None}, Usage(input=3)),
        ({"prompt_tokens": True, "completion_tokens": "4"}, Usage()),
        ([], Usage()),
        (None, Usage()),
    ],
)
def test_it_takes_the_providers_own_numbers(usage, told):
    assert seen(ASK, events(delta({"content": "a"}), {"choices": [], "usage": usage}, DONE)).usage == told


def test_it_takes_a_running_figure_as_it_stood_last():
    stream = [delta({"content": "a"}, usage={"prompt_tokens": 4, "completion_tokens": n}) for n in (1, 2, 3)]
    assert seen(ASK, events(*stream, DONE)).usage == Usage(input=4, output=3)


def test_it_takes_usage_from_where_groq_puts_it():
    view = seen(
        ASK, events(delta({"content": "a"}, x_groq={"id": "r", "usage": {"prompt_tokens": 4, "completion_tokens": 2}}), DONE)
    )
    assert view.usage == Usage(input=4, output=2)


def test_it_reads_content_that_is_a_list_and_leaves_thinking_out():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hello"}]
    for body in (events(delta({"content": parts[:1]}), delta({"content": parts[1:]}), DONE), message(content=parts)):
        view = seen(ASK, body)
        assert (view.text, view.reasoning) == ("Hello", True)


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content", "reasoning_details", "thinking"])
def test_it_notes_that_there_was_reasoning_under_any_of_its_names(key):
    view = seen(ASK, events(delta({key: "hm", "content": ""}), delta({"content": "Hello"}), DONE))
    assert (view.text, view.reasoning) == ("Hello", True)
    assert not seen(ASK, events(delta({key: None, "content": "Hello"}), DONE)).reasoning


def test_it_shows_a_refusal_and_what_was_spoken_as_text():
    assert seen(ASK, message(content=None, refusal="I can't.")).text == "I can't."
    assert seen(ASK, message(content=None, audio={"transcript": "Hello"})).text == "Hello"
    assert seen(ASK, message(content="", refusal="", audio={"transcript": ""})).text == ""


def test_it_tells_all_choices_and_the_stop_reason_of_the_first():
    stream = [delta({"content": "b"}, choice=1, finish="length"), delta({"content": "a"}, finish="stop"), DONE]
    view = seen(ASK, events(*stream))
    assert (view.text, view.stop_reason) == ("a\nb", "stop")


def test_it_joins_an_emoji_whose_halves_came_apart():
    stream = 'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00!"}}]}\n\n'
    assert seen(ASK, events(stream, DONE)).text == "\U0001f600!"


def test_it_reads_no_stop_reason_in_an_empty_one():
    assert seen(ASK, events(calls(call("c1", "f", "{}", index=0)), delta(finish=""), DONE)).stop_reason is None


@pytest.mark.parametrize(
    "broken",
    [
        {"error": {"message": "no capacity", "type": "server_error", "code": "overloaded"}},
        ("error", {"message": "no capacity", "type": "overloaded"}),
        delta({}, finish="error") | {"error": {"code": "overloaded", "message": "no capacity"}},
        {"choices": [{"index": 0, "delta": {}, "error": {"code": "overloaded", "message": "no capacity"}}]},
        {"object": "error", "code": "overloaded", "message": "no capacity"},
        {"x_groq": {"error": "overloaded: no capacity"}},
    ],
)
def test_it_keeps_the_text_before_an_error_in_the_stream(broken):
    view = seen(ASK, events(delta({"content": "Par"}), broken))
    assert (view.text, view.error, view.complete) == ("Par", "overloaded: no capacity", True)


def test_it_has_no_text_where_an_error_came_in_place_of_an_answer():
    view = seen(ASK, json.dumps({"error": {"message": "no capacity", "code": "overloaded"}}).encode())
    assert (view.text, view.error) == (None, "overloaded: no capacity")


# the request


def test_it_tells_what_the_request_says():
    body = {
        "model": "m",
        "temperature": 0.5,
        "n": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
        "user": "u",
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
            {"type": "custom", "custom": {"name": "patch"}},
            {"function": {"name": "g"}},
            {"type": "web_search", "web_search": {"enable": True}},
        ],
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": None, "tool_calls": [call("c1", "f", '{"a": 1}')]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "system", "content": "Later."},
        ],
    }
    view = seen(post("https://gateway.test/openai/v1/chat/completions", body), b"")
    assert (view.api, view.provider, view.requested_model) == ("chat", "openai", "m")
    assert view.parameters == {"temperature": 0.5, "n": 1}
    assert [(tool.name, tool.parameters) for tool in view.tools] == [
        ("f", {"type": "object"}),
        ("patch", None),
        ("g", None),
        ("web_search", None),
    ]
    assert [(said.role, said.text) for said in view.said] == [
        ("user", "Hi"),
        ("assistant", ""),
        ("tool", ""),
        ("system", "Later."),
    ]
    assert [(each.call_id, each.tool, each.arguments) for each in view.said[1].asked] == [("c1", "f", {"a": 1})]
    assert [(each.call_id, each.tool, each.content) for each in view.said[2].handed] == [("c1", "f", "done")]


def test_it_digests_an_element_alike_in_a_later_request():
    first = CAPTURES["openai-chat/azure-tool-stream"]
    later = CAPTURES["openai-chat/azure-tool-stream-answer"]
    before, after = (seen(each.request, each.response.body) for each in (first, later))
    assert after.said[: len(before.said)] == before.said
    assert len(after.said) == len(before.said) + 2
    assert after.system_digest == before.system_digest is not None


def test_it_changes_the_system_digest_with_the_prompt_alone():
    def digest(*messages):
        return seen(post(URL, {"model": "m", "messages": messages}), b"").system_digest

    user = {"role": "user", "content": "Hi"}
    assert digest(user) is None
    assert digest({"role": "system", "content": "a"}, user) == digest(
        {"role": "developer", "content": [{"type": "text", "text": "a"}]}
    )
    assert digest({"role": "system", "content": "a"}) != digest({"role": "system", "content": "b"})


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (URL, {}),
        (URL, b"\x1f\x8b"),
        ("http://127.0.0.1:1/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", {}),
        ("http://127.0.0.1:1/chat/completions/", {}),
        ("https://api.writer.com/v1/chat", {"model": "palmyra", "messages": []}),
        ("https://adb.test/serving-endpoints/llama/invocations", {"messages": []}),
        ("https://a.test/v1/projects/p/publishers/mistralai/models/m:rawPredict", {"messages": []}),
    ],
)
def test_it_claims_by_path_and_shape(url, body):
    assert detect(post(url, body)) == "openai-chat"


@pytest.mark.parametrize(
    "request_",
    [
        post(URL, method="GET"),
        post(URL + "/chatcmpl-1", {}),
        post("https://adb.test/serving-endpoints/other/invocations", {"inputs": []}),
    ],
)
def test_it_leaves_other_apis_alone(request_):
    assert detect(request_) is None
