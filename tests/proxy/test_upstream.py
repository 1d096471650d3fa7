from __future__ import annotations

import base64
from pathlib import Path

import certifi
import pytest

from wiretape.proxy.upstream import UpstreamSettings, roots
from wiretape.traces.errors import UsageError
from wiretape.traces.settings import CaptureSettings, ConnectTo


def made(environment: dict[str, str] | None = None, **settings: object) -> UpstreamSettings:
    return UpstreamSettings(CaptureSettings.model_validate(settings), environment or {}, Path("roots.pem"))


def test_it_dials_where_connect_to_says_and_elsewhere_as_asked() -> None:
    rule = ConnectTo(host="api.openai.com", port=443, address="127.0.0.1", connect_port=9)
    upstream = made(connect_to=[rule])
    assert upstream.address("api.openai.com", 443) == ("127.0.0.1", 9)
    assert upstream.address("api.openai.com", 80) == ("api.openai.com", 80)
    assert upstream.address("other.test", 443) == ("other.test", 443)


def test_the_users_own_proxy_stays_in_force() -> None:
    upstream = made({"HTTPS_PROXY": "http://corp.test:3128", "NO_PROXY": ".internal.test, exact.test"})
    assert upstream.proxy_for("https", "api.openai.com", 443) == ("http", ("corp.test", 3128))
    assert upstream.proxy_for("http", "api.openai.com", 80) is None
    assert upstream.proxy_for("https", "a.internal.test", 443) is None
    assert upstream.proxy_for("https", "exact.test", 443) is None
    assert upstream.proxy_for("https", "127.0.0.1", 443) is None


def test_an_address_given_by_connect_to_is_dialled_directly() -> None:
    rule = ConnectTo(host="api.openai.com", address="127.0.0.1", connect_port=9)
    upstream = made({"HTTPS_PROXY": "http://corp.test:3128"}, connect_to=[rule])
    assert upstream.proxy_for("https", "api.openai.com", 443) is None


def test_it_logs_in_at_the_users_proxy() -> None:
    upstream = made({"https_proxy": "http://me:p%40ss@corp.test"})
    assert upstream.proxy_for("https", "api.openai.com", 443) == ("http", ("corp.test", 80))
    assert upstream.proxy_authorization("https") == "Basic " + base64.b64encode(b"me:p@ss").decode()


def test_a_proxy_that_cannot_be_chained_is_refused_without_its_password() -> None:
    with pytest.raises(UsageError) as refused:
        made({"ALL_PROXY": "socks5://me:secret@corp.test:1080"})
    assert "socks5" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_upstreams_are_verified_against_the_users_roots(tmp_path: Path) -> None:
    own = tmp_path / "own.pem"
    own.write_bytes(b"-- own --")
    extra = tmp_path / "extra.pem"
    extra.write_bytes(b"-- extra --")
    assert roots({"SSL_CERT_FILE": str(own)}, str(extra)) == b"-- own --\n-- extra --"
    assert roots({}) == Path(certifi.where()).read_bytes()
    with pytest.raises(UsageError, match="SSL_CERT_FILE"):
        roots({"SSL_CERT_FILE": str(tmp_path / "missing.pem")})
    with pytest.raises(UsageError, match="--upstream-ca"):
        roots({}, str(tmp_path / "missing.pem"))
