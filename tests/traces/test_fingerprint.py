from __future__ import annotations

import gzip
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.captures import captures

from wiretape.traces.differences import differences
from wiretape.traces.fingerprint import VERSION, Fingerprint, fingerprint
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.types import Request

URL = "http://x.test/v1/chat"


def post(body: object, url: str = URL, **headers: str) -> Request:
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    return Request("POST", url, tuple((name.replace("_", "-"), value) for name, value in headers.items()), data)


def same(first: Request, second: Request) -> bool:
    return fingerprint(first).canonical == fingerprint(second).canonical


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://x.test/s?q=a%20b", "http://x.test/s?q=a+b"),
        ("http://x.test/caf%c3%a9", "http://x.test/caf%C3%A9"),
        ("http://x.test/~u?p=%7Ez", "http://x.test/%7Eu?p=~z"),
        ("http://x.test/?a=1&b=2", "http://x.test/?b=2&a=1"),
        ("http://X.test:80/a", "http://x.test/a"),
        ("https://x.test:443/a", "https://x.test/a"),
    ],
)
def test_spellings_of_one_url_are_one(first: str, second: str) -> None:
    assert same(Request("GET", first), Request("GET", second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://x.test/s?q=a%20b", "http://x.test/s?q=a%2Bb"),
        ("http://x.test/m%2Fx", "http://x.test/m/x"),
        ("http://x.test/?a=1&a=2", "http://x.test/?a=1"),
        ("http://x.test/a+b", "http://x.test/a%20b"),
        ("http://x.test/", "https://x.test/"),
        ("http://x.test:81/", "http://x.test/"),
    ],
)
def test_other_urls_are_others(first: str, second: str) -> None:
    assert not same(Request("GET", first), Request("GET", second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"a":1,"b":[2]}', '{ "b" : [2.0], "a" : 1e0 }'),
        ('{"n":10000000000000000000001}', '{"n": 10000000000000000000001}'),
        ('{"args":"{\\"x\\":1,\\"y\\":2}"}', '{"args":"{ \\"y\\": 2, \\"x\\": 1 }"}'),
        ('{"tools":[{"name":"a"},{"name":"b"}]}', '{"tools":[{"name":"b"},{"name":"a"}]}'),
        ('{"messages":[{"content":[{"text":"t","cache_control":null}]}]}', '{"messages":[{"content":[{"text":"t"}]}]}'),
        ('{"jsonrpc":"2.0","id":1,"method":"x"}', '{"jsonrpc":"2.0","id":"a-7","method":"x"}'),
        ('{"s":"\\u00e9"}', '{"s":"é"}'),
        ('{"n":1e999999999}', '{"n":10.00E+999999998}'),
        ('{"n":-0.10}', '{"n":-1e-1}'),
        ('{"system":[{"text":"t","cache_control":{"type":"ephemeral","ttl":"1h"}}]}', '{"system":[{"text":"t"}]}'),
        ('{"tools":[{"name":"t","cache_control":{"type":"ephemeral"}}]}', '{"tools":[{"name":"t"}]}'),
        (
            '{"messages":[{"content":[{"type":"tool_result","content":[{"text":"t","cache_control":{"type":"ephemeral"}}]}]}]}',
            '{"messages":[{"content":[{"type":"tool_result","content":[{"text":"t"}]}]}]}',
        ),
    ],
)
def test_spellings_of_one_body_are_one(first: str, second: str) -> None:
    assert same(post(first), post(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"n":9007199254740993}', '{"n":9007199254740992}'),
        ('{"n":1}', '{"n":"1"}'),
        ('{"n":1}', '{"n":true}'),
        ('{"a":1,"a":1}', '{"a":1}'),
        ('{"a":NaN}', '{"a":null}'),
        ('{"m":[1,2]}', '{"m":[2,1]}'),
        ('{"q":"France"}', '{"q":"france"}'),
        ('{"args":"{\\"x\\":1}"}', '{"args":"{\\"x\\":1.0}"}'),
        ('{"jsonrpc":"2.0","method":"x"}', '{"jsonrpc":"2.0","id":1,"method":"x"}'),
        ("{", "["),
        ('{"n":0.1234567890123456789012345678901}', '{"n":0.1234567890123456789012345678902}'),
        ('{"n":1e999999999}', '{"n":1e999999998}'),
        (f'{{"n":1e{"9" * 5000}}}', f'{{"n":1e{"9" * 4999}}}'),
        (
            '{"tools":[{"input_schema":{"properties":{"cache_control":{"type":"string"}}}}]}',
            '{"tools":[{"input_schema":{"properties":{}}}]}',
        ),
        (
            '{"tools":[{"input_schema":{"default":{"cache_control":{"type":"ephemeral"}}}}]}',
            '{"tools":[{"input_schema":{"default":{}}}]}',
        ),
        (
            '{"messages":[{"content":[{"type":"tool_use","input":{"cache_control":{"type":"ephemeral"}}}]}]}',
            '{"messages":[{"content":[{"type":"tool_use","input":{}}]}]}',
        ),
        ('{"tools":[{"name":"t","cache_control":{"type":"string"}}]}', '{"tools":[{"name":"t"}]}'),
    ],
)
def test_other_bodies_are_others(first: str, second: str) -> None:
    assert not same(post(first), post(second))


def test_no_body_and_an_empty_one_are_two() -> None:
    assert fingerprint(Request("POST", URL)) != fingerprint(Request("POST", URL, (), b""))


def test_a_content_coding_and_a_boundary_are_spelling() -> None:
    assert same(post({"a": 1}), post(gzip.compress(b'{"a":1}'), Content_Encoding="gzip"))
    parts = '--{0}\r\nContent-Disposition: form-data; name="f"\r\n\r\nv\r\n--{0}--\r\n'
    one, two = (post(parts.format(mark), Content_Type=f"multipart/form-data; boundary={mark}") for mark in ("aaa", "bbb"))
    assert same(one, two)


@pytest.mark.parametrize(("first", "second"), [("data", "data\n\n"), ("data", "\r\ndata"), ("", "\r\n")])
def test_line_ends_inside_a_part_are_its_own(first: str, second: str) -> None:
    part = '--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n{}\r\n--x--\r\n'
    one, two = (post(part.format(text), Content_Type="multipart/form-data; boundary=x") for text in (first, second))
    assert not same(one, two)


def test_headers_are_no_part_of_it() -> None:
    assert fingerprint(post({"a": 1}, User_Agent="x")) == fingerprint(post({"a": 1}))


def keys(request: Request) -> tuple[str, str]:
    key = fingerprint(request)
    return key.exact, key.canonical


def test_placeholders_count_by_where_they_stand_again_and_not_by_their_number_or_shape() -> None:
    first, second = (post({"api_key": name}) for name in ("sk-wtredacted0001", "wtredacted0042"))
    assert keys(first) == keys(second)
    assert [fingerprint(each).secrets for each in (first, second)] == [(1,), (42,)]
    twice, other = (post({"from": "wtredacted0001", "to": f"wtredacted{n}"}) for n in ("0001", "0002"))
    assert {*keys(twice)}.isdisjoint(keys(other))


def test_what_is_sorted_is_not_sorted_by_the_numbers_of_placeholders() -> None:
    def tools(*numbers: int) -> Request:
        return post({"tools": [{"key": f"wtredacted000{n}", "n": n and 1} for n in numbers], "a": "wtredacted0007"})

    one, other = tools(1, 2), tools(9, 3)
    assert keys(one) == keys(other)
    assert (fingerprint(one).secrets, fingerprint(other).secrets) == ((7, 1, 2), (7, 9, 3))


def test_a_signature_is_no_part_of_it() -> None:
    first, second = (
        Redactor(RedactSettings()).request(Request("GET", f"http://x.test/a?X-Amz-Signature={'ab' * n}")) for n in (9, 16)
    )
    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(first).secrets == ()


def test_it_is_written_and_read_again() -> None:
    key = fingerprint(post({"a": 1}))
    assert Fingerprint.parse(str(key)) == key
    hidden = fingerprint(post({"a": "wtredacted0012", "b": "wtredacted0003"}))
    assert Fingerprint.parse(str(hidden)) == hidden
    assert Fingerprint.parse("1:abc:def") == Fingerprint(1, "abc", "def")
    assert key.version == VERSION


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    ),
    st.randoms(),
)
def test_key_order_and_white_space_never_matter(value: Any, dice: random.Random) -> None:
    def shuffled(each: Any) -> Any:
        if isinstance(each, dict):
            items = [(name, shuffled(inner)) for name, inner in each.items()]
            dice.shuffle(items)
            return dict(items)
        return [shuffled(inner) for inner in each] if isinstance(each, list) else each

    first, second = post({"v": value}), post(json.dumps({"v": shuffled(value)}, indent=3, ensure_ascii=True))
    assert same(first, second)
    assert differences(first, second) == ()


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_it_takes_any_bytes(body: bytes, path: bytes) -> None:
    request = Request("POST", "http://x.test/" + path.decode("latin-1").replace("[", "").replace("]", ""), (), body)
    assert fingerprint(request) == fingerprint(request)
    assert differences(request, request) == ()


@pytest.mark.parametrize("capture", list(captures()), ids=lambda each: each.name)
def test_a_real_request_with_another_key_is_the_same(capture: Any) -> None:
    request = capture.exchange.request

    def keyed(key: str) -> Request:
        return Redactor(RedactSettings()).request(
            Request(request.method, request.url, (*request.headers, ("Authorization", f"Bearer {key}")), request.body)
        )

    assert fingerprint(keyed("sk-first-000000000000000000000")) == fingerprint(keyed("sk-second-11111111111111111111"))


@pytest.mark.parametrize(
    ("first", "second", "paths"),
    [
        ({"t": 0.2}, {"t": 0.9}, ["$.t"]),
        ({"m": [{"content": "a"}]}, {"m": [{"content": "b"}]}, ["$.m[0].content"]),
        ({"m": [1]}, {"m": [1, 2]}, ["$.m[1]"]),
        ({}, {"tools": []}, ["$.tools"]),
        ({"odd name": 1}, {"odd name": 2}, ['$["odd name"]']),
    ],
)
def test_a_difference_is_named_by_its_path(first: object, second: object, paths: list[str]) -> None:
    assert [each.path for each in differences(post(first), post(second))] == paths


def test_a_difference_in_a_long_text_shows_the_place() -> None:
    long = "x" * 5000
    [found] = differences(post({"p": long + "old" + long}), post({"p": long + "new" + long}))
    assert "old" in found.recorded
    assert "new" in found.live
    assert len(found.live) < 200


def test_numbers_of_placeholders_differ_only_where_nothing_else_does() -> None:
    one, other = ({"key": f"wtredacted{n}", "n": 1} for n in ("0001", "0002"))
    assert [each.path for each in differences(post(one), post(other))] == ["$.key"]
    assert [each.path for each in differences(post(one), post({**other, "n": 2}))] == ["$.n"]


def test_url_method_and_query_differ_by_name() -> None:
    first, second = Request("GET", "http://x.test/a?alt=sse"), Request("PUT", "http://x.test/b")
    assert [each.path for each in differences(first, second)] == ["method", "url", "query.alt"]
