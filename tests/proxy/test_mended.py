"""What mitmproxy's own HTTP/1 would lose: informational answers, trailers, the body of a request to nobody."""

from __future__ import annotations

from pathlib import Path

from support.sidecar import recording, replaying, stored
from support.stores import until
from support.upstream import CHUNKED, Asked, Upstream, Wire, answer, framed, whole

from wiretape.traces.types import End


def test_an_informational_answer_passes_before_the_answer_itself(tmp_path: Path) -> None:
    def hints(wire: Wire, asked: Asked) -> None:
        wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        wire.send(whole(b"page"))

    up = Upstream(hints)
    with recording(tmp_path / "r.db") as side:
        wire = side.wire()
        wire.send(f"GET {up.url}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert answer(wire, "HEAD").status == 103
        assert answer(wire).body == b"page"
    up.stop()
    [kept] = stored(tmp_path / "r.db")
    assert kept.response is not None
    assert (kept.response.status, kept.response.body, kept.end) == (200, b"page", End.COMPLETE)


def test_trailers_reach_the_client_and_the_store(tmp_path: Path) -> None:
    def trailing(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + framed(b"data") + b"0\r\nX-Sum: 7\r\nx-Sum: 8\r\n\r\n")

    up = Upstream(trailing)
    with recording(tmp_path / "r.db") as side:
        wire = side.wire()
        wire.send(f"GET {up.url}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wire.head()
        assert wire.until(b"\r\n\r\n").endswith(b"0\r\nX-Sum: 7\r\nx-Sum: 8")
    up.stop()
    [kept] = stored(tmp_path / "r.db")
    assert kept.response is not None
    assert (kept.response.body, kept.response.trailers, kept.end) == (b"data", (("X-Sum", "7"), ("x-Sum", "8")), End.COMPLETE)


def test_a_request_to_nobody_keeps_its_body_and_finds_itself(tmp_path: Path) -> None:
    store = tmp_path / "r.db"
    with recording(store) as side:
        assert side.ask("POST", "http://127.0.0.1:9/lost", body=b'{"a": 1}').status == 502
    [kept] = stored(store)
    assert (kept.request.body, kept.end) == (b'{"a": 1}', End.REFUSED)
    assert kept.fingerprint is not None
    with replaying(store) as side:
        assert side.ask("POST", "http://127.0.0.1:9/lost", body=b'{"a": 1}').get("x-replay-source") == "replayed"
        assert side.ask("POST", "http://127.0.0.1:9/lost", body=b'{"a": 2}').status == 422


def test_an_upload_that_the_client_cut_is_the_clients_doing(tmp_path: Path) -> None:
    store, up = tmp_path / "r.db", Upstream(lambda wire, asked: wire.send(whole()))
    with recording(store) as side:
        wire = side.wire()
        wire.send(f"POST {up.url}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf".encode())
        until(lambda: side.sidecar.capture.total == 1, "the request began")
        wire.sock.close()
        until(side.sidecar.capture.idle.is_set, "it ended")
    up.stop()
    [kept] = stored(store)
    assert (kept.end, kept.request.body) == (End.CLIENT_CLOSED, b"half")
