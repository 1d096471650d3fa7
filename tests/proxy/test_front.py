from __future__ import annotations

import asyncio
import socket

import pytest

from wiretape.proxy.front import Front, Opening, opening_of, read_head
from wiretape.traces.errors import CaptureError

OPENINGS = [
    (b"CONNECT api.openai.com:443 HTTP/1.1\r\n", Opening.CONNECT),
    (b"GET http://shop.test/x HTTP/1.1\r\n", Opening.ABSOLUTE),
    (b"POST /openai/v1/responses HTTP/1.1\r\n", Opening.ORIGIN),
    (b"OPTIONS * HTTP/1.1\r\n", Opening.ORIGIN),
    (b"\x16\x03\x01\x02\x00\x01\x00", Opening.TLS),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Opening.HTTP2),
    (b"\x00\x01\x02 what", Opening.UNKNOWN),
    (b"x" * 40, Opening.UNKNOWN),
]


@pytest.mark.parametrize(("first", "expected"), OPENINGS)
def test_it_tells_what_a_connection_begins_with(first: bytes, expected: Opening) -> None:
    assert opening_of(first) is expected


@pytest.mark.parametrize(("first", "expected"), OPENINGS)
def test_it_never_says_one_thing_of_a_prefix_and_another_of_the_whole(first: bytes, expected: Opening) -> None:
    for size in range(1, len(first)):
        assert opening_of(first[:size]) in (None, expected)


class Keeping:
    """A backend that keeps what it is given."""

    def __init__(self) -> None:
        self.taken: asyncio.Queue[tuple[Opening, bytes | None]] = asyncio.Queue()

    async def take(self, accepted: socket.socket, opening: Opening) -> None:
        head = await read_head(accepted)
        self.taken.put_nowait((opening, head))
        accepted.close()


async def led_in(pieces: list[bytes]) -> tuple[Opening, bytes | None]:
    backend = Keeping()
    front = Front(backend)
    host, port = front.listen("127.0.0.1", 0)
    front.start()
    _, writer = await asyncio.open_connection(host, port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.03)
    found = await asyncio.wait_for(backend.taken.get(), 10)
    writer.close()
    await front.close()
    return found


def test_it_hands_on_the_socket_with_its_first_bytes_still_unread() -> None:
    head = b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    assert asyncio.run(led_in([head])) == (Opening.CONNECT, head)


def test_it_waits_for_a_head_that_comes_in_pieces() -> None:
    pieces = [b"GE", b"T ", b"/openai/v1 HTTP/1.1\r\n", b"Host: x\r\n\r", b"\nbody"]
    assert asyncio.run(led_in(pieces)) == (Opening.ORIGIN, b"".join(pieces).removesuffix(b"body"))


@pytest.mark.parametrize(
    "first", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x00\x01 not http at all, sorry"]
)
def test_it_answers_what_fits_neither_with_a_sentence(first: bytes) -> None:
    async def talk() -> bytes:
        front = Front(Keeping())
        host, port = front.listen("127.0.0.1", 0)
        front.start()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(first)
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        await front.close()
        return answer

    answer = asyncio.run(talk())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"PROXY" in answer


def test_a_taken_port_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CaptureError, match=rf"port {port} .*--port"):
            Front(Keeping()).listen("127.0.0.1", port)
