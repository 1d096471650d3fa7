"""What comes to a replay and cannot even be looked up is an attempt to leave, and counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sidecar import recording, replaying
from support.stores import until
from support.upstream import Upstream, always, whole


@pytest.fixture
def store(tmp_path: Path) -> Path:
    up = Upstream(always(whole(b"ok")))
    with recording(tmp_path / "r.db") as side:
        side.ask("GET", f"{up.url}/known")
    up.stop()
    return tmp_path / "r.db"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"\x16\x03\x01\x00\x05hello", "TLS with the proxy itself"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 without asking"),
        (b"\x00\x01\x02 nonsense\r\n\r\n", "no HTTP request"),
        (b"GET http://x.test/\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n", "no HTTP/1.1 that can be read"),
        (b"get http://x.test/ HTTP/1.1\r\nHost: x\r\n\r\n", "no HTTP/1.1 that can be read"),
        (b"GET /nobody/here HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET /nobody/here"),
    ],
)
def test_it_counts_what_is_no_request_that_anybody_could_answer(store: Path, said: bytes, told: str) -> None:
    with replaying(store) as side:
        wire = side.wire()
        wire.send(said)
        wire.sock.settimeout(10)
        while wire.sock.recv(4096):
            pass
        assert [told in stray for stray in side.sidecar.tally.strays] == [True]


def test_it_counts_a_client_that_refuses_the_certificate(store: Path) -> None:
    with replaying(store) as side:
        wire = side.tunnel("evil.test", 443, secure=False)
        wire.send(b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00")
        wire.sock.settimeout(10)
        while wire.sock.recv(4096):
            pass
        until(lambda: side.sidecar.tally.strays, "it was noticed")
        [stray] = side.sidecar.tally.strays
        assert "refused the certificate for evil.test" in stray


def test_a_spare_connection_to_a_host_that_was_asked_by_another_is_none(store: Path, tmp_path: Path) -> None:
    with replaying(store) as side:
        side.tunnel("spare.test", 80, secure=False).sock.close()
        side.sidecar.tally.answered("spare.test")
        side.ask("OPTIONS", "/")  # a gateway refusal, which comes after the tunnel was noticed
        assert all("spare.test" not in stray for stray in side.sidecar.tally.strays)


def test_a_method_with_a_hyphen_is_a_request_like_any_other(store: Path) -> None:
    with replaying(store) as side:
        assert side.ask("M-SEARCH", "http://x.test/").status == 422
        assert len(side.sidecar.tally.misses) == 1
