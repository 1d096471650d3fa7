"""Flow files are written by mitmproxy itself: of its own test flows here, of real traffic in tests/cli/test_import.py."""

from __future__ import annotations

import gzip
from io import BytesIO
from typing import Any

import pytest
from mitmproxy import flow, http
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow, tutils
from support.foreign import exchanges, only, refusal, taken

from wiretape.traces.types import End, ExchangeKind


def written(*flows: flow.Flow) -> bytes:
    out = BytesIO()
    writer = FlowWriter(out)
    for each in flows:
        writer.add(each)
    return out.getvalue()


def answered(**more: Any) -> http.HTTPFlow:
    return tflow.tflow(
        req=tutils.treq(host="api.test", port=443, scheme=b"https", headers=http.Headers()), resp=tutils.tresp(**more)
    )


def test_it_reads_bytes_as_they_were_on_the_wire() -> None:
    packed = gzip.compress(b"plain")
    found, losses = only(
        "mitmproxy", written(answered(headers=http.Headers([(b"Content-Encoding", b"gzip"), (b"X", b"\xe9")]), content=packed))
    )
    assert losses == ()
    assert (found.request.method, found.request.url, found.request.body) == ("GET", "https://api.test/path", b"content")
    assert found.response
    assert found.response.headers == (("Content-Encoding", "gzip"), ("X", "\xe9"))
    assert found.response.body == packed
    assert (found.started_at, found.end) == (946681200.0, End.COMPLETE)
    assert (found.timings.request_sent, found.timings.first_byte, found.timings.ended) == (1_000_000, 2_000_000, 3_000_000)


def test_it_names_the_host_that_the_client_meant() -> None:
    seen = answered()
    seen.request.host, seen.request.headers["Host"] = "10.0.0.1", "api.openai.com"
    assert only("mitmproxy", written(seen))[0].request.url == "https://api.openai.com/path"


@pytest.mark.parametrize(
    ("message", "has_answer", "end"),
    [
        ("Client disconnected.", True, End.CLIENT_CLOSED),
        ("peer closed connection without sending complete message body", True, End.UPSTREAM_TRUNCATED),
        ("[Errno 104] Connection reset by peer", True, End.UPSTREAM_RESET),
        ("[Errno 111] Connect call failed", False, End.REFUSED),
        ("connection timed out", False, End.TIMEOUT),
    ],
)
def test_it_carries_how_a_flow_failed_and_the_length_that_was_promised(message: str, has_answer: bool, end: End) -> None:
    failed = answered(headers=http.Headers(content_length="100"), content=b"part")
    failed.error = flow.Error(message)
    if not has_answer:
        failed.response = None
    found, _ = only("mitmproxy", written(failed))
    assert (found.end, found.error) == (end, message)
    if has_answer:
        assert found.response
        assert (found.response.headers, found.response.body) == ((("content-length", "100"),), b"part")


def test_it_knows_a_flow_that_was_still_open() -> None:
    open_flow = answered(timestamp_end=None)
    waiting = tflow.tflow(resp=False)
    assert [each.end for each in exchanges("mitmproxy", written(open_flow, waiting))] == [End.INTERRUPTED, End.INTERRUPTED]


def test_it_reads_websocket_flows_with_their_close() -> None:
    found, losses = only("mitmproxy", written(tflow.twebsocketflow(close_reason="Close Reason")))
    assert found.kind is ExchangeKind.WEBSOCKET
    assert [(each.sender, each.type, each.data, each.code) for each in found.messages] == [
        ("client", "binary", b"hello binary", None),
        ("client", "text", b"hello text", None),
        ("server", "text", b"it's me", None),
        ("server", "close", b"Close Reason", 1000),
    ]
    assert (found.end, losses) == (End.COMPLETE, ())


def test_it_tells_of_messages_that_were_dropped_and_of_a_socket_that_was_cut() -> None:
    cut = tflow.twebsocketflow()
    assert cut.websocket
    cut.websocket.messages[0].dropped = True
    cut.websocket.close_code = 1006
    found, losses = only("mitmproxy", written(cut))
    assert [each.type for each in found.messages] == ["text", "text"]
    assert found.end is End.UPSTREAM_TRUNCATED
    assert losses == ("1 messages that mitmproxy was told to drop",)


def test_it_refuses_what_is_no_http_flow_by_flow() -> None:
    items = taken("mitmproxy", written(tflow.ttcpflow(), answered(), tflow.tdnsflow(), tflow.tudpflow()))
    assert [(item.number, item.refused) for item in items if item.refused] == [
        (1, "a flow of tcp, and a recording holds HTTP"),
        (3, "a flow of dns, and a recording holds HTTP"),
        (4, "a flow of udp, and a recording holds HTTP"),
    ]


def test_it_refuses_a_body_that_mitmproxy_let_pass_unkept() -> None:
    streamed = answered(content=None)
    code, sentence = refusal("mitmproxy", written(streamed))
    assert (code, "stream" in sentence) == (2, True)


def test_it_calls_a_file_damaged_that_was_cut_anywhere() -> None:
    first, second = written(answered()), written(answered())
    whole = first + second
    assert len(exchanges("mitmproxy", whole)) == 2
    for cut in range(1, len(second), 97):
        code, sentence = refusal("mitmproxy", whole[: len(first) + cut])
        assert (code, "behind its flow 1" in sentence) == (3, True)


@pytest.mark.parametrize(
    "data",
    [
        b'{"log": {"entries": []}}',
        b"not a flow file",
        b"5:hello,",
        b"999999999999:x",
        b"99999999999999:x",
        b"1" * 500,
        b"3:1:x,",
        b"0:}",
        written(answered())[:200],
        (b"9999:" * 3000),
    ],
)
def test_it_refuses_what_is_no_flow_file(data: bytes) -> None:
    code, sentence = refusal("mitmproxy", data)
    assert code == 2
    assert "flow" in sentence


@pytest.mark.parametrize("time", [float("nan"), 1e300, -1e300, "soon", b"now"])
def test_it_takes_no_time_from_a_file_that_is_none(time: Any) -> None:
    odd = tflow.twebsocketflow()
    assert odd.websocket
    odd.request.timestamp_start = 1000.0
    odd.websocket.messages[0].timestamp = time
    found, _ = only("mitmproxy", written(odd))
    assert found.messages[0].at == 0
    if isinstance(time, float):
        odd.websocket.messages[0].timestamp, odd.request.timestamp_start = 1.0, time
        assert only("mitmproxy", written(odd))[0].started_at == 0.0


def test_it_survives_a_file_that_nests_without_end() -> None:
    data = b"0:]"
    while len(data) < 60_000:
        data = b"%d:%s]" % (len(data), data)
    assert refusal("mitmproxy", data)[0] == 2
