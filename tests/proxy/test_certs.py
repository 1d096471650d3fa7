from __future__ import annotations

import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest

from wiretape.proxy.certs import Authority


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> str | None:
    """The ALPN that both agreed on."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with server.wrap_socket(ours, server_side=True) as secured:
            secured.recv(1)

    thread = threading.Thread(target=serve)
    thread.start()
    with client.wrap_socket(theirs, server_hostname=name) as secured:
        agreed = secured.selected_alpn_protocol()
        secured.send(b"x")
    thread.join(10)
    return agreed


@pytest.mark.parametrize("name", ["api.openai.com", "127.0.0.1", "::1", "a" * 63 + ".example.test", "bücher.example"])
def test_its_certificates_satisfy_a_strict_verifier(authority: Authority, name: str) -> None:
    client = ssl.create_default_context(cafile=str(authority.pem))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    client.set_alpn_protocols(["h2", "http/1.1"])
    assert handshake(authority.server_context(name), client, name) == "http/1.1"


def test_its_key_is_readable_by_its_owner_alone(authority: Authority) -> None:
    authority.server_context("keys.example.test")
    assert stat.S_IMODE(authority.folder.stat().st_mode) == 0o700
    keys = [path for path in authority.folder.iterdir() if b"PRIVATE KEY" in path.read_bytes() or path.suffix == ".p12"]
    private = [path for path in keys if "cert" not in path.name]
    assert private
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_it_is_deleted_with_its_run() -> None:
    authority = Authority()
    assert authority.pem.exists()
    authority.close()
    assert not authority.folder.exists()


def test_a_folder_that_was_given_stays_and_keeps_its_authority(tmp_path: Path) -> None:
    first = Authority(tmp_path / "ca")
    first.close()
    assert Authority(tmp_path / "ca").pem.read_bytes() == first.pem.read_bytes()


def test_two_runs_do_not_share_an_authority(authority: Authority) -> None:
    other = Authority()
    try:
        assert other.pem.read_bytes() != authority.pem.read_bytes()
    finally:
        other.close()


def test_its_bundle_adds_to_the_roots(authority: Authority) -> None:
    text = authority.bundle(b"-- roots --\n").read_bytes()
    assert text == b"-- roots --\n" + authority.pem.read_bytes()
