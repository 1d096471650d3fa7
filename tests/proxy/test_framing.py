from __future__ import annotations

import gzip

import pytest

from wiretape.proxy.framing import Ending, Framing, acceptable, plan
from wiretape.traces.types import End, Exchange, Headers, Request, Response

GET = Request("GET", "http://x.test/")
CHUNKED: Headers = (("X-oDD", "1"), ("Transfer-encoding", "Chunked"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2"))


def made(response: Response, live: Request = GET, end: End = End.COMPLETE):  # type: ignore[no-untyped-def]
    return plan(Exchange(1, GET, response, end=end), response, live, 0.0)


def test_a_chunked_answer_goes_out_in_its_chunks() -> None:
    got = made(Response(200, CHUNKED, b"abcde", chunks=((1, 2), (2, 3))))
    assert (got.framing, [piece for _, piece in got.pieces], got.ending) == (Framing.CHUNKED, [b"ab", b"cde"], Ending.WHOLE)
    assert got.headers == (("X-oDD", "1"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("Transfer-Encoding", "chunked"))


def test_a_length_is_true_whatever_was_recorded() -> None:
    got = made(Response(200, (("Content-Length", "99"), ("X", "1")), b"abc"))
    assert (got.framing, got.headers) == (Framing.LENGTH, (("Content-Length", "3"), ("X", "1")))


def test_a_cut_answer_promises_what_it_promised() -> None:
    got = made(Response(200, (("Content-Length", "99"),), b"abc"), end=End.UPSTREAM_RESET)
    assert (got.headers, got.ending) == ((("Content-Length", "99"),), Ending.RESET)


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_a_bodiless_answer_keeps_its_length_and_sends_nothing(method: str, status: int) -> None:
    got = made(Response(status, (("Content-Length", "900"),), b""), Request(method, "http://x.test/"))
    assert (got.framing, got.headers, got.pieces) == (Framing.NONE, (("Content-Length", "900"),), ())


def test_what_came_over_http_2_goes_out_chunked_and_what_ended_with_the_connection_does_so_again() -> None:
    assert made(Response(200, (), b"a", http_version="HTTP/2")).framing is Framing.CHUNKED
    assert made(Response(200, (), b"a")).framing is Framing.CLOSE


@pytest.mark.parametrize("end", list(End))
def test_every_end_has_an_ending(end: End) -> None:
    assert made(Response(200, CHUNKED, b"a"), end=end).ending in Ending


CODED = Response(200, (("Content-Encoding", "gzip"), ("X", "1")), gzip.compress(b"plain"), chunks=((7, 25),))


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br", "*", "br;q=1.0, gzip;q=0.1"])
def test_a_client_that_takes_the_coding_gets_it(accepted: str) -> None:
    assert acceptable(CODED, Request("GET", "http://x/", (("Accept-Encoding", accepted),))) is CODED


@pytest.mark.parametrize("headers", [(), (("Accept-Encoding", "identity"),), (("accept-encoding", "gzip;q=0, br"),)])
def test_a_client_that_does_not_gets_plain_bytes_without_the_label(headers: Headers) -> None:
    got = acceptable(CODED, Request("GET", "http://x/", headers))
    assert (got.body, got.headers, got.chunks) == (b"plain", (("X", "1"),), ((7, 5),))


def test_an_unknown_coding_stays_as_it_was() -> None:
    odd = Response(200, (("Content-Encoding", "foo"),), b"\x00")
    assert acceptable(odd, GET) is odd
