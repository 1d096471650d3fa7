"""A HAR file that the format's own rules and another program's reader accept, and that says what passed."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from mitmproxy.io import FlowReader
from support.captures import captures
from support.stores import opened, plain, put
from support.varied import EXCHANGES, TEXT

from wiretape.scenarios.evidence import load
from wiretape.traces.exports import EXPORTS
from wiretape.traces.types import End, Exchange, ExchangeKind, Timings

REQUIRED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "entry": {"startedDateTime": str, "time": (int, float), "request": dict, "response": dict, "cache": dict, "timings": dict},
    "request": {
        **{"method": str, "url": str, "httpVersion": str, "cookies": list, "headers": list, "queryString": list},
        **{"headersSize": int, "bodySize": int},
    },
    "response": {
        **{"status": int, "statusText": str, "httpVersion": str, "cookies": list, "headers": list, "content": dict},
        **{"redirectURL": str, "headersSize": int, "bodySize": int},
    },
    "content": {"size": int, "mimeType": str},
    "postData": {"mimeType": str, "params": list, "text": str},
    "timings": dict.fromkeys(("send", "wait", "receive"), (int, float)),
}
"""What the specification does not call optional."""
OWN = {"postData": {"encoding"}}
"""`encoding` of a request body is no part of the specification: readers know it from response bodies."""
OPTIONAL = {
    "request": {"postData"},
    "content": {"compression", "text", "encoding", "comment"},
    "timings": {"blocked", "dns", "connect", "ssl"},
}


def exported(path: Path, *exchanges: Exchange) -> bytes:
    path.mkdir(exist_ok=True)
    store = path / "a.db"
    writer = opened(store, redact="off")
    for exchange in exchanges:
        put(writer, exchange)
    writer.close()
    with load(str(store)) as evidence:
        return b"".join(EXPORTS["har"](evidence, {}))


def entries(path: Path, *exchanges: Exchange) -> list[dict[str, Any]]:
    return json.loads(exported(path, *exchanges))["log"]["entries"]


def complaints(what: str, given: dict[str, Any]) -> list[str]:
    """Required fields that are missing or of another type, and fields that are neither in the format nor marked by `_`."""
    missing = [f"{what}.{name}" for name, kind in REQUIRED[what].items() if not isinstance(given.get(name), kind)]
    known = REQUIRED[what].keys() | OPTIONAL.get(what, set()) | OWN.get(what, set())
    return missing + [f"{what}.{name} is unknown" for name in given if name not in known and not name.startswith("_")]


def check(entry: dict[str, Any]) -> None:
    request, response = entry["request"], entry["response"]
    parts = [("entry", entry), ("request", request), ("response", response), ("content", response["content"])]
    parts += [("timings", entry["timings"])] + ([("postData", request["postData"])] if "postData" in request else [])
    assert [fault for what, given in parts for fault in complaints(what, given)] == []
    assert all(value >= 0 or value == -1 for value in entry["timings"].values())
    assert min(entry["timings"][name] for name in ("send", "wait", "receive")) >= 0
    known = [value for name, value in entry["timings"].items() if value >= 0 and name != "ssl"]
    assert entry["time"] == pytest.approx(sum(known))
    assert datetime.fromisoformat(entry["startedDateTime"]).tzinfo
    for pair in request["headers"] + response["headers"] + request["queryString"]:
        assert pair.keys() == {"name", "value"}
    content = response["content"]
    if "text" in content:
        assert len(body(content)) == content["size"]
        assert content["size"] - content.get("compression", 0) == response["bodySize"]


def body(given: dict[str, Any]) -> bytes:
    return base64.b64decode(given["text"]) if given.get("encoding") == "base64" else given["text"].encode()


def test_it_has_every_field_that_the_format_requires(tmp_path: Path) -> None:
    log = json.loads(exported(tmp_path, *EXCHANGES))["log"]
    assert (log["version"], log["creator"], log["pages"]) == ("1.2", {"name": "wiretape", "version": "0.1.0"}, [])
    assert [entry["_seq"] for entry in log["entries"]] == [exchange.seq for exchange in EXCHANGES]
    for entry in log["entries"]:
        check(entry)


def test_it_says_real_captures_with_their_bodies_decoded(tmp_path: Path) -> None:
    found = [capture for capture in captures() if capture.exchange.response]
    exchanges = [in_one_piece(seq, capture.exchange) for seq, capture in enumerate(found, 1)]
    for entry, capture in zip(entries(tmp_path, *exchanges), found, strict=True):
        check(entry)
        assert body(entry["response"]["content"]) == capture.body


def in_one_piece(seq: int, exchange: Exchange) -> Exchange:
    assert exchange.response is not None
    return replace(exchange, seq=seq, response=replace(exchange.response, chunks=((1, len(exchange.response.body)),)))


def test_another_program_reads_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(exported(tmp_path, *EXCHANGES[:2]))
    with (tmp_path / "a.har").open("rb") as file:
        flows = list(FlowReader(file).stream())
    for flow, exchange in zip(flows, EXCHANGES[:2], strict=True):
        request, response = exchange.request, exchange.response
        assert (flow.request.method, flow.response.status_code) == (request.method, 200)
        assert request.url.endswith(flow.request.path)
        for read, sent in ((flow.request.headers, request.headers), (flow.response.headers, response.headers)):
            names = [name.encode() for name, _ in sent if name != "Content-Encoding"]  # it takes the coding for undone
            assert [name for name, _ in read.fields][: len(names)] == names
    assert flows[1].response.text == TEXT


def test_it_keeps_headers_in_their_order_with_duplicates(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, EXCHANGES[1])
    response = EXCHANGES[1].response
    assert response is not None
    assert [(each["name"], each["value"]) for each in entry["response"]["headers"]] == list(response.headers)
    assert [each["name"] for each in entry["request"]["headers"]] == ["Cookie", "cookie"]


def test_it_splits_queries_and_cookies(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, EXCHANGES[1])
    assert entry["request"]["queryString"] == [
        {"name": "b", "value": "c d"},
        {"name": "b", "value": ""},
        {"name": "e", "value": ""},
    ]
    cookies = [(cookie["name"], cookie["value"]) for cookie in entry["request"]["cookies"]]
    assert cookies == [("x", "1"), ("y", "2"), ("z", "")]
    assert entry["response"]["cookies"] == [
        {"name": "a", "value": "1", "path": "/", "httpOnly": True, "secure": False},
        {"name": "b", "value": "2", "httpOnly": False, "secure": True},
    ]


def test_it_gives_streams_decoded_with_the_times_of_their_chunks(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, EXCHANGES[1])
    response = EXCHANGES[1].response
    assert response is not None
    content = entry["response"]["content"]
    assert (content["text"], content["size"]) == (TEXT, len(TEXT.encode()))
    assert content["compression"] == len(TEXT.encode()) - len(response.body)
    assert [tuple(chunk) for chunk in entry["response"]["_chunks"]] == list(response.chunks)
    assert entry["response"]["_trailers"] == [{"name": "x-checksum", "value": "1"}, {"name": "X-Checksum", "value": "2"}]
    assert entry["request"]["postData"]["encoding"] == "base64"
    assert base64.b64decode(entry["request"]["postData"]["text"]) == b"\xff\x00raw"


def test_it_gives_each_event_of_a_plain_stream_with_its_time(tmp_path: Path) -> None:
    made = plain(1)
    assert made.response is not None
    text = TEXT.encode() + b"event: end\ndata: \n\ndata: half"
    pieces = ((1000, 5), (2500, len(TEXT.encode())), (9000, len(text) - len(TEXT.encode()) - 5))
    response = replace(made.response, headers=(("content-type", "Text/Event-Stream; charset=utf-8"),), body=text, chunks=pieces)
    (entry,) = entries(tmp_path, replace(made, response=response))
    assert entry["_eventSourceMessages"] == [
        {"time": 1001.0025, "eventName": "message", "eventId": "", "data": '{"text": "größer"}'},
        {"time": 1001.0025, "eventName": "message", "eventId": "", "data": "[DONE]"},
        {"time": 1001.009, "eventName": "end", "eventId": "", "data": ""},
    ]
    (coded,) = entries(tmp_path / "coded", EXCHANGES[1])
    assert "_eventSourceMessages" not in coded


def test_it_tells_an_empty_request_body_from_none(tmp_path: Path) -> None:
    empty, none = entries(tmp_path, plain(1, request=b""), plain(2))
    assert empty["request"]["postData"]["text"] == ""
    assert "postData" not in none["request"]


def test_it_says_how_each_exchange_ended(tmp_path: Path) -> None:
    found = {entry["_seq"]: entry for entry in entries(tmp_path, *EXCHANGES)}
    assert {seq: entry["_end"] for seq, entry in found.items()} == {each.seq: each.end for each in EXCHANGES}
    assert found[3]["response"]["status"] == 0
    assert found[3]["response"]["_error"] == found[3]["_error"] == "no answer: größer"
    assert "_error" not in found[1]
    assert "_error" not in found[1]["response"]
    assert found[9]["_session"] == "other"
    assert (found[2]["_rule"], found[2]["_source"], found[2]["_noise"]) == ("orders-down", "mocked", True)


@pytest.mark.parametrize("kind", [ExchangeKind.WEBSOCKET, ExchangeKind.HTTP])
def test_it_writes_socket_messages_as_chrome_does(kind: ExchangeKind, tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, replace(EXCHANGES[3], kind=kind))
    assert (entry["_resourceType"], entry["response"]["status"]) == ("websocket", 101)
    assert entry["_webSocketMessages"] == [
        {"type": "send", "time": 1001.00001, "opcode": 1, "data": "größer"},
        {"type": "receive", "time": 1001.000011, "opcode": 2, "data": "AP8="},
        {"type": "receive", "time": 1001.000011, "opcode": 9, "data": "/g=="},
        {"type": "send", "time": 1001.000012, "opcode": 10, "data": ""},
        {"type": "receive", "time": 1001.000013, "opcode": 8, "data": "bye", "_code": 4001},
    ]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (Timings(1000, 3000, 6000, 10000), (1, 2, 3, 4)),
        (Timings(None, 3000, 6000, 10000), (-1, 3, 3, 4)),
        (Timings(1000, 3000, None, 10000), (1, 2, 7, 0)),
        (Timings(1000, None, None, 10000), (1, 0, 9, 0)),
        (Timings(5000, 3000, 2000, 1000), (5, 0, 0, 0)),
        (Timings(), (-1, 0, 0, 0)),
    ],
)
def test_its_phases_are_never_negative(times: Timings, expected: tuple[float, ...], tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, replace(plain(1), timings=times))
    assert tuple(entry["timings"][name] for name in ("connect", "send", "wait", "receive")) == expected
    check(entry)


def coded(coding: str, body: bytes, end: End) -> Exchange:
    made = plain(1)
    assert made.response is not None
    response = replace(made.response, headers=(("Content-Encoding", coding),), body=body, chunks=((1, len(body)),))
    return replace(made, response=response, end=end)


def test_it_gives_what_can_be_read_of_a_coded_answer_that_was_cut(tmp_path: Path) -> None:
    response = EXCHANGES[1].response
    assert response is not None
    (entry,) = entries(tmp_path, coded("gzip", response.body[:-12], End.UPSTREAM_TRUNCATED))
    content = entry["response"]["content"]
    assert TEXT.startswith(content["text"])
    assert content["text"]


@pytest.mark.parametrize("coding", ["gzip", "made-up"])
def test_it_leaves_a_body_as_it_was_where_its_coding_cannot_be_taken_off(coding: str, tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, coded(coding, b"\xffnot that", End.COMPLETE))
    content = entry["response"]["content"]
    assert body(content) == b"\xffnot that"
    assert "content coding" in content["comment"]


def test_it_is_whole_without_any_exchange_of_the_session(tmp_path: Path) -> None:
    assert json.loads(exported(tmp_path))["log"]["entries"] == []


def test_it_is_valid_unicode_whatever_was_said(tmp_path: Path) -> None:
    odd = replace(plain(1), request=replace(plain(1).request, headers=(("x", "\ud83d"),)))
    exported(tmp_path, odd).decode("utf-8")
