from __future__ import annotations

import base64

import pytest

from wiretape.proxy.route import Refusal, Route, Router, authority, session_of
from wiretape.traces.settings import CaptureSettings
from wiretape.traces.types import Headers

OWN = ("127.0.0.1", 8080)


def router(**settings: object) -> Router:
    return Router(CaptureSettings.model_validate(settings), OWN)


def by_user(name: str) -> Headers:
    return (("Proxy-Authorization", "Basic " + base64.b64encode(f"{name}:".encode()).decode()),)


@pytest.mark.parametrize(
    ("scheme", "host", "port", "expected"),
    [
        ("https", "api.openai.com", 443, "api.openai.com"),
        ("http", "api.openai.com", 443, "api.openai.com:443"),
        ("http", "shop.test", 80, "shop.test"),
        ("http", "::1", 8000, "[::1]:8000"),
        ("https", "::1", 443, "[::1]"),
    ],
)
def test_it_writes_an_authority(scheme: str, host: str, port: int, expected: str) -> None:
    assert authority(scheme, host, port) == expected


def test_it_leads_a_forward_request_to_its_own_url() -> None:
    found = router().forward("http", "shop.test", 9000, "/a?q=1", (), None)
    assert found == Route("http://shop.test:9000/a?q=1")
    assert isinstance(found, Route)
    assert (found.scheme, found.host, found.port, found.path, found.authority) == (
        "http", "shop.test", 9000, "/a?q=1", "shop.test:9000",
    )  # fmt: skip


def test_a_route_without_a_path_asks_for_the_root() -> None:
    assert Route("http://shop.test?x=1").path == "/?x=1"


@pytest.mark.parametrize(
    ("headers", "tunnel", "expected"),
    [
        ((), None, ""),
        (by_user("run-42"), None, "run-42"),
        ((), "of-the-tunnel", "of-the-tunnel"),
        (by_user("ignored-inside"), "of-the-tunnel", "of-the-tunnel"),
        ((("X-Replay-Session", "named"), *by_user("run-42")), None, "named"),
        ((("Proxy-Authorization", "Basic not base64"),), None, ""),
        ((("Proxy-Authorization", "Bearer abc"),), None, ""),
    ],
)
def test_it_finds_the_session(headers: Headers, tunnel: str | None, expected: str) -> None:
    found = router().forward("http", "shop.test", 80, "/", headers, tunnel)
    assert isinstance(found, Route)
    assert found.session == expected


def test_a_user_name_may_hold_a_password_that_is_no_part_of_the_session() -> None:
    pair = base64.b64encode(b"run-42:secret").decode()
    assert session_of((("proxy-authorization", f"basic {pair}"),)) == "run-42"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1"])
def test_it_answers_508_to_a_request_for_itself(host: str) -> None:
    for found in (router().forward("http", host, 8080, "/x", (), None), router().connect(host, 8080, ())):
        assert isinstance(found, Refusal)
        assert found.status == 508


def test_a_request_for_itself_with_a_gateway_name_is_the_gateway() -> None:
    found = router().forward("http", "localhost", 8080, "/openai/v1/models", (), None)
    assert found == Route("https://api.openai.com/v1/models", "", "openai")


def test_another_port_of_this_machine_is_a_target_like_any_other() -> None:
    assert router().forward("http", "localhost", 8081, "/x", (), None) == Route("http://localhost:8081/x")


def test_a_signed_request_cannot_pass_the_gateway_and_is_told_the_way() -> None:
    signed = (("Authorization", "AWS4-HMAC-SHA256 Credential=x"),)
    found = router(upstreams={"bedrock": "https://bedrock.test"}).gateway("/bedrock/model/m/converse", signed)
    assert isinstance(found, Refusal)
    assert found.status == 400
    assert "HTTPS_PROXY" in found.message


@pytest.mark.parametrize(
    ("settings", "host", "refused"),
    [
        ({"deny_hosts": ["evil.test"]}, "evil.test", True),
        ({"deny_hosts": ["evil.test"]}, "good.test", False),
        ({"allow_hosts": ["*.good.test"]}, "a.good.test", False),
        ({"allow_hosts": ["*.good.test"]}, "evil.test", True),
    ],
)
def test_it_keeps_to_the_hosts_that_were_allowed(settings: dict[str, list[str]], host: str, refused: bool) -> None:
    for found in (router(**settings).forward("http", host, 80, "/", (), None), router(**settings).connect(host, 443, ())):
        assert isinstance(found, Refusal) is refused


def test_an_agents_own_events_are_answered_by_the_sidecar() -> None:
    found = router().forward("http", "wiretape.internal", 80, "/events", by_user("r"), None)
    assert found == Route("http://wiretape.internal/events", "r", events=True)
    assert isinstance(router().forward("http", "wiretape.internal", 80, "/other", (), None), Refusal)
