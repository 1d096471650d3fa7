"""The two halves of the sidecar against real sockets: what passes, what is stored, what replay sends."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
import trustme
from support.sidecar import recording, replaying, stored
from support.upstream import CHUNKED, Asked, Upstream, Wire, always, ask, chunked, framed, whole

from wiretape.proxy import addon
from wiretape.replay.matcher import Matcher
from wiretape.traces.types import End

PIECES = [b"data: 0\n\n", b"data: 1\n", b"\ndata: [DONE]\n\n"]
CHAT = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
JSON = ("Content-Type", "application/json")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "rec.db"


@pytest.fixture(scope="module")
def tls() -> tuple[ssl.SSLContext, trustme.CA]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.example.test").configure_cert(context)
    return context, authority


@pytest.mark.parametrize("way", ["forward", "gateway"])
def test_it_records_and_replays_what_passed(store: Path, way: str) -> None:
    up = Upstream(always(whole(b'{"ok": true}', "X-oDD: 1", "x-odd: 2", "Content-Type: application/json")))
    target = f"{up.url}/a%2Fb?q=a%20b" if way == "forward" else "/shop/a%2Fb?q=a%20b"
    with recording(store, upstreams={"shop": up.url}) as side:
        got = side.ask("POST", target, JSON, ("X-Mine", "1"), body=b'{"n": 1}')
        assert (got.status, got.body) == (200, b'{"ok": true}')
    assert [(each.target, each.body, each.get("host"), each.get("x-mine")) for each in up.asked] == [
        ("/a%2Fb?q=a%20b", b'{"n": 1}', f"127.0.0.1:{up.port}", "1")
    ]
    [exchange] = stored(store)
    assert exchange.request.url == f"{up.url}/a%2Fb?q=a%20b"
    assert (exchange.request.body, exchange.end, exchange.upstream) == (
        b'{"n": 1}',
        End.COMPLETE,
        "shop" if way == "gateway" else None,
    )
    assert exchange.response is not None
    assert [pair for pair in exchange.response.headers if pair[0].lower() == "x-odd"] == [("X-oDD", "1"), ("x-odd", "2")]
    up.stop()
    with replaying(store, upstreams={"shop": up.url}) as side:
        again = side.ask("POST", target, JSON, ("X-Other", "1"), body=b'{"n": 1}')
    assert (again.status, again.body) == (200, b'{"ok": true}')
    assert [pair for pair in again.headers if pair[0].lower() == "x-odd"] == [("X-oDD", "1"), ("x-odd", "2")]
    marks = {"x-replay-source": "replayed", "x-replay-match": "exact", "x-replay-exchange": "1"}
    assert {name: again.get(name) for name in marks} == marks


def test_it_lets_each_piece_of_a_stream_through_before_the_next_is_sent(store: Path) -> None:
    seen = threading.Semaphore(0)
    late: list[int] = []

    def script(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED)
        for number, piece in enumerate(PIECES):
            wire.send(framed(piece))
            if not seen.acquire(timeout=5):
                late.append(number)
        wire.send(b"0\r\n\r\n")

    up = Upstream(script)
    with recording(store) as side:
        wire = side.wire()
        wire.send(
            f"POST {up.url}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(CHAT)}\r\n\r\n".encode() + CHAT
        )
        wire.head()
        got = []
        while piece := wire.chunk():
            got.append(piece)
            seen.release()
        wire.sock.close()
    assert (got, late) == (PIECES, [])
    [exchange] = stored(store)
    assert exchange.response is not None
    assert exchange.response.body == b"".join(PIECES)
    assert [size for _, size in exchange.response.chunks] == [len(piece) for piece in PIECES]
    with replaying(store) as side:
        again = side.ask("POST", f"{up.url}/v1/chat/completions", body=CHAT)
    assert (again.pieces, again.end) == (PIECES, "complete")


def test_it_forwards_a_request_as_it_arrives(store: Path) -> None:
    got_first = threading.Event()

    def script(wire: Wire, asked: Asked) -> None:
        wire.send(whole())

    class Peeking(Upstream):
        def _read(self, wire: Wire) -> Asked:
            first, headers = wire.head()
            assert wire.chunk() == b"hello"
            got_first.set()
            assert wire.chunk() == b""
            return Asked("POST", first, headers)

    up = Peeking(script)
    with recording(store) as side:
        wire = side.wire()
        wire.send(f"POST {up.url}/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + framed(b"hello"))
        assert got_first.wait(10)
        wire.send(b"0\r\n\r\n")
        assert b"200" in wire.until(b"\r\n\r\n")
        wire.sock.close()
    [exchange] = stored(store)
    assert exchange.request.body == b"hello"
    with replaying(store) as side:
        assert side.ask("POST", f"{up.url}/x", body=b"hello").status == 200


def test_a_hang_up_after_the_terminal_event_is_complete(store: Path) -> None:
    def script(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + b"".join(map(framed, PIECES)))
        wire.sock.recv(1)

    up = Upstream(script)
    with recording(store) as side:
        wire = side.wire()
        wire.send(
            f"POST {up.url}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(CHAT)}\r\n\r\n".encode() + CHAT
        )
        wire.until(b"[DONE]\n\n")
        wire.sock.close()
        time.sleep(0.2)
    assert [exchange.end for exchange in stored(store)] == [End.COMPLETE]


def test_a_hang_up_before_the_terminal_event_is_not(store: Path) -> None:
    def script(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + framed(PIECES[0]))
        wire.sock.recv(1)

    up = Upstream(script)
    with recording(store) as side:
        wire = side.wire()
        wire.send(
            f"POST {up.url}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(CHAT)}\r\n\r\n".encode() + CHAT
        )
        wire.until(b"data: 0\n\n")
        wire.sock.close()
        time.sleep(0.2)
    [exchange] = stored(store)
    assert exchange.end is End.CLIENT_CLOSED
    assert exchange.response is not None
    assert exchange.response.body == PIECES[0]


@pytest.mark.parametrize(
    ("how", "end"), [("fin", End.UPSTREAM_TRUNCATED), ("rst", End.UPSTREAM_RESET)], ids=["closed early", "reset"]
)
def test_a_broken_answer_is_stored_and_replayed_as_broken(store: Path, how: str, end: End) -> None:
    def script(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + framed(PIECES[0]))
        time.sleep(0.2)
        if how == "rst":
            wire.reset()
        else:
            wire.sock.close()
        raise EOFError

    up = Upstream(script)
    with recording(store) as side:
        got = side.ask("GET", f"{up.url}/x")
        assert (got.body, got.end != "complete") == (PIECES[0], True)
    [exchange] = stored(store)
    assert exchange.end is end
    with replaying(store) as side:
        again = side.ask("GET", f"{up.url}/x")
    assert again.body == PIECES[0]
    assert again.end == ("reset" if how == "rst" else "cut")


def test_an_upstream_that_is_not_there_is_refused(store: Path) -> None:
    held = socket.socket()
    held.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can take the port
    url = f"http://127.0.0.1:{held.getsockname()[1]}/x"
    with recording(store) as side:
        assert side.ask("GET", url).status == 502
    [exchange] = stored(store)
    assert (exchange.end, exchange.response) == (End.REFUSED, None)
    with replaying(store) as side:
        again = side.ask("GET", url)
    assert (again.status, again.get("x-replay-source")) == (502, "replayed")
    held.close()


def test_it_intercepts_tls_and_verifies_the_upstream(
    store: Path, tls: tuple[ssl.SSLContext, trustme.CA], tmp_path: Path
) -> None:
    context, authority = tls
    up = Upstream(always(whole(b"secret place")), tls=context)
    authority.cert_pem.write_to_path(str(tmp_path / "up.pem"))
    rule = {"host": "api.example.test", "port": 443, "address": "127.0.0.1", "connect_port": up.port}
    with recording(store, connect_to=[rule], upstream_ca=str(tmp_path / "up.pem")) as side:
        wire = side.tunnel("api.example.test", 443)
        for _ in range(2):
            assert ask(wire, "GET", "/x", host="api.example.test").body == b"secret place"
    assert {exchange.request.url for exchange in stored(store)} == {"https://api.example.test/x"}
    up.stop()
    with replaying(store) as side:
        wire = side.tunnel("api.example.test", 443)
        assert ask(wire, "GET", "/x", host="api.example.test").body == b"secret place"
        assert ask(wire, "GET", "/x", host="api.example.test").body == b"secret place"
        assert ask(wire, "GET", "/x", host="api.example.test").status == 422


def test_an_upstream_with_a_certificate_that_nobody_vouches_for_is_refused(
    store: Path, tls: tuple[ssl.SSLContext, trustme.CA]
) -> None:
    up = Upstream(always(whole(b"never")), tls=tls[0])
    rule = {"host": "api.example.test", "port": 443, "address": "127.0.0.1", "connect_port": up.port}
    with recording(store, connect_to=[rule]) as side:
        assert ask(side.tunnel("api.example.test", 443), "GET", "/x", host="api.example.test").status == 502
    assert up.asked == []


def test_an_insecure_upstream_is_taken_where_that_is_asked_for(store: Path, tls: tuple[ssl.SSLContext, trustme.CA]) -> None:
    up = Upstream(always(whole(b"anyone")), tls=tls[0])
    rule = {"host": "api.example.test", "port": 443, "address": "127.0.0.1", "connect_port": up.port}
    with recording(store, connect_to=[rule], insecure_upstreams=["api.example.test"]) as side:
        assert ask(side.tunnel("api.example.test", 443), "GET", "/x", host="api.example.test").body == b"anyone"


def test_a_client_that_refuses_the_certificate_leaves_a_record_with_the_remedy(store: Path) -> None:
    with recording(store) as side:
        wire = side.wire()
        wire.send(b"CONNECT api.example.test:443 HTTP/1.1\r\nHost: api.example.test:443\r\n\r\n")
        wire.head()
        with pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(wire.sock, server_hostname="api.example.test")
        time.sleep(0.3)
    [exchange] = stored(store)
    assert (exchange.request.method, exchange.end) == ("CONNECT", End.REFUSED)
    for word in ("api.example.test", "certificate", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
        assert word in (exchange.error or "")


def test_sessions_come_by_header_by_path_and_by_proxy_user(store: Path) -> None:
    up = Upstream(always(whole()))
    user = ("Proxy-Authorization", "Basic " + base64.b64encode(b"user-name:").decode())
    with recording(store, upstreams={"shop": up.url}) as side:
        side.ask("GET", f"{up.url}/x", ("x-replay-session", "by-header"))
        side.ask("GET", "/s/by-path/shop/x")
        side.ask("GET", f"{up.url}/x", user)
        ask(side.tunnel("127.0.0.1", up.port, user, secure=False), "GET", "/x", host=f"127.0.0.1:{up.port}")
    assert [exchange.session for exchange in stored(store)] == ["by-header", "by-path", "user-name", "user-name"]
    assert all(each.get("x-replay-session") is None and each.get("proxy-authorization") is None for each in up.asked)
    assert {exchange.request.url for exchange in stored(store)} == {f"{up.url}/x"}


def test_an_agents_own_events_are_kept(store: Path) -> None:
    from wiretape.traces.store import Store  # noqa: PLC0415  # the store is no part of the other tests

    with recording(store) as side:
        event = json.dumps({"type": "skill_used", "skill": "refunds"}).encode()
        assert side.ask("POST", "http://wiretape.internal/events", body=event).status == 204
        assert side.ask("POST", "http://wiretape.internal/events", body=b"{}").status == 400
    with Store.open(store) as found:
        info, _ = found.choose()
        assert [payload["skill"] for _, _, payload in found.events(info)] == ["refunds"]


def test_background_traffic_is_set_aside_and_never_a_miss(store: Path) -> None:
    up = Upstream(always(whole()))
    with recording(store, noise=["127.0.0.1/telemetry*"]) as side:
        side.ask("GET", f"{up.url}/telemetry/1")
        side.ask("GET", f"{up.url}/x")
    assert [exchange.noise for exchange in stored(store)] == [True, False]
    with replaying(store, noise=["127.0.0.1/telemetry*"]) as side:
        assert side.ask("POST", f"{up.url}/telemetry/2", body=b"{}").status == 200
        wire = side.tunnel("api.smith.langchain.com", 443)
        assert ask(wire, "POST", "/runs/batch", body=b"{}", host="api.smith.langchain.com").status == 200


# offline, whatever happens


def test_replay_opens_no_connection_whatever_it_is_asked(store: Path) -> None:
    up = Upstream(always(whole(b"recorded")))
    with recording(store) as side:
        side.ask("GET", f"{up.url}/known")
    up.stop()
    canary = Upstream(always(whole(b"live")), port=up.port)
    with replaying(store, upstreams={"shop": up.url}) as side:
        assert side.ask("GET", f"{up.url}/known").body == b"recorded"
        answers = [
            side.ask("GET", f"{up.url}/known"),
            side.ask("GET", f"{up.url}/unknown"),
            side.ask("POST", f"{up.url}/known", body=b"x"),
            side.ask("GET", "/shop/unknown"),
            ask(side.tunnel("127.0.0.1", up.port, secure=False), "GET", "/unknown", host="x"),
        ]
    assert [(each.status, each.get("x-should-retry")) for each in answers] == [(422, "false")] * 5
    assert canary.connections == 0
    canary.stop()


def test_a_matcher_that_fails_lets_nothing_out(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up = Upstream(always(whole(b"recorded")))
    with recording(store) as side:
        side.ask("GET", f"{up.url}/known")

    def broken(*_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Matcher, "find", broken)
    before = up.connections
    with replaying(store) as side:
        assert side.ask("GET", f"{up.url}/known").status == 500
    assert up.connections == before


@pytest.mark.parametrize("hook", ["requestheaders", "request"])
def test_a_recorder_that_fails_stops_the_request_instead_of_letting_it_pass_unrecorded(
    store: Path, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    name = "_route" if hook == "requestheaders" else "_live"
    target = addon.Interceptor if hook == "requestheaders" else addon
    monkeypatch.setattr(target, name, broken)
    up = Upstream(always(whole(b"live")))
    with recording(store) as side:
        wire = side.wire()
        wire.send(f"GET {up.url}/x HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        data = wire.sock.recv(65536)
    assert b"live" not in data
    assert up.connections == 0


def test_a_miss_names_what_differs(store: Path) -> None:
    up = Upstream(always(chunked(PIECES)))
    with recording(store) as side:
        side.ask("POST", f"{up.url}/v1/chat/completions", JSON, body=CHAT)
    with replaying(store) as side:
        miss = side.ask("POST", f"{up.url}/v1/chat/completions", JSON, body=CHAT.replace(b"hi", b"ho"))
    assert miss.status == 422
    message = json.loads(miss.body)["error"]["message"]
    for word in ("messages[0].content", "hi", "ho"):
        assert word in message
    assert miss.get("x-replay-exchange") == "1"


def test_it_answers_head_and_304_without_a_body(store: Path) -> None:
    answers = {
        "/f": b"HTTP/1.1 200 OK\r\nContent-Length: 1488324\r\n\r\n",
        "/p": b'HTTP/1.1 304 Not Modified\r\nETag: "v"\r\nContent-Length: 9\r\n\r\n',
    }
    up = Upstream(lambda wire, asked: wire.send(answers[asked.target]))
    for side_of in (recording, replaying):
        with side_of(store) as side:
            wire = side.wire()
            head = ask(wire, "HEAD", f"{up.url}/f")
            assert (head.status, head.get("content-length"), head.body) == (200, "1488324", b"")
            same = ask(wire, "GET", f"{up.url}/p")
            assert (same.status, same.get("content-length"), same.get("etag")) == (304, "9", '"v"')


def lookups(side: object, up: Upstream, *asked: tuple[str, dict[str, str]]) -> list[tuple[int, bytes]]:
    got = [side.ask("POST", f"{up.url}{path}", JSON, body=json.dumps(body).encode()) for path, body in asked]  # type: ignore[attr-defined]
    return [(each.status, each.body if each.status == 200 else b"") for each in got]


def echo(wire: Wire, asked: Asked) -> None:
    wire.send(whole(json.dumps([asked.target, asked.body.decode()]).encode()))


def test_what_goes_by_the_name_of_a_secret_and_is_data_never_gets_a_stale_answer(store: Path) -> None:
    up = Upstream(echo)
    asked = [("/echo?key=alpha", {"a": "1"}), ("/echo", {"token": "BTC", "password": "abc"}), ("/p", {"token": "BTC"})]
    with recording(store) as side:
        lookups(side, up, *asked, ("/p", {"token": "ETH"}))
    up.stop()
    with replaying(store) as side:
        missed = lookups(side, up, ("/echo?key=beta", {"a": "1"}), ("/echo", {"token": "ETH", "password": "abc"}))
        assert [status for status, _ in missed] == [422, 422]
        other_way = lookups(side, up, ("/p", {"token": "ETH"}), ("/p", {"token": "BTC"}))
        assert [b"ETH" in body and b"BTC" not in body for _, body in other_way] == [True, False]
        assert lookups(side, up, ("/echo?key=alpha", {"a": "1"}))[0][0] == 200


def test_any_credential_replays_and_two_of_them_stay_two(store: Path) -> None:
    first, second, third, fourth = (f"a{n}b2c3d4e5f6a7b8" for n in range(4))
    up = Upstream(echo)
    with recording(store) as side:
        lookups(side, up, *((f"/who?api_key={key}", {"n": n}) for key, n in ((first, "1"), (second, "2"), (first, "3"))))
    up.stop()
    with replaying(store) as side:
        good = ((third, "1"), (fourth, "2"), (third, "3"))
        assert [status for status, _ in lookups(side, up, *((f"/who?api_key={key}", {"n": n}) for key, n in good))] == [200] * 3
    with replaying(store) as side:
        mixed = ((third, "1"), (third, "2"), (fourth, "3"))
        found = lookups(side, up, *((f"/who?api_key={key}", {"n": n}) for key, n in mixed))
        assert [status for status, _ in found] == [200, 422, 422]


def test_a_call_with_a_secret_is_answered_under_its_own_id(store: Path) -> None:
    def call(number: int, password: str) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"password": password}}

    up = Upstream(always(whole(b'{"jsonrpc": "2.0", "id": 1, "result": {}}', "Content-Type: application/json")))
    with recording(store) as side:
        side.ask("POST", f"{up.url}/mcp", JSON, body=json.dumps(call(1, "hunter2hunter2")).encode())
    up.stop()
    with replaying(store) as side:
        got = side.ask("POST", f"{up.url}/mcp", JSON, body=json.dumps(call(7, "another-one")).encode())
    assert (got.status, json.loads(got.body)["id"]) == (200, 7)
