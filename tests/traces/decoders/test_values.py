"""JSON that may be anything, digests by meaning, and the provider's words."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.traces.decoders import values

HALF = "\ud83d"


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", '{"a": Infinity}', "1e999", "[" * 200 + "]" * 200, "[" * 100_000, "1" * 5000, "{}x"]
)
def test_it_refuses_what_is_no_json_for_us(text):
    with pytest.raises(ValueError, match=r".+"):
        values.parse(text)


@pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, "[" + "[]," * 500 + "[]]", " \t\r\n{} \n"])
def test_it_accepts_many_brackets_that_are_not_deep(text):
    assert values.parse(text) == json.loads(text)


def test_it_keeps_integers_exact_at_any_size():
    assert values.parse("[9007199254740993, 123456789012345678901234567890]") == [
        9007199254740993,
        123456789012345678901234567890,
    ]


def test_it_parses_bytes_with_a_byte_order_mark():
    assert values.parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_it_mends_an_emoji_that_came_in_two_halves():
    assert values.mend("a" + HALF + "\ude00") == "a\U0001f600"
    assert values.mend("a" + HALF) == "a\ufffd"


def test_it_cleans_strings_wherever_they_stand():
    assert values.clean({HALF: [HALF, 1, None, {"a": HALF}]}) == {"\ufffd": ["\ufffd", 1, None, {"a": "\ufffd"}]}


def test_it_counts_integers_alone():
    assert [values.count(value) for value in (3, 0, True, 1.5, "3", None)] == [3, 0, None, None, None, None]


def test_it_digests_meaning_without_key_order_and_cache_markers():
    first = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert values.digest([first]) == values.digest([{"text": "a", "type": "text"}])
    assert values.digest({"cache_control": None}) == values.digest({})


def test_it_digests_a_schema_property_that_is_called_like_a_cache_marker():
    assert values.digest({"properties": {"cache_control": {"type": "string"}}}) != values.digest({"properties": {}})


@pytest.mark.parametrize(
    ("given_", "arguments", "text"),
    [
        ('{"a": 1}', {"a": 1}, '{"a": 1}'),
        ("", {}, ""),
        (None, {}, ""),
        ('{"a": ', None, '{"a": '),
        ('{"a": NaN}', None, '{"a": NaN}'),
        ({"a": "ä"}, {"a": "ä"}, '{"a":"ä"}'),
        (f'{{"a": "{HALF}"}}', {"a": "\ufffd"}, '{"a": "\ufffd"}'),
    ],
)
def test_it_tells_parsed_arguments_and_their_text(given_, arguments, text):
    made = values.asked("f", "c1", given_)
    assert (made.arguments, made.arguments_text) == (arguments, text)


def test_it_knows_no_arguments_of_a_call_that_was_cut_before_them():
    assert values.asked("f", "c1", "", finished=False).arguments is None


def test_it_takes_free_text_as_the_argument_itself():
    assert values.asked("f", "c1", "*** Begin Patch", free=True).arguments == "*** Begin Patch"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], [{"type": "text", "text": "a"}, {"type": "image"}]),
        ({"a": 1}, {"a": 1}),
        ([], []),
        (None, None),
    ],
)
def test_it_hands_text_over_as_text_where_it_is_text_alone(content, told):
    assert values.handed("c1", content).content == told


def test_it_changes_the_digest_of_a_tool_with_its_name_description_or_schema():
    def tool(name="f", description="d", kind="string"):
        return values.declared({"name": name, "description": description}, {"type": kind}).digest

    assert tool() == tool()
    assert len({tool(), tool(name="g"), tool(description="e"), tool(kind="object")}) == 4


def test_it_names_a_tool_without_a_name_by_its_type():
    made = values.declared({"type": "web_search"}, None)
    assert (made.name, made.parameters) == ("web_search", None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"error": {"message": "no capacity", "type": "server_error", "code": "overloaded"}}, "overloaded: no capacity"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded_error: Overloaded"),
        ({"error": {"message": "Missing header", "code": 401}}, "Missing header"),
        ({"code": "invalid-argument", "error": "Incorrect API key"}, "invalid-argument: Incorrect API key"),
        ({"detail": [{"msg": "field required"}]}, '[{"msg":"field required"}]'),
        ({"type": "error", "message": "slow down"}, "slow down"),
        ([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}}], "RESOURCE_EXHAUSTED: quota"),
        ({"message": "Unauthorized"}, "Unauthorized"),
        ("plain", "plain"),
        ({"a": 1}, None),
        ([], None),
        (None, None),
    ],
)
def test_it_says_an_error_in_the_providers_words(error, words):
    assert values.error_words(error) == words


def test_it_takes_the_best_path_that_holds_a_count():
    names = {"cached": (("details", "cached"), ("cached",)), "input": (("prompt",),)}
    assert values.usage_of({"details": {"cached": None}, "cached": 4, "prompt": True}, names) == {"cached": 4}


def test_it_digests_the_bytes_of_an_attachment_that_is_there():
    sum_ = hashlib.sha256(b"abc").hexdigest()
    parts = [
        {"type": "image", "source": {"type": "base64", "data": "YWJj"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
        {"type": "input_image", "image_url": "data:image/png;base64,YWJj"},
    ]
    assert [values.attachment(part) for part in parts] == [f"{part['type']} sha256:{sum_}" for part in parts]


def test_it_digests_what_names_an_attachment_that_is_elsewhere():
    part = {"type": "image_url", "image_url": {"url": "https://a.test/b.png", "detail": "low"}}
    assert values.attachment(part) == "image_url sha256:" + hashlib.sha256(b"https://a.test/b.png").hexdigest()
    assert values.attachment({"type": "image"}) != values.attachment({"type": "image", "a": 1})


@given(st.text() | st.binary())
def test_it_raises_value_errors_alone(data):
    try:
        values.parse(data)
    except ValueError:
        return


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_it_makes_writable_values_of_any_json(value):
    values.handed("c", value).model_dump_json()
    values.asked("f", value, value).model_dump_json()
    values.digest(value)
    values.error_words(value)
