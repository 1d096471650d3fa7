from __future__ import annotations

import base64
import gzip
import json

import pytest
from support.foreign import FOREIGN, exchanges, only, refusal, taken

from wiretape.traces.codings import LIMIT, redo
from wiretape.traces.types import End, header

EVENTS = 'event: a\ndata: {"n": 1}\n\ndata: café\n\ndata: [DONE]\n\n'.encode()


OK = "body: {string: ok}\n    headers: {}\n    status: {code: 200, message: OK}"


def cassette(request: str, response: str = OK) -> str:
    asked = f"- request:\n    {request}\n    method: POST\n    uri: http://x/\n"
    return f"interactions:\n{asked}  response:\n    {response}\nversion: 1\n"


def test_it_reads_what_vcrpy_wrote_of_requests() -> None:
    found = exchanges("vcr", (FOREIGN / "vcrpy-requests.yaml").read_bytes())
    asked = [(each.request.method, each.request.url.partition("41873")[2]) for each in found]
    answered = [each.response.status for each in found if each.response]
    assert [(*each, status) for each, status in zip(asked, answered, strict=True)] == [
        ("POST", "/v1/items?b=2&a=1", 200), ("POST", "/form", 200), ("POST", "/raw", 200), ("GET", "/gzip", 200),
        ("GET", "/binary", 200), ("GET", "/events", 200), ("GET", "/empty", 204), ("GET", "/error", 429),
    ]  # fmt: skip
    assert [each.request.body for each in found[:4]] == [
        b'{"name": "caf\\u00e9", "n": [1, 2.5, null]}',
        b"k=v+w&token=secret-value-123",
        b"\0\xff\1",
        None,
    ]
    bodies = [each.response.body for each in found if each.response]
    assert json.loads(bodies[0])["text"] == "café \U0001f600 'x'\n\"y\""
    assert bodies[4:7] == [bytes(range(256)), EVENTS, b""]
    assert {each.end for each in found} == {End.COMPLETE}
    assert [value for name, value in found[0].response.headers if name == "Set-Cookie"] == ["a=1", "b=2"]  # type: ignore[union-attr]


def test_it_tells_what_vcrpy_lost_of_requests() -> None:
    """A body that it had decoded, under a head that still calls it gzip; and the pieces of a stream."""
    items = taken("vcr", (FOREIGN / "vcrpy-requests.yaml").read_bytes())
    assert {item.number: item.losses for item in items if item.losses} == {
        4: ("the content coding (gzip): the file holds the body decoded",),
        6: ("the pieces that its event stream came in, and their times",),
    }
    zipped = items[3].exchange
    assert zipped
    assert zipped.response
    assert zipped.response.body == b'{"zipped": true}'
    assert header(zipped.response.headers, "content-encoding") is None
    assert header(zipped.response.headers, "content-length") == "16"


def test_it_reads_what_vcrpy_decoded_httpx_and_json() -> None:
    plain = exchanges("vcr", (FOREIGN / "vcrpy-decoded.yaml").read_bytes())[3]
    assert plain.response
    assert plain.response.body == b'{"zipped": true}'
    assert header(plain.response.headers, "content-encoding") is None
    assert header(plain.response.headers, "content-length") == "16"
    over_httpx = exchanges("vcr", (FOREIGN / "vcrpy-httpx.yaml").read_bytes())
    assert gzip.decompress(over_httpx[1].response.body) == b'{"zipped": true}'  # type: ignore[union-attr]
    assert [each.response.body[:2] for each in over_httpx if each.response][1:] == [b"\x1f\x8b", b"\0\1", b"ev"]
    assert over_httpx[1].request.body is None
    as_json = exchanges("vcr", (FOREIGN / "vcrpy-json.cassette").read_bytes())
    assert as_json[1].response
    assert as_json[1].response.body == EVENTS


@pytest.mark.parametrize(
    ("written", "body"),
    [
        ("body: plain\n    headers: {}", b"plain"),
        ("body: !!binary AP8=\n    headers: {}", b"\0\xff"),
        ("body: {a: [1, x]}\n    headers: {}", b'{"a":[1,"x"]}'),
        ("body: {string: s}\n    headers: {}", b"s"),
        ("body: {base64_string: AP8=, encoding: utf-8}\n    headers: {}", b"\0\xff"),
        ("body: {}\n    headers: {}", b"{}"),
        ("body: []\n    headers: {}", b"[]"),
        ("body: ''\n    parsed_body: [1]\n    headers: {}", b"[1]"),
        ("parsed_body: {a: é}\n    headers: {}", '{"a":"é"}'.encode()),
        ("body: null\n    headers: {}", None),
        ("body: ''\n    headers: {Content-Length: ['0']}", b""),
        ("body: ''\n    headers: {Content-Length: 0}", b""),
    ],
)  # fmt: skip
def test_it_reads_every_form_of_a_body(written: str, body: bytes | None) -> None:
    assert only("vcr", cassette(written))[0].request.body == body


def test_it_tells_that_a_parsed_body_lost_its_spelling() -> None:
    given = "parsed_body: {a: 1}\n    headers: {content-length: ['99']}\n    status: {code: 200, message: OK}"
    exchange, losses = only("vcr", cassette("body: null\n    headers: {}", given))
    assert exchange.response
    assert exchange.response.body == b'{"a":1}'
    assert header(exchange.response.headers, "content-length") == "7"
    assert "parsed" in losses[0]


def test_it_takes_the_coding_off_the_head_of_a_body_that_was_decoded() -> None:
    fields = "{content-encoding: [gzip], Content-Length: '33', x: y}"
    given = f"body: {{string: plain}}\n    headers: {fields}\n    status: {{code: 200, message: OK}}"
    exchange, losses = only("vcr", cassette("body: null", given))
    assert exchange.response
    assert exchange.response.headers == (("Content-Length", "5"), ("x", "y"))
    assert losses == ("the content coding (gzip): the file holds the body decoded",)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip"])
def test_it_leaves_a_body_packed_that_holds_more_than_anyone_would_unpack(coding: str) -> None:
    plain = bytes(LIMIT + 9)
    body = redo(plain, (("content-encoding", coding),))
    packed = f"body: {{string: !!binary {base64.b64encode(body).decode()}}}\n    headers: {{content-encoding: {coding}}}"
    found, losses = only("vcr", cassette("body: null", f"{packed}\n    status: {{code: 200, message: OK}}"))
    assert losses == ()
    assert found.response
    assert (found.response.body, header(found.response.headers, "content-encoding")) == (body, coding)


def test_it_reads_old_httpx_answers_and_bare_statuses() -> None:
    given = "content: hi\n    headers: {}\n    http_version: HTTP/2\n    status_code: 201"
    response = only("vcr", cassette("body: null", given))[0].response
    assert response
    assert (response.status, response.body, response.http_version) == (201, b"hi", "HTTP/2")


def test_it_reads_cassettes_of_rubys_vcr_and_of_betamax() -> None:
    request = 'method: post, uri: "http://x/a", body: {encoding: UTF-8, string: q}, headers: {A: [b]}'
    response = (
        "status: {code: 200, message: OK}, headers: {}, body: {encoding: ASCII-8BIT, base64_string: AP8=}, http_version: '1.1'"
    )
    asked = f"- request: {{{request}}}\n  response: {{{response}}}\n"
    text = f"http_interactions:\n{asked}  recorded_at: %s\nrecorded_with: VCR 6.1.0\n"
    for written in ("Tue, 01 Nov 2011 04:58:44 GMT", "'2011-11-01T04:58:44'"):
        exchange, _ = only("vcr", text % written)
        assert (exchange.request.method, exchange.request.body, exchange.started_at) == ("POST", b"q", 1320123524.0)
        assert exchange.response
        assert exchange.response.body == b"\0\xff"


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        (cassette("body: 1"), 2, "interactions[0].request.body"),
        (cassette("body: x", "body: {string: ok}\n    status: {code: 20}"), 2, "status"),
        (cassette("body: {base64_string: '*'}"), 2, "base64"),
        (cassette("body: ''\n    headers: {content-length: '5'}"), 2, "interactions[0].request.body: it was not empty"),
        (cassette("body: x", OK.replace("ok", "''").replace("headers: {", "headers: {Content-Length: 5")), 2, "not empty"),
        (cassette("body: x").replace("http://x/", "http:///nowhere"), 2, "URL"),
        (cassette("body: x").replace("POST", "'PO ST'"), 2, "method"),
        (cassette("body: x").replace("version: 1", "version: 9"), 2, "version"),
        (cassette("body: x").replace("version: 1\n", ""), 3, "cut off"),
        ("interactions:\n- request: {}\nversion: 1\n", 2, "response"),
        ("interactions: [x]\nversion: 1", 2, "mapping"),
        ("- request: {}\n", 2, "interactions"),
        ("just text", 2, "interactions"),
        ('{"log": {"entries": []}}', 2, "interactions"),
    ],
)
def test_it_says_what_does_not_fit(text: str, code: int, word: str) -> None:
    assert refusal("vcr", text)[0] == code
    assert word in refusal("vcr", text)[1]


def test_it_takes_a_base_url_that_was_filtered_out_under_a_host_that_cannot_be() -> None:
    exchange, losses = only("vcr", cassette("body: x").replace("http://x/", "<OLLAMA_API_BASE>/v1/chat"))
    assert exchange.request.url == "http://ollama-api-base.invalid/v1/chat"
    assert losses == ("its scheme and host, for which the file has a placeholder",)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://x", "http://x/"),
        ("HTTPS://x?q#f", "https://x/?q"),
        ("wss://x:1/a", "https://x:1/a"),
        ("http://[::1]:8/a", None),
    ],
)
def test_it_writes_urls_as_a_recorder_does(written: str, url: str | None) -> None:
    found = only("vcr", cassette("body: x").replace("http://x/", f"'{written}'"))[0]
    assert found.request.url == (url or written)


def test_it_takes_an_empty_body_whose_coding_had_a_length_and_one_that_was_never_sent() -> None:
    coded = OK.replace("ok", "''").replace("headers: {", "headers: {Content-Length: 20, Content-Encoding: gzip")
    assert only("vcr", cassette("body: null", coded))[0].response.body == b""  # type: ignore[union-attr]
    head = OK.replace("ok", "''").replace("headers: {", "headers: {Content-Length: 5")
    assert only("vcr", cassette("body: null", head).replace("POST", "HEAD"))[0].response.body == b""  # type: ignore[union-attr]
    kept = OK.replace("{string: ok}", "{string: ''}\n    parsed_body: {a: 1}")
    assert only("vcr", cassette("body: null", kept))[0].response.body == b'{"a":1}'  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["vcrpy-requests.yaml", "vcrpy-json.cassette"])
def test_it_takes_no_cassette_that_was_cut_anywhere(name: str) -> None:
    whole = (FOREIGN / name).read_bytes().rstrip()
    for cut in range(1, len(whole), 43):
        refusal("vcr", whole[:cut])


def test_it_refuses_an_entry_that_is_no_http_and_keeps_the_rest() -> None:
    two = cassette("body: x").replace("version: 1\n", "") + cassette("body: y").replace("interactions:\n", "").replace(
        "http:", "ftp:"
    )
    first, second = taken("vcr", two)
    assert first.exchange
    assert second.exchange is None
    assert "URL" in (second.refused or "")


def test_it_names_no_value_of_the_file_in_its_sentences() -> None:
    text = cassette("body: x").replace("http://x/", "http://sk-secret secret/?key=AIza")
    assert "secret" not in refusal("vcr", text)[1]
