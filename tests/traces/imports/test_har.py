from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from support.foreign import exchanges, only, refusal, taken

from wiretape.traces.imports import parts
from wiretape.traces.types import End, ExchangeKind, header

START = "2026-01-01T00:00:00.000Z"


def entry(**more: Any) -> dict[str, Any]:
    given = {
        "startedDateTime": START,
        "time": 30,
        "request": {"method": "GET", "url": "https://api.test/a?b=1#top", "httpVersion": "HTTP/1.1", "headers": []},
        "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [], "content": {"size": 0}},
        "timings": {"blocked": 1, "dns": -1, "connect": 2, "ssl": 1, "send": 1, "wait": 10, "receive": 5},
    }
    for name, value in more.items():
        part, _, key = name.partition("__")
        if key:
            given[part][key] = value  # type: ignore[index]
        else:
            given[part] = value
    return given


def archive(*entries: dict[str, Any]) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": list(entries)}})


def pairs(**fields: str) -> list[dict[str, str]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in fields.items()]


def body(text: str, **more: Any) -> dict[str, Any]:
    return {"size": len(text), "text": text, "mimeType": "application/json", **more}


def test_it_reads_head_body_and_times() -> None:
    found, losses = only("har", archive(entry(response__content=body('{"é": 1}'))))
    assert losses == ()
    assert found.request.url == "https://api.test/a?b=1"
    assert found.request.body is None
    assert found.response
    assert found.response.body == '{"é": 1}'.encode()
    assert found.response.chunks == ((19_000, 9),)
    assert (found.started_at, found.end) == (1767225600.0, End.COMPLETE)
    assert (found.timings.connected, found.timings.request_sent, found.timings.first_byte) == (3000, 4000, 14_000)


def test_it_leaves_pseudo_headers_out_and_names_http_2() -> None:
    fields = [{"name": ":authority", "value": "api.test"}, *pairs(Accept="*/*"), {"name": "set-cookie", "value": "a=1\nb=2"}]
    found, losses = only(
        "har", archive(entry(request__headers=fields, request__httpVersion="h2", response__httpVersion="HTTP/2.0"))
    )
    assert losses == ()
    assert found.request.headers == (("Accept", "*/*"), ("set-cookie", "a=1"), ("set-cookie", "b=2"))
    assert found.response
    assert (found.request.http_version, found.response.http_version) == ("HTTP/2", "HTTP/2")


def test_it_takes_the_coding_off_a_decoded_body_and_leaves_a_coded_one() -> None:
    fields = pairs(content_encoding="br", content_length="7")
    decoded, losses = only("har", archive(entry(response__headers=fields, response__content=body('{"a": 1}'))))
    assert decoded.response
    assert decoded.response.headers == (("content-length", "8"),)
    assert losses == ("the content coding (br): the file holds the body decoded",)
    packed = base64.b64encode(gzip.compress(b"x" * 99)).decode()
    kept, losses = only(
        "har",
        archive(entry(response__headers=pairs(content_encoding="gzip"), response__content=body(packed, encoding="base64"))),
    )
    assert kept.response
    assert header(kept.response.headers, "content-encoding") == "gzip"
    assert gzip.decompress(kept.response.body) == b"x" * 99
    assert losses == ()


def test_it_reads_event_streams_and_tells_that_their_pieces_are_gone() -> None:
    content = body("data: 1\n\ndata: [DONE]\n\n", mimeType="text/event-stream")
    found, losses = only(
        "har", archive(entry(response__headers=pairs(content_type="text/event-stream"), response__content=content))
    )
    assert found.response
    assert found.response.body.count(b"data:") == 2
    assert losses == ("the pieces that its event stream came in, and their times",)


@pytest.mark.parametrize(
    ("posted", "sent"),
    [
        ({"mimeType": "application/json", "text": "{}"}, b"{}"),
        ({"mimeType": "x", "text": "AP8=", "encoding": "base64"}, b"\0\xff"),
        ({"mimeType": "text/plain; charset=iso-8859-1", "text": "é"}, b"\xe9"),
        ({"mimeType": "text/plain; charset=nonsense", "text": "é"}, b"\xc3\xa9"),
        ({"mimeType": "text/plain; charset=iso-8859-1", "text": "€"}, "€".encode()),
        ({"mimeType": "text/plain", "text": "a\udcff"}, b"a\xff"),
        ({"mimeType": "application/x-www-form-urlencoded", "params": pairs(a="1 2", b="é")}, b"a=1+2&b=%C3%A9"),
    ],
)
def test_it_reads_every_form_of_a_posted_body(posted: dict[str, Any], sent: bytes) -> None:
    assert only("har", archive(entry(request__method="POST", request__postData=posted)))[0].request.body == sent


def test_it_makes_a_multipart_form_anew() -> None:
    posted = {
        "mimeType": "multipart/form-data; boundary=x",
        "params": [{"name": "a", "value": "1"}, {"name": "f", "fileName": "f.txt", "contentType": "text/plain", "value": "hi"}],
    }
    found, losses = only("har", archive(entry(request__method="POST", request__postData=posted)))
    boundary = (header(found.request.headers, "content-type") or "").partition("boundary=")[2]
    assert (found.request.body or b"").count(f"--{boundary}".encode()) == 3
    assert b'name="f"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n' in (found.request.body or b"")
    assert "form" in losses[0]


def test_it_reads_a_websocket_conversation() -> None:
    messages = [
        {"type": "send", "time": 1767225600.5, "opcode": 1, "data": "{}"},
        {"type": "receive", "time": 1767225600.75, "opcode": 2, "data": "AP8="},
    ]
    found, losses = only(
        "har", archive(entry(request__url="wss://api.test/live", response__status=101, _webSocketMessages=messages))
    )
    assert found.kind is ExchangeKind.WEBSOCKET
    assert found.request.url == "wss://api.test/live"
    assert [(each.at, each.sender, each.type, each.data) for each in found.messages] == [
        (500_000, "client", "text", b"{}"),
        (750_000, "server", "binary", b"\0\xff"),
    ]
    assert losses == ("how its socket was closed",)


@pytest.mark.parametrize(
    ("error", "status", "end"),
    [
        ("net::ERR_ABORTED", 200, End.CLIENT_CLOSED),
        ("net::ERR_CONNECTION_RESET", 200, End.UPSTREAM_RESET),
        ("net::ERR_INCOMPLETE_CHUNKED_ENCODING", 200, End.UPSTREAM_TRUNCATED),
        ("net::ERR_NAME_NOT_RESOLVED", 0, End.REFUSED),
        ("net::ERR_TIMED_OUT", 0, End.TIMEOUT),
        (None, 0, End.INTERRUPTED),
    ],
)
def test_it_carries_how_an_exchange_failed(error: str | None, status: int, end: End) -> None:
    fields = pairs(content_length="100")
    found, _ = only(
        "har",
        archive(
            entry(response__status=status, response___error=error, response__headers=fields, response__content=body("part"))
        ),
    )
    assert (found.end, found.error) == (end, error)
    assert (found.response is None) == (status == 0)
    if found.response:
        assert header(found.response.headers, "content-length") == "100"


def test_it_lets_a_client_see_the_cut_of_a_body_that_was_decoded() -> None:
    """The length that was promised is that of the coded body: as large as what is here, it would hide the cut."""
    fields = pairs(content_length="4", content_encoding="br")
    cut = entry(response___error="net::ERR_HTTP2_PROTOCOL_ERROR", response__headers=fields, response__content=body("partial"))
    found, losses = only("har", archive(cut))
    assert found.response
    assert found.response.headers == (("Transfer-Encoding", "chunked"),)
    assert losses == ("the content coding (br): the file holds the body decoded",)


def test_it_carries_what_our_own_archives_say() -> None:
    ours = {"_end": "upstream_truncated", "_error": "cut", "_session": "s1"}
    kind = pairs(content_type="text/event-stream")
    found, losses = only(
        "har", archive(entry(response__headers=kind, response__content=body("abc"), response___chunks=[[5, 2], [9, 1]]) | ours)
    )
    assert (found.end, found.error, found.session) == (End.UPSTREAM_TRUNCATED, "cut", "s1")
    assert found.response
    assert found.response.chunks == ((5, 2), (9, 1))
    assert parts.STREAM not in losses
    wrong, _ = only("har", archive(entry(response__content=body("abc"), response___chunks=[[5, 99]])))
    assert wrong.response
    assert wrong.response.chunks == ((19_000, 3),)


def test_it_shows_no_body_that_a_browsers_cache_supplied() -> None:
    assert exchanges("har", archive(entry(response__status=304, response__content=body("cached"))))[0].response.body == b""  # type: ignore[union-attr]
    assert exchanges("har", archive(entry(request__method="HEAD", response__content={"size": 9})))[0].response.body == b""  # type: ignore[union-attr]


def test_it_refuses_urls_that_are_no_http_one_by_one() -> None:
    items = taken(
        "har", archive(entry(), entry(request__url="data:text/plain,x"), entry(request__url="chrome-extension://x/y"))
    )
    assert [item.number for item in items if item.refused] == [2, 3]


@pytest.mark.parametrize(
    "without",
    [
        entry(response__content={"size": 512}),
        entry(response__content={"size": 512, "text": ""}),
        entry(response__content={"size": 0, "text": "", "encoding": "base64"}, response__bodySize=70),
        entry(request__bodySize=9),
    ],
)
def test_it_refuses_an_entry_that_has_lost_its_body_and_takes_the_rest(without: dict[str, Any]) -> None:
    first, second = taken("har", archive(without, entry()))
    assert "none of it is in the file" in (first.refused or "")
    assert (first.lost, second.refused) == (True, None)


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        (archive(entry(response__content=body("***", encoding="base64"))), 2, "log.entries[0].response.content.text"),
        (archive(entry(), entry(request=None)), 2, "log.entries[1].request"),
        (archive(entry(request__url=5)), 2, "log.entries[0].request.url"),
        (archive(entry(request__headers=[{"value": "x"}])), 2, "headers[0].name"),
        (archive(entry(response__status="200")), 2, "status"),
        (archive(entry(response__status=1000)), 2, "status"),
        (archive(entry(timings={"wait": "x"})), 2, "timings.wait"),
        (archive(entry(_webSocketMessages=[{"type": "send", "opcode": 5, "data": ""}])), 2, "opcode"),
        (archive(entry(_end="somehow")), 2, "_end"),
        ("{}", 2, "log.entries"),
        ("[]", 2, "log.entries"),
        ('{"log": {"entries": {}}}', 2, "log.entries"),
        (archive(entry())[:-30], 3, "middle"),
    ],
)  # fmt: skip
def test_it_says_what_does_not_fit(text: str, code: int, word: str) -> None:
    assert refusal("har", text)[0] == code
    assert word in refusal("har", text)[1]
