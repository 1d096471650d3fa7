from __future__ import annotations

import zlib

import pytest
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from wiretape.proxy.frames import FrameReader, as_frame
from wiretape.traces.types import Message


def masked(opcode: Opcode, data: bytes = b"", *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


TALK = b"".join(
    [
        masked(Opcode.TEXT, "grüß".encode()),
        masked(Opcode.TEXT, b"a", fin=False),
        masked(Opcode.PING, b"?"),
        masked(Opcode.CONT, b"", fin=False),
        masked(Opcode.CONT, b"b" * 70000),
        masked(Opcode.BINARY, bytes(range(256))),
        masked(Opcode.PONG, b"!"),
        masked(Opcode.TEXT),
        masked(Opcode.CLOSE, (4321).to_bytes(2) + b"enough"),
    ]
)
HEARD = [
    ("text", "grüß".encode(), None),
    ("ping", b"?", None),
    ("text", b"a" + b"b" * 70000, None),
    ("binary", bytes(range(256)), None),
    ("pong", b"!", None),
    ("text", b"", None),
    ("close", b"enough", 4321),
]


def plain(messages: list[Message]) -> list[tuple[str, bytes, int | None]]:
    return [(each.type, each.data, each.code) for each in messages]


@pytest.mark.parametrize("size", [1, 2, 7, 4096, len(TALK)])
def test_messages_come_out_however_the_bytes_are_split(size: int) -> None:
    reader = FrameReader("client")
    pieces = [TALK[at : at + size] for at in range(0, len(TALK), size)]
    assert plain([message for piece in pieces for message in reader.feed(piece, 5)]) == HEARD
    assert reader.broken is None


def test_a_message_has_the_time_of_its_last_byte_and_its_sender() -> None:
    reader = FrameReader("client")
    frame = masked(Opcode.TEXT, b"hi")
    assert reader.feed(frame[:3], 10) == []
    assert reader.feed(frame[3:], 20) == [Message(20, "client", "text", b"hi")]


@pytest.mark.parametrize("message", [Message(0, "server", "text", b"x" * 500), Message(0, "server", "close", b"", None)])
def test_what_a_server_sends_is_what_is_read(message: Message) -> None:
    assert FrameReader("server").feed(as_frame(message), 0) == [message]


def test_an_empty_close_has_no_code_and_stays_empty() -> None:
    assert as_frame(Message(0, "server", "close")) == b"\x88\x00"
    assert as_frame(Message(0, "server", "close", b"no", 999)) == b"\x88\x04\x03\xe7no"


@pytest.mark.parametrize("alone", [False, True])
def test_packed_messages_are_read_with_the_context_that_was_agreed(alone: bool) -> None:
    packer = PerMessageDeflate(True, alone, 15, 15)
    sent = [b'{"the": "same"}' * 20] * 2
    wire = [as_frame(Message(0, "server", "text", data), packer) for data in sent]
    assert len(wire[1]) < len(wire[0]) or alone
    reader = FrameReader("server", PerMessageDeflate(alone, True, 15, 15))
    assert [message.data for piece in wire for message in reader.feed(piece, 0)] == sent


@pytest.mark.parametrize(
    "junk",
    [
        b"\x83\x00",  # an opcode that does not exist
        Frame(Opcode.TEXT, b"unmasked").serialize(mask=False),
        b"\xc1\x80\x00\x00\x00\x00",  # packed, and no extension agreed
        b"\x81\xff" + (1 << 40).to_bytes(8) + b"\0\0\0\0",
    ],
)
def test_what_is_no_frame_ends_the_reading_and_keeps_what_came_before(junk: bytes) -> None:
    reader = FrameReader("client")
    assert plain(reader.feed(masked(Opcode.TEXT, b"first") + junk, 0)) == [("text", b"first", None)]
    assert reader.broken
    assert reader.feed(masked(Opcode.TEXT, b"later"), 0) == []


def test_bytes_that_do_not_unpack_are_no_message() -> None:
    reader = FrameReader("server", PerMessageDeflate(False, True, 15, 15))
    frame = Frame(Opcode.TEXT, zlib.compress(b"a zlib stream has a head"), rsv1=True)
    assert reader.feed(bytes([0xC1, len(frame.data)]) + bytes(frame.data), 0) == []
    assert reader.broken
