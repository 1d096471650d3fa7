"""WebSockets through both halves of the sidecar: real clients and servers, then raw ones where those are too well behaved."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import ssl
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme
from support.sidecar import Running, recording, replaying, stored
from support.sockets import HANDSHAKE, Way, client, echo, frames, rest, switched, told, trusting, upstream
from support.stores import child, opened, put, until
from support.upstream import Asked, Upstream, Wire, whole
from websockets.asyncio.client import connect as async_connect
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from wiretape.traces.settings import MatchSettings
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request, Response

TEXT, CLOSE = Opcode.TEXT, Opcode.CLOSE


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "rec.db"


@pytest.fixture(scope="module")
def tls() -> tuple[ssl.SSLContext, trustme.CA]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.example.test").configure_cert(context)
    return context, authority


def talk(exchange: Exchange) -> list[tuple[str, str, bytes]]:
    return [(each.sender, each.type, each.data) for each in exchange.messages if each.type != "close"]


def closes(exchange: Exchange) -> list[tuple[str, int | None, bytes]]:
    return [(each.sender, each.code, each.data) for each in exchange.messages if each.type == "close"]


def frame(opcode: Opcode, data: bytes = b"", *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=False)


def goodbye(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, code.to_bytes(2) + reason)


def handshake(side: Running, target: str) -> Wire:
    wire = side.wire()
    wire.send(f"GET {target} HTTP/1.1\r\nHost: x\r\n{HANDSHAKE}\r\n".encode())
    return wire


# ---------------------------------------------------------------- ways in


@pytest.mark.parametrize("way", ["tunnel", "gateway"])
def test_a_conversation_is_kept_and_told_again(store: Path, way: Way) -> None:
    with upstream(echo) as port:
        gateway = {"upstreams": {"up": f"http://127.0.0.1:{port}"}}
        with recording(store, **gateway) as side, client(side, port, "/ws?a=1", way=way) as socket:
            assert told(socket, "hi", "grüß") == ["hi", "grüß"]
    [exchange] = stored(store)
    assert exchange.request.url == f"ws://127.0.0.1:{port}/ws?a=1"
    assert (exchange.kind, exchange.end, exchange.upstream) == (
        ExchangeKind.WEBSOCKET,
        End.COMPLETE,
        "up" if way == "gateway" else None,
    )
    assert [text.decode() for _, _, text in talk(exchange)] == ["hi", "hi", "grüß", "grüß"]
    assert closes(exchange) == [("client", 1000, b""), ("server", 1000, b"")]
    with replaying(store, **gateway) as side:
        with client(side, port, "/ws?a=1", way=way) as socket:
            assert told(socket, "hi", "grüß") == ["hi", "grüß"]
        assert socket.close_code == 1000
        assert side.sidecar.tally.levels == {"exact": 1}
        assert side.sidecar.matcher is not None
        assert side.sidecar.matcher.unused() == ()


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_a_request_line_may_name_a_socket_by_its_whole_url(store: Path, scheme: str) -> None:
    with upstream(echo) as port, recording(store) as side:
        wire = handshake(side, f"{scheme}://127.0.0.1:{port}/ws")
        assert " 101 " in wire.head()[0]
        wire.send(Frame(TEXT, b"hi").serialize(mask=True))
        assert wire.exactly(4) == frame(TEXT, b"hi")
        wire.sock.close()
    [exchange] = stored(store)
    assert (exchange.request.url, exchange.end) == (f"ws://127.0.0.1:{port}/ws", End.CLIENT_CLOSED)
    assert talk(exchange) == [("client", "text", b"hi"), ("server", "text", b"hi")]
    with replaying(store) as side:
        wire = handshake(side, f"{scheme}://127.0.0.1:{port}/ws")
        assert " 101 " in wire.head()[0]
        wire.send(Frame(TEXT, b"hi").serialize(mask=True))
        assert wire.exactly(4) == frame(TEXT, b"hi")


def test_a_secure_socket_is_read_inside_its_tls(store: Path, tls: tuple[ssl.SSLContext, trustme.CA], tmp_path: Path) -> None:
    context, authority = tls
    authority.cert_pem.write_to_path(str(tmp_path / "up.pem"))

    async def converse(side: Running) -> str | bytes:
        where = {"proxy": side.sidecar.url, "ssl": trusting(side), "open_timeout": 30}
        async with async_connect("wss://api.example.test/ws", **where) as socket:
            await socket.send("hi")
            return await socket.recv()

    with upstream(echo, ssl=context) as port:
        rule = {"host": "api.example.test", "port": 443, "address": "127.0.0.1", "connect_port": port}
        with recording(store, connect_to=[rule], upstream_ca=str(tmp_path / "up.pem")) as side:
            assert asyncio.run(converse(side)) == "hi"
    [exchange] = stored(store)
    assert (exchange.request.url, exchange.end) == ("wss://api.example.test/ws", End.COMPLETE)
    assert closes(exchange) == [("client", 1000, b""), ("server", 1000, b"")]
    with replaying(store) as side:
        assert asyncio.run(converse(side)) == "hi"


@pytest.mark.parametrize("secure", [False, True])
def test_aiohttp_finds_its_way_in(store: Path, tls: tuple[ssl.SSLContext, trustme.CA], tmp_path: Path, secure: bool) -> None:
    """It asks a proxy for a plain socket by the whole URL in the request line, and for a secure one by CONNECT."""
    context, authority = tls
    authority.cert_pem.write_to_path(str(tmp_path / "up.pem"))

    async def converse(side: Running) -> list[Any]:
        url = "wss://api.example.test/ws" if secure else f"ws://127.0.0.1:{port}/ws"
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, proxy=side.sidecar.url, ssl=trusting(side), compress=15) as socket,
        ):
            await socket.send_json({"n": 1})
            await socket.send_bytes(b"\x00\xff")
            return [await socket.receive_json(timeout=20), await socket.receive_bytes(timeout=20)]

    with upstream(echo, ssl=context if secure else None) as port:
        rule = {"host": "api.example.test", "address": "127.0.0.1", "connect_port": port}
        with recording(store, connect_to=[rule], upstream_ca=str(tmp_path / "up.pem")) as side:
            assert asyncio.run(converse(side)) == [{"n": 1}, b"\x00\xff"]
    [exchange] = stored(store)
    assert talk(exchange) == [
        ("client", "text", b'{"n": 1}'),
        ("client", "binary", b"\x00\xff"),
        ("server", "text", b'{"n": 1}'),
        ("server", "binary", b"\x00\xff"),
    ] or sorted(talk(exchange)[1:3]) == [("client", "binary", b"\x00\xff"), ("server", "text", b'{"n": 1}')]
    with replaying(store) as side:
        assert asyncio.run(converse(side)) == [{"n": 1}, b"\x00\xff"]


# ---------------------------------------------------------------- what recording leaves as it is


def test_bytes_pass_as_they_came_in_both_directions(store: Path) -> None:
    """Masks, fragments, control frames between them, unusual lengths: nothing is packed anew."""
    odd = [
        frame(TEXT, b"spl", fin=False) + frame(Opcode.PING, b"?") + frame(Opcode.CONT, b"it"),
        b"\x82\x7e\x00\x03abc",  # a length written longer than it had to be
        frame(TEXT),
    ]
    sent = b"\x01\x83\x01\x02\x03\x04" + b"cmm" + b"\x8a\x80\0\0\0\0" + b"\x80\x81\0\0\0\0!"
    got: list[bytes] = []

    def script(wire: Wire, asked: Asked) -> None:
        wire.send(switched(asked))
        got.append(wire.exactly(len(sent)))
        wire.send(b"".join(odd))
        wire.exactly(8)
        wire.send(goodbye(4000, b"bye"))
        wire.sock.close()

    up = Upstream(script)
    with recording(store) as side:
        wire = handshake(side, f"{up.url}/ws")
        wire.head()
        wire.send(sent)
        assert wire.exactly(len(b"".join(odd))) == b"".join(odd)
        wire.send(Frame(CLOSE, (4001).to_bytes(2)).serialize(mask=True))
        assert wire.exactly(7) == goodbye(4000, b"bye")
    assert got == [sent]
    [exchange] = stored(store)
    assert [(each.sender, each.type, each.data) for each in exchange.messages] == [
        ("client", "pong", b""),
        ("client", "text", b"bon!"),
        ("server", "ping", b"?"),
        ("server", "text", b"split"),
        ("server", "binary", b"abc"),
        ("server", "text", b""),
        ("client", "close", b""),
        ("server", "close", b"bye"),
    ]
    assert (closes(exchange), exchange.end) == ([("client", 4001, b""), ("server", 4000, b"bye")], End.COMPLETE)


def test_what_is_no_frame_passes_too_and_is_told_of(store: Path) -> None:
    up = Upstream(frames(frame(TEXT, b"fine"), b"\x83\x00", after=0))
    with recording(store) as side:
        wire = handshake(side, f"{up.url}/ws")
        wire.head()
        assert wire.exactly(8) == frame(TEXT, b"fine") + b"\x83\x00"
        with pytest.raises(EOFError):
            wire.exactly(1)
    [exchange] = stored(store)
    assert talk(exchange) == [("server", "text", b"fine")]
    assert exchange.error is not None
    assert "could not be read" in exchange.error


def test_each_message_is_in_the_store_within_a_second_and_survives_a_kill(store: Path) -> None:
    recorder = """
import asyncio
from support.sidecar import recording
with recording(Path(sys.argv[1])) as side:
    print(side.sidecar.url, flush=True)
    sys.stdin.read()
"""
    with upstream(echo) as port:
        process = child(recorder, store)
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with connect(f"ws://127.0.0.1:{port}/ws", proxy=url) as socket:
            for turn in range(3):
                assert told(socket, f"turn {turn}") == [f"turn {turn}"]
                until(lambda: [len(talk(each)) for each in stored(store)] == [2 * turn + 2], "the turn in the store", 1)  # noqa: B023
            os.kill(process.pid, signal.SIGKILL)
            process.wait(10)
    [exchange] = stored(store)
    assert (len(talk(exchange)), exchange.end) == (6, End.INTERRUPTED)
    with replaying(store) as side:
        with client(side, port) as socket:
            assert told(socket, "turn 0", "turn 1", "turn 2") == ["turn 0", "turn 1", "turn 2"]
        assert side.sidecar.tally.misses == []


def test_a_writer_that_cannot_keep_up_slows_a_socket_down_and_loses_nothing(store: Path) -> None:
    """What waits for it is bounded: here another program holds the store's lock for a while."""
    sent = [f"{number} ".ljust(1000, "z") for number in range(3000)]
    with upstream(echo) as port, recording(store) as side, client(side, port, compression=None) as socket:
        told(socket, "hi")
        writer = side.sidecar.capture._writer
        assert writer is not None
        writer.flush()
        with closing(sqlite3.connect(store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            thread = threading.Thread(target=lambda: [socket.send(each) for each in sent])
            thread.start()
            until(lambda: writer.backlog > 500, "a backlog")
            time.sleep(1)
            assert writer.backlog < 1500
            other.execute("COMMIT")
        assert [socket.recv(20) for _ in sent] == sent
        thread.join()
    assert len(talk(stored(store)[0])) == 2 * len(sent) + 2


def test_a_socket_that_is_open_when_the_recorder_stops_is_interrupted(store: Path) -> None:
    with upstream(echo) as port:
        with recording(store) as side:
            socket = connect(f"ws://127.0.0.1:{port}/ws", proxy=side.sidecar.url)
            assert told(socket, "hi") == ["hi"]
        assert rest(socket) == ([], 1006, "")
    assert [(each.end, len(talk(each))) for each in stored(store)] == [(End.INTERRUPTED, 2)]


def test_an_ignored_host_s_sockets_pass_unrecorded(store: Path) -> None:
    with upstream(echo) as port, recording(store, ignore=[f"127.0.0.1:{port}"]) as side, client(side, port) as socket:
        assert told(socket, "hi") == ["hi"]
    assert stored(store) == []


# ---------------------------------------------------------------- how it ends


ENDS = {
    "normal": (goodbye(1000, b"bye"), 1000, "bye", End.COMPLETE),
    "going away": (goodbye(1001), 1001, "", End.COMPLETE),
    "error": (goodbye(1011, b"oops"), 1011, "oops", End.COMPLETE),
    "own code": (goodbye(4999), 4999, "", End.COMPLETE),
    "empty": (frame(CLOSE), 1005, "", End.COMPLETE),
    "hung up": (b"", 1006, "", End.UPSTREAM_TRUNCATED),
    "reset": (b"", 1006, "", End.UPSTREAM_RESET),
}


@pytest.mark.parametrize("name", list(ENDS))
def test_it_ends_as_it_ended_after_all_that_was_said(store: Path, name: str) -> None:
    last, code, reason, end = ENDS[name]
    said = [f"message {number}" for number in range(50)]

    def leave(wire: Wire) -> None:
        if last:
            wire.exactly(6)
        elif end is End.UPSTREAM_RESET:
            time.sleep(0.1)
            wire.reset()
        wire.sock.close()

    up = Upstream(frames(*(frame(TEXT, each.encode()) for each in said), last, then=leave, after=8))
    with recording(store) as side, client(side, up.port, compression=None) as socket:
        socket.send("go")
        assert rest(socket) == (said, code, reason)
    [exchange] = stored(store)
    assert (exchange.end, len(talk(exchange))) == (end, 51)
    answer = [("client", None if code == 1005 else code, reason.encode())]
    assert closes(exchange) == ([(("server"), *answer[0][1:]), *answer] if last else [])
    with replaying(store) as side, client(side, up.port, compression=None) as socket:
        socket.send("go")
        assert rest(socket) == (said, code, reason)


def test_a_reset_is_a_reset_for_the_client_too(store: Path) -> None:
    def leave(wire: Wire) -> None:
        time.sleep(0.1)
        wire.reset()

    up = Upstream(frames(frame(TEXT, b"hi"), then=leave, after=0))

    def end(side: Running) -> None:
        wire = handshake(side, f"{up.url}/ws")
        wire.head()
        assert wire.exactly(4) == frame(TEXT, b"hi")
        with pytest.raises(ConnectionResetError):
            wire.exactly(1)

    with recording(store) as side:
        end(side)
    assert [each.end for each in stored(store)] == [End.UPSTREAM_RESET]
    with replaying(store) as side:
        end(side)


def test_a_client_that_drops_is_no_close(store: Path) -> None:
    with upstream(echo) as port:
        with recording(store) as side, client(side, port, close_timeout=0) as socket:
            assert told(socket, "hi") == ["hi"]
            socket.socket.close()
            until(lambda: [each.end for each in stored(store)] == [End.CLIENT_CLOSED], "the end in the store")
        [exchange] = stored(store)
    assert (exchange.end, closes(exchange)) == (End.CLIENT_CLOSED, [])
    with replaying(store) as side, client(side, port) as socket:
        assert told(socket, "hi") == ["hi"]
        with pytest.raises(TimeoutError):
            socket.recv(0.3)


def test_a_client_closes_with_its_own_words_and_gets_the_recorded_answer(store: Path) -> None:
    up = Upstream(frames(goodbye(4002, b"so be it"), after=12))

    def part(side: Running) -> tuple[list[str | bytes], int | None, str]:
        wire = handshake(side, f"{up.url}/ws")
        wire.head()
        wire.send(Frame(CLOSE, (4321).to_bytes(2) + b"enough"[:4]).serialize(mask=True))
        assert wire.exactly(12) == goodbye(4002, b"so be it")
        with pytest.raises(EOFError):
            wire.exactly(1)
        return [], 0, ""

    with recording(store) as side:
        part(side)
    [exchange] = stored(store)
    assert (closes(exchange), exchange.end) == ([("client", 4321, b"enou"), ("server", 4002, b"so be it")], End.COMPLETE)
    with replaying(store) as side:
        part(side)


def test_a_refused_handshake_is_that_answer_again(store: Path) -> None:
    up = Upstream(lambda wire, asked: wire.send(whole(b'{"error": "no key"}', "WWW-Authenticate: Bearer", status="401 No")))
    with recording(store) as side, pytest.raises(InvalidStatus) as refused, client(side, up.port):
        pass
    assert refused.value.response.status_code == 401
    [exchange] = stored(store)
    assert (exchange.kind, exchange.end, exchange.messages) == (ExchangeKind.WEBSOCKET, End.COMPLETE, ())
    up.stop()
    with replaying(store) as side, pytest.raises(InvalidStatus) as refused, client(side, up.port):
        pass
    answer = refused.value.response
    assert (answer.status_code, answer.reason_phrase, answer.body) == (401, "No", b'{"error": "no key"}')
    assert answer.headers["www-authenticate"] == "Bearer"


def test_an_upstream_that_was_not_there_is_a_bad_gateway_again(store: Path) -> None:
    up = Upstream(lambda wire, asked: None)
    up.stop()
    with recording(store) as side, pytest.raises(InvalidStatus) as refused, client(side, up.port):
        pass
    assert refused.value.response.status_code == 502
    assert [each.end for each in stored(store)] == [End.REFUSED]
    with replaying(store) as side, pytest.raises(InvalidStatus) as refused, client(side, up.port):
        pass
    assert refused.value.response.status_code == 502


def test_a_damaged_close_ends_the_socket_and_hurts_no_other(store: Path) -> None:
    writer = opened(store)
    close = Message(1, "server", "close", b"", 1 << 20)
    request, answer = Request("GET", "ws://api.test/ws"), Response(101, (("Upgrade", "websocket"),))
    put(writer, Exchange(1, request, answer, ExchangeKind.WEBSOCKET, messages=(close,), end=End.COMPLETE))
    writer.close()
    with replaying(store) as side:
        wire = handshake(side, "ws://api.test/ws")
        assert " 101 " in wire.head()[0]
        with pytest.raises(EOFError):
            wire.exactly(1)
        assert side.ask("GET", "http://api.test/other").status == 422


# ---------------------------------------------------------------- what replay agrees on and matches


@pytest.mark.parametrize(("recorded", "live"), [("deflate", None), (None, "deflate"), ("deflate", "deflate")])
def test_compression_is_agreed_on_anew(store: Path, recorded: str | None, live: str | None) -> None:
    text = json.dumps({"input": "the same again " * 200})
    with upstream(echo) as port:
        with recording(store) as side, client(side, port, compression=recorded) as socket:
            assert told(socket, text, text) == [text, text]
        [exchange] = stored(store)
        assert [data.decode() for _, _, data in talk(exchange)] == [text] * 4
    with replaying(store) as side, client(side, port, compression=live) as socket:
        assert told(socket, text, text) == [text, text]
        assert bool(socket.protocol.extensions) is (recorded == live)


def test_the_recorded_subprotocol_is_spoken_again(store: Path) -> None:
    protocols = [Subprotocol("old"), Subprotocol("realtime")]
    with (
        upstream(echo, subprotocols=[Subprotocol("realtime")]) as port,
        recording(store) as side,
        client(side, port, subprotocols=protocols) as socket,
    ):
        told(socket, "hi")
    with replaying(store) as side, client(side, port, subprotocols=protocols) as socket:
        assert socket.subprotocol == "realtime"


def test_a_ping_is_answered_and_never_sent(store: Path) -> None:
    said = (frame(Opcode.PING, b"?"), frame(TEXT, b"hi"), goodbye(1000))
    up = Upstream(frames(*said, after=0, then=lambda wire: wire.send(wire.until(b"never"))))
    with recording(store) as side, client(side, up.port) as socket:
        assert rest(socket)[0] == ["hi"]
    assert [each.type for each in stored(store)[0].messages if each.sender == "server"] == ["ping", "text", "close"]
    with replaying(store) as side:
        wire = handshake(side, f"{up.url}/ws")
        wire.head()
        assert wire.exactly(8) == frame(TEXT, b"hi") + goodbye(1000)
        wire.send(Frame(Opcode.PING, b"still there").serialize(mask=True))
        assert wire.exactly(13) == frame(Opcode.PONG, b"still there")


def test_the_same_json_in_another_spelling_is_canonical(store: Path) -> None:
    with upstream(echo) as port, recording(store) as side, client(side, port) as socket:
        told(socket, '{"a": 1, "b": [2.0]}', "plain")
    with replaying(store) as side:
        with client(side, port) as socket:
            assert told(socket, '{"b":[2],"a":1.0}', "plain") == ['{"a": 1, "b": [2.0]}', "plain"]
        assert side.sidecar.tally.levels == {"canonical": 1}
    with replaying(store, MatchSettings.model_validate({"level": "exact"})) as side, client(side, port) as socket:
        socket.send('{"b":[2],"a":1.0}')
        assert rest(socket)[1] == 4422


def test_a_message_that_was_not_recorded_is_a_miss_that_says_what_differs(store: Path) -> None:
    with upstream(echo) as port, recording(store) as side, client(side, port) as socket:
        told(socket, "hello", json.dumps({"type": "create", "input": [{"text": "recorded"}]}))
    with replaying(store) as side:
        with client(side, port) as socket:
            told(socket, "hello")
            socket.send(json.dumps({"type": "create", "input": [{"text": "live"}]}))
            [text], code, _ = rest(socket)
        error = json.loads(text)["error"]
        assert (error["type"], code) == ("replay_miss", 4422)
        assert 'message 2 of exchange 1; it differs in $.input[0].text: recorded "recorded", live "live"' in error["message"]
        [miss] = side.sidecar.tally.misses
        assert f"message 2 on ws://127.0.0.1:{port}/ws" in miss.message
        assert miss.message in error["message"]


def test_secrets_are_kept_out_of_messages_and_still_match(store: Path) -> None:
    key = "sk-" + "a1B2c3D4" * 5
    with upstream(echo) as port, recording(store) as side, client(side, port) as socket:
        told(socket, json.dumps({"password": "hunter2hunter2", "text": f"use {key}"}))
    raw = store.read_bytes()
    assert key.encode() not in raw
    assert b"hunter2hunter2" not in raw
    assert all(b'"text": "use' in data for _, _, data in talk(stored(store)[0]))
    with replaying(store) as side:
        with client(side, port) as socket:
            told(socket, json.dumps({"password": "another-secret", "text": f"use sk-{'z9Y8x7W6' * 5}"}))
        assert side.sidecar.tally.misses == []


def test_a_socket_that_nobody_recorded_is_refused(store: Path) -> None:
    with upstream(echo) as port, recording(store) as side, client(side, port) as socket:
        told(socket, "hi")
    with replaying(store) as side:
        with client(side, port), pytest.raises(InvalidStatus) as refused, client(side, port):
            pass
        assert refused.value.response.status_code == 422
        assert "every recorded answer has been given" in refused.value.response.body.decode()
        with pytest.raises(InvalidStatus), client(side, port, "/other"):
            pass
        assert len(side.sidecar.tally.misses) == 2


def test_parallel_sockets_are_told_apart_by_what_their_client_says_first(store: Path) -> None:
    with upstream(echo) as port, recording(store) as side:
        for name in ("a", "b", "c"):
            with client(side, port) as socket:
                told(socket, name)
    with replaying(store) as side:
        with client(side, port) as one, client(side, port) as two, client(side, port) as three:
            assert [told(socket, name) for socket, name in ((two, "a"), (three, "b"), (one, "c"))] == [["a"], ["b"], ["c"]]
        assert side.sidecar.tally.misses == []
        assert side.sidecar.matcher is not None
        assert side.sidecar.matcher.unused() == ()


def test_the_pace_holds_for_messages(store: Path) -> None:
    async def slow(socket: ServerConnection) -> None:
        await socket.recv()
        for text in ("one", "two"):
            await asyncio.sleep(0.4)
            await socket.send(text)

    def seconds(**match: float) -> float:
        with replaying(store, MatchSettings.model_validate(match)) as side, client(side, port) as socket:
            began = time.monotonic()
            socket.send("go")
            assert rest(socket)[0] == ["one", "two"]
            return time.monotonic() - began

    with upstream(slow) as port, recording(store) as side, client(side, port) as socket:
        socket.send("go")
        assert rest(socket)[0] == ["one", "two"]
    assert 0.7 < seconds(pace=1.0) < 5
    assert seconds() < 0.4
