"""Frames of AWS event streams, made here by the specification and taken from real answers."""

import binascii
import random
import struct

import pytest
from support.captures import captures
from support.frames import event

from wiretape.traces.decoders import detect
from wiretape.traces.decoders.eventstream import Frame, FrameReader


def read(data: bytes, sizes: list[int]) -> tuple[list[Frame], str | None]:
    reader, frames, at = FrameReader(), [], 0
    for size in sizes:
        frames += reader.feed(data[at : at + size])
        at += size
    return frames + reader.feed(data[at:]), reader.broken


TWO = event("a", {"n": 1}) + event("b", {"n": 2})


def test_it_reads_frames_however_the_bytes_are_cut():
    whole = read(TWO, [])
    assert [frame.headers[":event-type"] for frame in whole[0]] == ["a", "b"]
    assert all(read(TWO, [at]) == whole for at in range(len(TWO)))
    assert read(TWO, [1] * len(TWO)) == whole


def test_it_passes_over_headers_that_hold_no_text():
    odd = b"\x01t\x00" + b"\x01n\x04\x00\x00\x00\x01" + b"\x01u\x09" + bytes(16) + b"\x01s\x07\x00\x02hi"
    prelude = struct.pack(">II", 12 + len(odd) + 4, len(odd))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + odd
    frames, broken = read(body + struct.pack(">I", binascii.crc32(body)), [])
    assert (frames, broken) == ([Frame({"s": "hi"}, b"")], None)


@pytest.mark.parametrize("at", [2, 9, 20, len(event("a", {"n": 1})) - 1])
def test_it_ends_where_a_checksum_does_not_hold(at):
    data = bytearray(TWO)
    data[at] ^= 0x55
    frames, broken = read(bytes(data), [])
    assert frames == []
    assert broken is not None
    assert broken.startswith("corrupt frame: ")


def test_it_waits_for_no_frame_that_is_larger_than_the_protocol_allows():
    prelude = struct.pack(">II", 0x7FFFFFFF, 0)
    assert read(prelude + struct.pack(">I", binascii.crc32(prelude)), [])[1] == (
        "corrupt frame: a length of 2147483647 bytes with 0 bytes of headers"
    )


def test_it_survives_any_bytes():
    dice = random.Random(3)
    for _ in range(300):
        data = bytearray(TWO)
        for _ in range(dice.randint(1, 5)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        assert read(bytes(data), [dice.randrange(len(data))]) == read(bytes(data), [])


REAL = [each for each in captures() if (detect(each.plain.request) or "").startswith("bedrock") and each.body[:1] == b"\0"]


@pytest.mark.parametrize("capture", REAL, ids=lambda each: each.name)
def test_it_reads_real_frames_to_their_end(capture):
    """One of them had an account number replaced, and its checksums with it not."""
    frames, broken = read(capture.body, [])
    assert bool(broken) == ("guardrail" in capture.name)
    assert bool(frames) != bool(broken)
