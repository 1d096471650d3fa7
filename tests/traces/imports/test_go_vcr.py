from __future__ import annotations

import pytest
from support.foreign import exchanges, only, refusal

V1 = """---
version: 1
interactions:
- request:
    body: ""
    form: {}
    headers:
      Accept-Encoding:
      - gzip
    url: http://127.0.0.1:2379/v2/keys/foo?quorum=false
    method: GET
  response:
    body: |
      {"action":"get"}
    headers:
      Content-Length:
      - "17"
      Content-Type:
      - application/json
    status: 200 OK
    code: 200
    duration: ""
"""
"""As modules v1 and v2 write it."""

V2 = """---
version: 2
interactions:
    - id: 0
      request:
        proto: HTTP/1.1
        proto_major: 1
        proto_minor: 1
        content_length: 9
        transfer_encoding: []
        trailer: {}
        host: api.test
        remote_addr: ""
        request_uri: ""
        body: key=value
        form:
            key:
                - value
        headers:
            Content-Type:
                - application/x-www-form-urlencoded
        url: https://api.test/postform
        method: POST
      response:
        proto: HTTP/2.0
        proto_major: 2
        proto_minor: 0
        transfer_encoding: []
        trailer: {}
        content_length: -1
        uncompressed: true
        body: !!binary AP8B
        headers:
            Content-Type:
                - application/octet-stream
        status: 200 OK
        code: 200
        duration: 1m1.544292291s
"""
"""As modules v3 and v4 write it."""


def test_it_reads_version_1() -> None:
    (found,) = exchanges("go-vcr", V1)
    assert (found.request.method, found.request.body) == ("GET", None)
    assert found.response
    assert (found.response.status, found.response.reason, found.response.body) == (200, "OK", b'{"action":"get"}\n')


def test_it_reads_version_2_with_its_protocol_and_duration() -> None:
    found, losses = only("go-vcr", V2)
    assert losses == ()
    assert (found.request.body, found.request.http_version) == (b"key=value", "HTTP/1.1")
    assert found.response
    assert (found.response.body, found.response.http_version) == (b"\0\xff\1", "HTTP/2")
    assert found.timings.ended == 61_544_292


def test_it_keeps_trailers() -> None:
    trailing = V2.replace("trailer: {}\n        content_length: -1", "trailer: {X-End: [a]}\n        content_length: -1")
    response = only("go-vcr", trailing)[0].response
    assert response
    assert response.trailers == (("X-End", "a"),)


@pytest.mark.parametrize(
    ("written", "micros"),
    [("0s", 0), ("250ms", 250_000), ("1500µs", 1500), ("2000000", 2000), ('""', None), ("9999999h", 10**15)],
)
def test_it_reads_durations_as_go_writes_them(written: str, micros: int | None) -> None:
    assert only("go-vcr", V2.replace("1m1.544292291s", written))[0].timings.ended == micros


def test_it_makes_a_form_anew_where_its_body_is_missing() -> None:
    found, losses = only("go-vcr", V2.replace("        body: key=value\n", ""))
    assert found.request.body == b"key=value"
    assert losses == ("the spelling of its form, written anew from `form`",)


@pytest.mark.parametrize("version", [3, 4])
def test_it_takes_the_versions_up_to_4(version: int) -> None:
    assert len(exchanges("go-vcr", V2.replace("version: 2", f"version: {version}"))) == 1


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        (V1.replace("version: 1", "version: 7"), 2, "version"),
        (V1.replace("version: 1\n", ""), 2, "version"),
        ("version: 1\n", 2, "interactions"),
        (V2.replace("body: !!binary AP8B", 'body: ""').replace("content_length: -1", "content_length: 3"), 2, "none of it"),
        (V1.replace('|\n      {"action":"get"}', '""'), 2, "none of it"),
        (V2.replace("body: key=value", 'body: ""').replace("x-www-form-urlencoded", "json"), 2, "none of it"),
        (V1.split("    status:", maxsplit=1)[0], 3, "cut off"),
        (V1.split("0\n    duration", maxsplit=1)[0], 3, "cut off"),
        (V1.split("  response:", maxsplit=1)[0], 2, "response"),
    ],
)
def test_it_says_what_does_not_fit(text: str, code: int, word: str) -> None:
    assert refusal("go-vcr", text)[0] == code
    assert word in refusal("go-vcr", text)[1]
