"""Whatever comes: no exception, a view that can be written down, and the same one however the bytes are cut."""

import json
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.captures import captures
from support.wire import CAPTURES, Capture, post

from wiretape.traces.decoders import DECODERS, decode, detect, error_response
from wiretape.traces.types import End, Exchange, Request, Response


def real() -> Iterator[Capture]:
    yield from CAPTURES.values()
    for each in captures():
        api = detect(each.plain.request)
        if api and each.plain.response:
            yield Capture(api, each.name, each.plain.request, each.plain.response, each.expected)


STREAMS = sorted((c for c in real() if 0 < len(c.response.body) < 9000), key=lambda c: (c.api, c.name))
A2A = post("https://agent.test/", {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"parts": []}}})
ASKS = {api: next((c.request for c in real() if c.api == api), A2A) for api in DECODERS}
ODD = [
    b"null",
    b"[]",
    b"{}",
    b"0",
    b"-1",
    b"1e999",
    b"true",
    b'""',
    b'"\\ud83d"',
    b'"x"',
    b"[[{}]]",
    b"99999999999999999999",
    b"NaN",
    b"{",
    b"}",
    b"\xff",
    b"\r",
    b"\n\n",
]
BYTES = st.binary(max_size=300) | st.lists(
    st.sampled_from([b"data: ", b"event: error\n", b"\n\n", b"\r\n\r\n", b"[DONE]", *ODD]), max_size=12
).map(b"".join)
FAST = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(api: str, request: Request, body: bytes, places, status: int = 200):
    reader = DECODERS[api].reader(request, status, None)
    for start, end in zip((0, *places), (*places, len(body)), strict=True):
        reader.feed(body[start:end])
    return reader.view(), reader.complete


def alike(api: str, request: Request, body: bytes, rng: random.Random, status: int = 200) -> None:
    """Reads whole, byte by byte, at random places."""
    whole, complete = read(api, request, body, (), status)
    json.loads(whole.model_dump_json())
    for places in (range(1, len(body)), sorted(rng.sample(range(len(body) + 1), min(9, len(body))))):
        assert read(api, request, body, places, status) == (whole, complete)


def spoil(data: bytes, rng: random.Random) -> bytes:
    """The same bytes with a few things wrong: values replaced, pieces lost, doubled, moved."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        upto = min(len(data), at + rng.choice([0, 1, 5, 60, 400]))
        wrong = rng.choice([b"", data[at:upto] * 2, rng.choice(ODD), rng.choice(ODD)])
        data = data[:at] + wrong + data[upto:]
    return data


def swap(value, rng: random.Random):
    """JSON with a few of its values replaced by values of other types."""
    if rng.random() < 0.03:
        return rng.choice([None, [], {}, 0, -1, True, "", "\ud83d", "x", [[{}]], 10**30, {"type": []}])
    if isinstance(value, dict):
        return {key: swap(item, rng) for key, item in value.items()}
    return [swap(item, rng) for item in value] if isinstance(value, list) else value


def swapped(line: bytes, rng: random.Random) -> bytes:
    head, colon, data = line.partition(b"data:")
    try:
        return head + colon + json.dumps(swap(json.loads(data if colon else line), rng)).encode()
    except ValueError:
        return line


@FAST
@given(st.sampled_from(sorted(DECODERS)), BYTES, st.sampled_from([0, 200, 404, 503]), st.randoms(use_true_random=False))
def test_it_survives_any_bytes(api, body, status, rng):
    alike(api, ASKS[api], body, rng, status)


@pytest.mark.parametrize("capture", STREAMS, ids=lambda c: f"{c.api}/{c.name}")
@settings(FAST, max_examples=12)
@given(seed=st.integers(0, 10**6))
def test_it_survives_real_answers_that_were_spoilt(capture: Capture, seed):
    rng = random.Random(seed)
    alike(capture.api, capture.request, spoil(capture.response.body, rng), rng, capture.response.status)
    lines = capture.response.body.split(b"\n")
    alike(capture.api, capture.request, b"\n".join(swapped(line, rng) for line in lines), rng, capture.response.status)


@pytest.mark.parametrize("capture", STREAMS, ids=lambda c: f"{c.api}/{c.name}")
def test_it_says_ever_more_of_a_real_answer_that_was_cut(capture: Capture):
    """A prefix never has text that the whole has not."""
    rng, body = random.Random(1), capture.response.body
    whole, _ = read(capture.api, capture.request, body, ())
    for size in sorted(rng.sample(range(len(body)), min(40, len(body)))):
        view, _ = read(capture.api, capture.request, body[:size], ())
        assert (getattr(whole, "text", "") or "").startswith(getattr(view, "text", "") or "")


@pytest.mark.parametrize("capture", STREAMS, ids=lambda c: f"{c.api}/{c.name}")
@settings(FAST, max_examples=12)
@given(seed=st.integers(0, 10**6))
def test_it_survives_real_requests_that_were_spoilt(capture: Capture, seed):
    rng, sent = random.Random(seed), capture.request
    for body in (spoil(sent.body or b"", rng), swapped(sent.body or b"", rng)):
        spoilt = Request(sent.method, sent.url, sent.headers, body)
        DECODERS[capture.api].reader(spoilt, 200, None).view().model_dump_json()
        view = decode(Exchange(1, spoilt, Response(200), end=End.COMPLETE), capture.response.body)
        assert view is None or view.model_dump_json()
        error_response(detect(spoilt), 422, "m", "c", spoilt)


@FAST
@given(
    st.text(max_size=20),
    st.text(max_size=60),
    st.none() | BYTES,
    st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=3),
)
def test_it_survives_any_request(method, url, body, headers):
    request = Request(method, url, tuple(headers), body)
    assert detect(request) in (None, *DECODERS)
    error_response(detect(request), 422, "m", "c", request)


@pytest.mark.parametrize("api", DECODERS)
@pytest.mark.parametrize("deep", [b"[" * 50_000, b'{"a":' * 50_000, b"data: " + b"[" * 90_000 + b"\n\n"])
def test_it_survives_what_is_nested_without_end(api, deep):
    alike_ = read(api, post("https://a.test/", deep), deep, ())
    assert alike_ == read(api, post("https://a.test/", deep), deep, (7, 9000))
