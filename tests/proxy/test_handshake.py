from __future__ import annotations

import pytest

from wiretape.proxy.handshake import accepted, asks_for_socket, offered_deflate, unpackers
from wiretape.traces.types import ExchangeKind, Headers
from wiretape.traces.urls import kind_of, socket_url

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ASKED: Headers = (("upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade"), ("Sec-WebSocket-Key", KEY))
AGREED: Headers = (
    ("UPGRADE", "websocket"),
    ("Connection", "Upgrade"),
    ("sec-websocket-Accept", "of another key"),
    ("Sec-WebSocket-Extensions", "permessage-deflate; server_no_context_takeover"),
    ("Sec-WebSocket-Protocol", "realtime"),
    ("X-oDD", "1"),
    ("x-odd", "2"),
)
DEFLATE = ("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits")


def test_a_handshake_asks_for_an_upgrade_with_a_key() -> None:
    assert asks_for_socket(ASKED)
    assert not asks_for_socket(ASKED[:2])
    assert not asks_for_socket((("Upgrade", "h2c"), *ASKED[1:]))
    assert not asks_for_socket((ASKED[0], ("Connection", "close"), ASKED[2]))


@pytest.mark.parametrize(("url", "of"), [("http://a.test/x?y=1", "ws://a.test/x?y=1"), ("https://a.test/", "wss://a.test/")])
def test_a_socket_has_a_url_of_its_own_scheme(url: str, of: str) -> None:
    assert socket_url(url) == of
    assert (kind_of(url), kind_of(of)) == (ExchangeKind.HTTP, ExchangeKind.WEBSOCKET)


def test_the_recorded_head_goes_out_for_the_live_key() -> None:
    live = (*ASKED, ("Sec-WebSocket-Protocol", "other"), ("Sec-WebSocket-Protocol", "x, realtime"))
    assert accepted(AGREED, live, "permessage-deflate") == (
        ("UPGRADE", "websocket"),
        ("Connection", "Upgrade"),
        ("sec-websocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),  # RFC 6455, section 1.3
        ("Sec-WebSocket-Extensions", "permessage-deflate"),
        ("Sec-WebSocket-Protocol", "realtime"),
        ("X-oDD", "1"),
        ("x-odd", "2"),
    )


def test_what_this_client_did_not_offer_is_not_agreed_on() -> None:
    names = [name for name, _ in accepted(AGREED, ASKED, None)]
    assert "Sec-WebSocket-Protocol" not in names
    assert "Sec-WebSocket-Extensions" not in names


def test_compression_is_agreed_on_where_the_recorded_server_did_and_this_client_offers() -> None:
    agreed = offered_deflate(AGREED, (*ASKED, DEFLATE))
    assert agreed is not None
    assert agreed[0].startswith("permessage-deflate")
    assert offered_deflate(AGREED, ASKED) is None
    assert offered_deflate(AGREED[:3], (*ASKED, DEFLATE)) is None
    assert offered_deflate(AGREED, (*ASKED, ("Sec-WebSocket-Extensions", "permessage-deflate; nonsense"))) is None


def test_each_direction_is_unpacked_as_agreed() -> None:
    client, server = unpackers(AGREED)
    assert client is not None
    assert server is not None
    assert (client.remote_no_context_takeover, server.remote_no_context_takeover) == (False, True)
    assert unpackers(AGREED[:3]) == (None, None)
    assert unpackers((("Sec-WebSocket-Extensions", "=;="),)) == (None, None)
