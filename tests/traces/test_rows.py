"""Round trip: whatever passed comes back as the value it was."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.stores import opened, put, read

from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request, Response, Source, Timings

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
latin = st.text(st.characters(max_codepoint=255), max_size=20)
headers = st.lists(st.tuples(latin, latin), max_size=4).map(tuple)
times = st.none() | st.integers(0, 2**40)
microseconds = st.integers(0, 2**40)

requests = st.builds(
    Request,
    method=st.sampled_from(["GET", "POST", "CONNECT"]),
    url=text.map("http://api.test/".__add__),
    headers=headers,
    body=st.none() | st.binary(max_size=300),
    http_version=st.sampled_from(["HTTP/1.0", "HTTP/1.1", "HTTP/2"]),
)


@st.composite
def responses(draw: st.DrawFn) -> Response:
    pieces = draw(st.lists(st.binary(max_size=40), max_size=6))
    ats = draw(st.lists(microseconds, min_size=len(pieces), max_size=len(pieces)).map(sorted))
    return Response(
        status=draw(st.integers(100, 599)),
        headers=draw(headers),
        body=b"".join(pieces),
        reason=draw(latin),
        http_version=draw(st.sampled_from(["HTTP/1.1", "HTTP/2"])),
        trailers=draw(headers),
        chunks=tuple((at, len(piece)) for at, piece in zip(ats, pieces, strict=True)),
    )


messages = st.builds(
    Message,
    at=microseconds,
    sender=st.sampled_from(["client", "server"]),
    type=st.sampled_from(["text", "binary", "close", "ping", "pong"]),
    data=st.binary(max_size=40),
    code=st.none() | st.integers(1000, 4999),
)

exchanges = st.builds(
    Exchange,
    seq=st.just(0),
    request=requests,
    response=st.none() | responses(),
    kind=st.sampled_from(ExchangeKind),
    session=text,
    source=st.sampled_from(Source),
    started_at=st.floats(0, 2**33),
    messages=st.lists(messages, max_size=4).map(tuple),
    timings=st.builds(Timings, times, times, times, times),
    end=st.sampled_from(End),
    error=st.none() | text,
    upstream=st.none() | text,
    rule=st.none() | text,
    match=st.none() | text,
    noise=st.booleans(),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(exchanges, max_size=4), st.booleans())
def test_it_comes_back_as_it_was(passed: list[Exchange], live: bool) -> None:
    numbered = [replace(each, seq=seq) for seq, each in enumerate(passed, start=1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        writer = opened(path, redact="off")
        for exchange in numbered:
            put(writer, exchange)
        writer.flush()
        if not live:
            writer.close()
        found = read(path)
        writer.close()
    assert writer.failure is None
    assert found == [replace(each, fingerprint=str(fingerprint(each.request))) for each in numbered]
