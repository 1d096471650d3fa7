from __future__ import annotations

import base64
import gzip
import json
import re
from urllib.parse import quote, unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.captures import captures

from wiretape.traces import codings
from wiretape.traces.errors import UsageError
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactRule, RedactSettings
from wiretape.traces.types import Headers, Request

JSON: Headers = (("Content-Type", "application/json"),)
SSE: Headers = (("Content-Type", "text/event-stream"),)
MULTIPART: Headers = (("Content-Type", "multipart/form-data; boundary=x"),)
GZIP: Headers = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"))
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


@pytest.mark.parametrize("name", ["key", "api_key", "access_token", "token", "subscription-key", "client_secret"])
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
    (f'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--x--', MULTIPART),
    (f"--x\r\nContent-Disposition: form-data; name=api_key\r\n\r\n{SECRET}\r\n--x--", MULTIPART),
    (f"--x\nContent-Disposition: form-data; filename=f; name=api_key\nX-A: b\n\n{SECRET}\n--x--", MULTIPART),
    (f'\ufeff{{"password": "{SECRET}"}}', JSON),
    (f"note=one\ntwo&password={SECRET}\n", FORM),
    (f"\npassword={SECRET}&note=one", FORM),
    (f'[{{"a": "s"}}, {{"arguments": "{{\\"password\\": \\"{SECRET}\\"}}"}}]', JSON),
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


def test_a_password_of_digits_becomes_a_text_at_any_depth() -> None:
    inner = json.dumps({"password": 1234567890123456, "n": 5})
    got = redactor().body(json.dumps({"secret": 987654, "arguments": inner, "id": 1234567890123456}).encode(), JSON)
    found = json.loads(got)
    assert (found["secret"], found["id"]) == ("wtredacted0001", 1234567890123456)
    assert json.loads(found["arguments"]) == {"password": "wtredacted0002", "n": 5}


@pytest.mark.parametrize(
    ("value", "secret"),
    [("BTC", False), ("alpha", False), ("ethereum-classic", False), ("shipping_address", False), ("hunter2hunter2", True)],
)
def test_a_token_is_no_word_of_the_business(value: str, secret: bool) -> None:
    assert (b"wtredacted" in redactor().body(json.dumps({"token": value}).encode(), JSON)) == secret


ORDINARY = [
    "BTC",
    "alpha",
    "order-2024-0001",
    "next page of results",
    "shipping_address",
    "12345678901234567890",
    "customer123",
]


@pytest.mark.parametrize("value", ORDINARY)
def test_a_key_that_is_ordinary_data_is_left(value: str) -> None:
    made, url = redactor(), f"http://x.test/find?key={value.replace(' ', '+')}"
    body = json.dumps({"key": value}).encode()
    assert (made.body(body, JSON), made.url(url), made.count) == (body, url, 0)


@pytest.mark.parametrize(
    "value", [SECRET, "5f2b8c1e-77aa-4b1d-9c3e-0123456789ab", "QWxhZGRpbjpPcGVuU2VzYW1l", "0xdAC17F958D2ee523"]
)
def test_a_token_or_key_that_looks_like_a_credential_is_replaced(value: str) -> None:
    made = redactor()
    assert made.body(json.dumps({"token": value}).encode(), JSON) == b'{"token": "wtredacted0001"}'
    assert made.url(f"http://x.test/find?key={value}") == "http://x.test/find?key=wtredacted0001"


@pytest.mark.parametrize("value", ["abc", "x", "correct horse battery staple"])
def test_a_password_is_a_secret_whatever_it_is(value: str) -> None:
    assert redactor().body(json.dumps({"password": value}).encode(), JSON) == b'{"password": "wtredacted0001"}'


@pytest.mark.parametrize(
    "place", ["https://maps.googleapis.com/maps/api", "http://127.0.0.1:80/v1beta/models/g:generateContent"]
)
def test_google_has_its_key_in_the_url_whatever_it_looks_like(place: str) -> None:
    assert redactor().url(f"{place}?key=dummy") == f"{place}?key=wtredacted0001"


@pytest.mark.parametrize(
    "written",
    [
        r"https:\/\/x.test\/a?b=1\u0026sig=f00dfeed",
        "https://x.test/a?X-Amz-Signature=f00dfeed&b=1",
        "see https://x.test/?api_key=f00dfeed for more",
    ],
)
def test_a_url_in_a_body_has_its_secrets_replaced(written: str) -> None:
    body = f'{{"url": "{written}"}}'
    assert redactor().body(body.encode(), JSON) == body.replace("f00dfeed", "wtredacted0001").encode()


def test_a_secret_behind_a_hash_is_replaced_too() -> None:
    assert redactor().url("https://x.test/#access_token=abc&state=1") == "https://x.test/#access_token=wtredacted0001&state=1"


def test_parts_of_a_signature_have_no_number() -> None:
    url = "https://x.test/?X-Amz-Signature=abc&X-Amz-Credential=AKIA%2Fday&X-Amz-Expires=60"
    assert redactor().url(url) == (
        "https://x.test/?X-Amz-Signature=wtredacted0000&X-Amz-Credential=wtredacted0000&X-Amz-Expires=60"
    )


def test_placeholders_are_numbered_by_first_appearance_whatever_is_known() -> None:
    made = redactor(values=["aaaaaaaa-first", "bbbbbbbb-second"])
    assert made.text("bbbbbbbb-second, aaaaaaaa-first") == "wtredacted0001, wtredacted0002"


PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END KEY-----"


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(SECRET).replace("s", "\\u0073"),
        json.dumps(json.dumps(SECRET).replace("s", "\\u0073")),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        json.dumps({"note": f"it is {SECRET}, you know"}),
    ],
)
def test_a_known_value_is_found_however_it_is_escaped(written: str) -> None:
    got = redactor(values=[SECRET]).body(written.encode(), ())
    assert b"wtredacted0001" in got
    assert SECRET.encode() not in got
    assert b"7f3a91c2d4" not in got


WRITINGS = {
    "JSON": (json.dumps, json.loads),
    "JSON as it is read": (lambda text: json.dumps(text, ensure_ascii=False), json.loads),
    "JSON with slashes escaped": (lambda text: json.dumps(text).replace("/", "\\/"), json.loads),
    "a member": (lambda text: json.dumps({"note": text}), lambda text: json.loads(text)["note"]),
    "a URL": (lambda text: quote(text, safe="/"), unquote),
}


@given(st.data())
def test_a_known_value_never_shows_whatever_it_is_and_however_it_is_written(data: st.DataObject) -> None:
    """Several layers of JSON, and percent-encoding inside them."""
    secret = data.draw(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=8, max_size=24))
    assume(secret.strip() == secret and "\\n" not in secret and "wtredacted" not in secret)
    ways = [WRITINGS["a URL"]] if data.draw(st.booleans()) else []
    ways += [WRITINGS[name] for name in data.draw(st.lists(st.sampled_from(list(WRITINGS)[:4]), max_size=3))]
    text = f"it is {secret}, you know"
    for write, _ in ways:
        text = write(text)
    found = redactor(values=[secret]).body(text.encode(), data.draw(st.sampled_from([JSON, SSE, ()]))).decode()
    for _, read in reversed(ways):
        found = read(found)
    assert secret not in found
    assert found == "it is wtredacted0001, you know"


@pytest.mark.parametrize("between", ["\n", "\r\n", "\\n", "\n> ", "\n    "])
def test_a_value_of_several_lines_is_found_however_they_are_parted(between: str) -> None:
    got = redactor(values=[PEM]).body(f"key: {PEM.replace(chr(10), between)} end".encode(), ())
    assert b"MIIEvQ" not in got
    assert b"BKcwgg" not in got
    assert got.startswith(b"key: ")
    assert got.endswith(b" end")


def test_the_password_of_basic_credentials_and_of_a_url_is_known_too() -> None:
    made = redactor()
    made.headers((("Authorization", f"Basic {base64.b64encode(b'user:first-pass').decode()}"),))
    made.url("http://me:second-pass@x.test/")
    assert made.text("first-pass second-pass") == "wtredacted0002 wtredacted0003"


@pytest.mark.parametrize(
    "name", ["Ocp-Apim-Subscription-Key", "Private-Token", "X-Amz-Signature", "X-Amz-Security-Token", "X-Auth"]
)
def test_a_header_that_ends_as_credentials_do_is_one(name: str) -> None:
    assert redactor().headers(((name, "abc"),)) == ((name, "wtredacted0001"),)


@pytest.mark.parametrize("name", ["Idempotency-Key", "Sec-WebSocket-Key", "x-ratelimit-remaining-tokens", "Mcp-Session-Id"])
def test_a_header_that_only_sounds_like_it_is_left(name: str) -> None:
    assert redactor().headers(((name, SECRET),)) == ((name, SECRET),)


# bodies that cannot be read


def test_a_body_that_is_cut_is_redacted_as_far_as_it_goes() -> None:
    whole = gzip.compress(b'{"api_key": "' + SECRET.encode() + b'", "a": [' + b"1, " * 999)
    got = redactor().body(whole[:-8], GZIP)
    assert SECRET.encode() not in (codings.undo(got, GZIP, partial=True) or b"")
    assert redactor().body(gzip.compress(b'{"a": 1}')[:-8], GZIP) == gzip.compress(b'{"a": 1}')[:-8]


def test_plain_text_under_a_wrong_label_is_read_as_it_is() -> None:
    assert redactor().body(f'{{"token": "{SECRET}"}}'.encode(), GZIP) == b'{"token": "wtredacted0001"}'


DAMAGED = gzip.compress(f'{{"a": "{SECRET}"}}'.encode())[:-8] + b"\xff" * 8


@pytest.mark.parametrize(
    ("body", "coding"),
    [(DAMAGED, "gzip"), (b"\0" + SECRET.encode(), "lzw"), (gzip.compress(b"a") + b"\0" + SECRET.encode(), "gzip")],
    ids=["damaged", "unknown", "followed by something"],
)
def test_what_cannot_be_read_is_withheld_and_counted(body: bytes, coding: str) -> None:
    made = redactor(values=[SECRET])
    got = [made.body(body, (("Content-Encoding", coding),)) for _ in range(2)]
    assert got == [b"wtwithheld0001", b"wtwithheld0002"]
    assert made.withheld == 2


def test_what_a_coding_that_nobody_knows_hides_is_kept_where_no_secret_shows() -> None:
    made, body = redactor(values=[SECRET]), b"\0bytes of a coding that nobody knows\xff"
    assert (made.body(body, (("Content-Encoding", "foo"),)), made.withheld) == (body, 0)


# modes


def test_strict_knows_more_names_shapes_and_values() -> None:
    made = redactor(mode="strict")
    body = {"token": "BTC", "sessionId": SECRET, "note": "glpat-0123456789abcdefghij", "session": "monday", "tokens": "words"}
    assert json.loads(made.body(json.dumps(body).encode(), JSON)) == {
        "token": "wtredacted0001",
        "sessionId": "wtredacted0002",
        "note": "glpat-wtredacted0003",
        "session": "monday",
        "tokens": "words",
    }
    assert redactor().body(json.dumps({**body, "token": ""}).encode(), JSON) == json.dumps({**body, "token": ""}).encode()


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
    secret = "a1b2c3d4" + data.draw(st.text("ABCDEFabcdef0123456789", min_size=9, max_size=40))
    made = redactor()
    once = made.body(template.replace(SECRET, secret).encode(), headers)
    assert secret.encode() not in once
    assert made.body(once, headers) == once


@pytest.mark.parametrize("capture", [each for each in captures() if each.exchange.response], ids=lambda each: each.name)
def test_it_leaves_real_traffic_without_secrets_as_it_is(capture: object) -> None:
    exchange = capture.exchange  # type: ignore[attr-defined]
    got = redactor().body(exchange.response.body, exchange.response.headers)
    assert got == exchange.response.body


def test_off_changes_nothing() -> None:
    assert redactor(mode="off").request(Request("GET", f"http://x/?key={KEY}")) == Request("GET", f"http://x/?key={KEY}")
