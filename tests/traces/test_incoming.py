"""What becomes of an exchange on its way into the store."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import EVENTS, opened, plain, put, read, stream

from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Writer
from wiretape.traces.types import End, Exchange, ExchangeKind, Headers, Message, RecordingStatus, Request, Response, Timings

ASKED = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
TOLD = [
    b'data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n',
    b'data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]


def hung_up(path: Path, answer: list[bytes], headers: Headers, *, spilled: bool = False, asked: bytes = ASKED) -> Exchange:
    """A model call whose client closed its connection after these pieces."""
    writer = opened(path)
    json_headers = (("Content-Type", "application/json"),)
    writer.begin(1, Request("POST", "http://api.test/v1/chat/completions", json_headers), started_at=1.0)
    writer.request_chunk(1, asked)
    writer.request_end(1, True)
    writer.response(1, 200, "OK", "HTTP/1.1", headers)
    for at, piece in enumerate(answer):
        writer.chunk(1, at, piece)
        if spilled:
            writer.flush()
    writer.end(1, End.CLIENT_CLOSED, "the client hung up", Timings())
    writer.close()
    (found,) = read(path)
    return found


@pytest.mark.parametrize("spilled", [False, True])
def test_it_is_complete_when_the_client_hangs_up_after_the_terminal_event(tmp_path: Path, spilled: bool) -> None:
    found = hung_up(tmp_path / "a.db", TOLD, EVENTS, spilled=spilled)
    assert (found.end, found.error) == (End.COMPLETE, None)
    assert found.response is not None
    assert found.response.body == b"".join(TOLD)
    assert found.response.chunks == tuple((at, len(piece)) for at, piece in enumerate(TOLD))


@pytest.mark.parametrize("spilled", [False, True])
def test_it_is_client_closed_when_the_terminal_event_is_missing(tmp_path: Path, spilled: bool) -> None:
    found = hung_up(tmp_path / "a.db", TOLD[:1], EVENTS, spilled=spilled)
    assert (found.end, found.error) == (End.CLIENT_CLOSED, "the client hung up")


def test_it_finds_the_terminal_event_under_a_content_coding(tmp_path: Path) -> None:
    body = gzip.compress(b"".join(TOLD))[:-8]  # hung up before gzip's own end
    found = hung_up(tmp_path / "a.db", [body], (*EVENTS, ("Content-Encoding", "gzip")), spilled=True)
    assert found.end is End.COMPLETE
    assert found.response is not None
    assert found.response.body == body


def test_it_is_client_closed_where_no_api_is_known(tmp_path: Path) -> None:
    assert hung_up(tmp_path / "a.db", [b"ok"], (), asked=b"what").end is End.CLIENT_CLOSED


def test_it_redacts_before_anything_is_written(tmp_path: Path) -> None:
    path, secret = tmp_path / "a.db", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    writer = opened(path)
    headers = (("Authorization", f"Bearer {secret}"), ("Content-Type", "application/json"))
    writer.begin(1, Request("POST", f"http://api.test/?key={secret}", headers), started_at=1.0)
    writer.flush()
    writer.request_chunk(1, b'{"password":"correct horse battery","a":1}')
    writer.request_end(1, True)
    writer.response(1, 200, "OK", "HTTP/1.1", (*EVENTS, ("Set-Cookie", f"sid={secret}")))
    for at, piece in enumerate((b"data: sk-proj-abcdefghijkl", b"mnopqrstuvwxyz0123456789\n\n", b"data: more\n\n")):
        writer.chunk(1, at, piece)
        writer.flush()
    writer.trailers(1, (("X-Api-Key", secret),))
    writer.message(1, Message(7, "client", "text", f'{{"token":"{secret}"}}'.encode()))
    writer.event(2.0, "", {"type": "custom", "name": "n", "data": {"authorization": secret}})
    writer.end(1, End.UPSTREAM_RESET, f"reset while sending {secret}", Timings())
    writer.flush()
    everything = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"abcdefghijkl" not in everything
    assert b"correct horse" not in everything
    writer.close()
    (found,) = read(path)
    everything = repr((found, path.read_bytes())).encode()
    assert b"abcdefghijkl" not in everything
    assert b"correct horse" not in everything
    assert found.response is not None
    assert sum(length for _, length in found.response.chunks) == len(found.response.body)
    assert len(found.response.chunks) == 3
    assert found.fingerprint == str(fingerprint(found.request))


def test_it_redacts_what_stands_beside_the_traffic(tmp_path: Path) -> None:
    path, secret = tmp_path / "a.db", "hush-hush-7f3a91c2d4"
    redactor = Redactor(RedactSettings(values=(secret,)))
    labels = {"k": secret, "token": "a1b2c3d4e5f6", "ci": "no"}
    writer = Writer.open(path, name="a", started_at=1.0, tool_version="1", redactor=redactor, recording_id="x", labels=labels)
    put(writer, replace(plain(1), session=f"run-{secret}"))
    writer.event(2.0, f"run-{secret}", {"type": "custom", "name": "n", "data": None})
    info = writer.close()
    assert secret.encode() not in path.read_bytes()
    assert info.labels == {"k": "wtredacted0001", "token": "wtredacted0002", "ci": "no"}
    assert [each.session for each in read(path)] == ["run-wtredacted0001"]


def test_it_hides_a_secret_that_is_cut_over_events_also_between_batches(tmp_path: Path) -> None:
    path, secret = tmp_path / "a.db", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    writer = opened(path)
    stream(writer, 1)
    for at, piece in enumerate((secret[:12], secret[12:20], secret[20:], " bye")):
        writer.chunk(1, at, b"data: " + json.dumps({"choices": [{"delta": {"content": piece}}]}).encode() + b"\n\n")
        writer.flush()
    writer.end(1, End.COMPLETE, None, Timings())
    writer.close()
    [found] = read(path)
    assert found.response is not None
    said = [json.loads(line[6:])["choices"][0]["delta"]["content"] for line in found.response.body.splitlines() if line]
    assert said == ["sk-wtredacted0001", "", "", " bye"]
    assert len(found.response.chunks) == 4


def test_digests_over_an_answer_that_was_changed_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    headers = (("Content-Type", "application/json"), ("ETag", '"abc"'))
    for seq, body in ((1, b'{"password": "hunter2"}'), (2, b'{"a": 1}')):
        exchange = plain(seq, body)
        assert exchange.response is not None
        put(writer, replace(exchange, response=replace(exchange.response, headers=headers)))
    writer.close()
    assert [each.response.headers for each in read(path) if each.response] == [headers[:1], headers]


def test_it_says_that_a_body_was_withheld(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    exchange = plain(1, gzip.compress(b"whatever it holds")[:-4] + b"\xff" * 4)
    assert exchange.response is not None
    headers = (("Content-Encoding", "gzip"),)
    put(writer, replace(exchange, response=replace(exchange.response, headers=headers)))
    assert writer.close().status is RecordingStatus.INCOMPLETE
    assert writer.failure is not None
    assert "1 body was withheld, since no secret could be looked for" in writer.failure
    [found] = read(path)
    assert found.response is not None
    assert (found.response.body, len(found.response.chunks)) == (b"wtwithheld0001", 1)


def test_it_keeps_a_number_that_no_computer_can_count_to(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    put(writer, plain(1, request=b'{"a":1e999999999}'))
    assert writer.close().status is RecordingStatus.COMPLETE
    assert [each.request.body for each in read(path)] == [b'{"a":1e999999999}']


def test_it_ends_as_interrupted_what_nobody_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    stream(writer, 1, b"data: 1\n\n", b"data: hal")
    writer.begin(2, Request("GET", "http://api.test/2"), started_at=1.0)
    writer.begin(3, Request("GET", "http://api.test/3"), started_at=1.0)
    writer.request_end(3, False)
    writer.response(3, 200, "OK", "HTTP/1.1", (("Content-Type", "application/json"),))
    writer.chunk(3, 1, b'{"a":')  # the redactor keeps JSON back until its end
    writer.close()
    first, second, third = read(path)
    assert [each.end for each in (first, second, third)] == [End.INTERRUPTED] * 3
    assert first.response is not None
    assert (first.response.body, first.response.chunks) == (b"data: 1\n\ndata: hal", ((0, 9), (1, 9)))
    assert second.response is None
    assert third.response is not None
    assert third.response.body == b'{"a":'


def test_it_keeps_a_conversation_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    messages = (
        Message(10, "client", "text", '{"turn": 1, "text": "grüß"}'.encode()),
        Message(20, "server", "binary", b"\x00\xff"),
        Message(30, "server", "ping", b""),
        Message(40, "client", "close", b"bye", 1000),
        Message(41, "server", "close", b"", None),
    )
    writer = opened(path)
    writer.begin(1, Request("GET", "ws://api.test/ws"), started_at=1.0, kind=ExchangeKind.WEBSOCKET)
    writer.request_end(1, False)
    writer.response(1, 101, "Switching Protocols", "HTTP/1.1", ())
    for count, message in enumerate(messages, start=1):
        writer.message(1, message)
        writer.flush()
        assert read(path)[0].messages == messages[:count]
    writer.end(1, End.COMPLETE, None, Timings())
    writer.close()
    (found,) = read(path)
    assert (found.kind, found.messages, found.response and found.response.body) == (ExchangeKind.WEBSOCKET, messages, b"")


def test_it_passes_over_calls_for_what_was_never_begun(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    put(writer, Exchange(1, Request("GET", "http://api.test/"), Response(204), end=End.COMPLETE))
    writer.chunk(1, 1, b"late")
    writer.end(1, End.TIMEOUT, None, Timings())
    writer.request_end(9, True)
    writer.response(9, 200, "OK", "HTTP/1.1", ())
    writer.message(9, Message(1, "client", "text", b"x"))
    writer.trailers(9, ())
    writer.request_chunk(9, b"x")
    writer.close()
    assert [(each.seq, each.end) for each in read(path)] == [(1, End.COMPLETE)]
    assert writer.failure is None


def test_it_writes_out_what_no_file_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = opened(path)
    writer.begin(1, Request("GET", "http://api.test/"), started_at=1.0, session="run-\udcff")
    writer.request_end(1, False)
    writer.end(1, End.REFUSED, None, Timings())
    assert writer.close().status == "complete"
    assert read(path)[0].session == r"run-\udcff"
