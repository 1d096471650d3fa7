from __future__ import annotations

import base64
import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.captures import captures

from wiretape.traces.errors import UsageError
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactRule, RedactSettings
from wiretape.traces.types import Headers, Request

JSON: Headers = (("Content-Type", "application/json"),)
SSE: Headers = (("Content-Type", "text/event-stream"),)
FORM: Headers = (("Content-Type", "application/x-www-form-urlencoded"),)
KEY = "sk-proj-DUMMYq7Zr1Xv93LmNc5TtPw82KyBdUa4"
SECRET = "s3cr3t-canary-7f3a91c2d4"


def redactor(**settings: object) -> Redactor:
    return Redactor(RedactSettings.model_validate(settings))


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("Authorization", f"Bearer {KEY}", r"Bearer sk-wtredacted0001"),
        ("authorization", "Basic dXNlcjpzZWNyZXQ=", r"Basic wtredacted0001"),
        ("x-api-key", SECRET, r"wtredacted0001"),
        ("X-Goog-Api-Key", "AIzaSyDUMMY0000000000000000000000000000", r"AIzawtredacted0001"),
        ("Cookie", f"theme=; sid={SECRET}", r"theme=; sid=wtredacted0001"),
        ("Set-Cookie", f"sid={SECRET}; Path=/; HttpOnly", r"sid=wtredacted0001; Path=/; HttpOnly"),
        ("Location", f"http://x.test/next?key={SECRET}&a=1", r"http://x\.test/next\?key=wtredacted0001&a=1"),
        ("X-Note", f"the key {KEY} works", r"the key sk-wtredacted0001 works"),
        ("Content-Type", "application/json", r"application/json"),
    ],
)
def test_it_replaces_credentials_in_headers_and_keeps_their_form(name: str, value: str, kept: str) -> None:
    [(same_name, got)] = redactor().headers(((name, value),))
    assert same_name == name
    assert re.fullmatch(kept, got)


@pytest.mark.parametrize("name", ["key", "api_key", "access_token", "sig", "X-Amz-Signature", "client_secret"])
def test_it_replaces_secrets_in_queries_and_leaves_the_rest_as_written(name: str) -> None:
    url = f"https://x.test/v1beta/m:stream?alt=sse&{name}={SECRET}&q=a%20b+c"
    assert redactor().url(url) == f"https://x.test/v1beta/m:stream?alt=sse&{name}=wtredacted0001&q=a%20b+c"


BODIES = [
    (f'{{"api_key": "{SECRET}", "n": 1.0}}', JSON),
    (f'[{{"token": "{SECRET}"}}]', JSON),
    (f'{{"a": {{"b": [{{"clientSecret": "{SECRET}"}}]}}}}', JSON),
    (f'{{"token": "{SECRET}', JSON),
    (json.dumps({"arguments": json.dumps({"password": SECRET, "n": 1})}), JSON),
    (f"a=1&client_secret={SECRET}&b=2", FORM),
    (f"client_secret={SECRET}&a=1", JSON),
    (f'data: {{"access_token": "{SECRET}"}}\n\n', SSE),
    (
        f'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--x--',
        (("Content-Type", "multipart/form-data; boundary=x"),),
    ),
]


@pytest.mark.parametrize(("text", "headers"), BODIES)
def test_it_replaces_secrets_in_bodies_where_they_stand(text: str, headers: Headers) -> None:
    body = redactor().body(text.encode(), headers)
    assert body == text.replace(SECRET, "wtredacted0001").encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"max_tokens": 5, "total_tokens": 9, "next_page_token": null}',
        '{"logprobs": [{"token": "Hello", "logprob": -0.1, "bytes": [72]}]}',
        '{"properties": {"password": {"type": "string"}}, "required": ["password"]}',
        '{"signature": "EqoBCkgIARABGAIiQL8", "thinking": "hm"}',
        '{"text": "ask-me-anything-about-the-risk-of-things"}',
        '{"token": 7, "secret": null, "password": ""}',
    ],
)
def test_it_leaves_what_only_looks_like_a_secret(text: str) -> None:
    made = redactor()
    assert made.body(text.encode(), JSON) == text.encode()
    assert made.count == 0


def test_one_secret_has_one_placeholder_wherever_it_stands() -> None:
    made = redactor()
    request = Request(
        "POST", f"https://x.test/?api_key={SECRET}", (("Authorization", f"Bearer {SECRET}"),), f"say {SECRET}".encode()
    )
    got = made.request(request)
    assert got.url.endswith("api_key=wtredacted0001")
    assert got.headers[0][1] == "Bearer wtredacted0001"
    assert got.body == b"say wtredacted0001"


def test_a_known_value_is_replaced_also_where_it_is_escaped() -> None:
    made = redactor(values=['va"lue+with/odd'])
    assert made.text('va%22lue%2Bwith%2Fodd and va\\"lue+with/odd') == "wtredacted0001 and wtredacted0001"


def test_a_named_header_is_a_secret_too() -> None:
    made = Redactor(RedactSettings(rules=(RedactRule(header="X-Shop-Key"),)))
    assert made.headers((("x-shop-key", "plain"),)) == (("x-shop-key", "wtredacted0001"),)


def test_a_named_place_in_a_body_is_a_secret_too() -> None:
    made = Redactor(RedactSettings(rules=(RedactRule(json_path="$.orders[*].customer.email"),)))
    body = b'{"email": "a@x", "orders": [{"customer": {"email": "b@x"}, "email": "c@x"}]}'
    assert made.body(body, JSON) == body.replace(b"b@x", b"wtredacted0001")


@pytest.mark.parametrize("path", ["email", "$", "$..email", "$.a[?(@.b)]"])
def test_a_place_that_cannot_be_found_is_refused_and_not_passed_over(path: str) -> None:
    with pytest.raises(UsageError, match="plain path"):
        Redactor(RedactSettings(rules=(RedactRule(json_path=path),)))


def test_a_key_that_escapes_hide_is_found() -> None:
    escaped = KEY.replace("sk", "\\u0073k").encode()
    assert redactor().body(b'{"content": "it is ' + escaped + b'!"}', JSON) == b'{"content": "it is sk-wtredacted0001!"}'


@pytest.mark.parametrize(
    "prefix", ["sk-", "AIza", "ya29.", "gsk_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "hf_", "AKIA", "ASIA"]
)
def test_a_key_of_each_known_shape_is_found(prefix: str) -> None:
    key = (prefix + "A1B2C3D4" * 5)[: 20 if prefix in ("AKIA", "ASIA") else None]
    assert key.encode() not in redactor().body(f'{{"text": "it is {key}!"}}'.encode(), JSON)


def test_a_json_web_token_stays_one() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbnl0aGluZyJ9.c2lnbmF0dXJlLWhlcmU"
    got = redactor().text(f"t={token}")
    first, second, third = got.removeprefix("t=").split(".")
    assert json.loads(base64.urlsafe_b64decode(first + "==")) == {"alg": "none"}
    assert json.loads(base64.urlsafe_b64decode(second + "==")) == {"redacted": 1}
    assert third == "wtredacted0001"


def test_an_encoded_body_is_redacted_inside_and_encoded_again() -> None:
    headers = (*JSON, ("Content-Encoding", "gzip"))
    got = redactor().body(gzip.compress(json.dumps({"api_key": SECRET}).encode()), headers)
    assert json.loads(gzip.decompress(got)) == {"api_key": "wtredacted0001"}


def test_digests_over_changed_bytes_are_dropped() -> None:
    request = Request("POST", "https://x.test/", (*JSON, ("Content-MD5", "abc")), f'{{"token": "{SECRET}"}}'.encode())
    assert redactor().request(request).headers == JSON


@given(st.data())
def test_it_is_idempotent_and_never_leaks_a_planted_secret(data: st.DataObject) -> None:
    template, headers = data.draw(st.sampled_from(BODIES))
    secret = data.draw(st.text("ABCDEFabcdef0123456789", min_size=9, max_size=40))
    made = redactor()
    once = made.body(template.replace(SECRET, secret).encode(), headers)
    assert secret.encode() not in once
    assert made.body(once, headers) == once


@pytest.mark.parametrize("capture", [each for each in captures() if each.exchange.response], ids=lambda each: each.name)
def test_it_leaves_real_traffic_without_secrets_as_it_is(capture: object) -> None:
    exchange = capture.exchange  # type: ignore[attr-defined]
    got = redactor().body(exchange.response.body, exchange.response.headers)
    assert got == exchange.response.body


# streams


def fed(text: bytes, sizes: list[int], headers: Headers = SSE, **settings: object) -> list[bytes]:
    stream = redactor(**settings).stream(headers)
    out, at = list[bytes](), 0
    for size in sizes:
        out += stream.feed(text[at : at + size])
        at += size
    return out + stream.close()


@given(st.data())
def test_a_stream_gives_one_piece_for_each_and_hides_a_secret_that_is_cut_anywhere(data: st.DataObject) -> None:
    text = f'data: {{"note": "the key {KEY} works"}}\n\ndata: [DONE]\n\n'.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    out = fed(text, sizes)
    assert len(out) == len(sizes)
    assert b"".join(out) == text.replace(KEY.encode(), b"sk-wtredacted0001")


def test_a_stream_lets_whole_lines_go_at_once() -> None:
    stream = redactor().stream(SSE)
    assert stream.feed(b"data: 1\n\n") == [b"data: 1\n\n"]
    assert stream.feed(b"data: sk-proj-") == []
    assert stream.feed(b"DUMMYq7Zr1Xv93LmNc5TtPw\n\n") == [b"data: sk-wtredacted0001", b"\n\n"]


def test_json_is_held_until_it_is_whole() -> None:
    assert fed(f'{{"token": "{SECRET}"}}'.encode(), [5, 12, 60], JSON) == [b'{"tok', b'en": "wtredacted0001', b'"}']


def test_what_is_no_text_goes_through_as_it_is() -> None:
    assert fed(b"\x00\xff" * 9, [3, 5, 10], (("Content-Type", "audio/mpeg"),)) == [
        b"\x00\xff\x00",
        b"\xff\x00\xff\x00\xff",
        b"\x00\xff" * 5,
    ]


def test_off_changes_nothing() -> None:
    assert redactor(mode="off").request(Request("GET", f"http://x/?key={KEY}")) == Request("GET", f"http://x/?key={KEY}")
