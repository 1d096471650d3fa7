from __future__ import annotations

import pytest

from wiretape.proxy.tapframes import Frame, FrameReader, Kind, LineReader

FRAMES = [Frame(Kind.HELLO, 0, b"{}"), Frame(Kind.CLIENT, 7, b""), Frame(Kind.SERVER, 2**40, b"x" * 300), Frame(Kind.END, 9)]


@pytest.mark.parametrize("size", [1, 2, 13, 1000])
def test_frames_come_out_however_their_bytes_are_cut(size: int) -> None:
    sent, read = b"".join(map(bytes, FRAMES)), FrameReader()
    assert [frame for at in range(0, len(sent), size) for frame in read.feed(sent[at : at + size])] == FRAMES


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="valid Kind"):
        list(FrameReader().feed(b"GET / HTTP/1.1\r\n\r\n"))


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_lines_come_out_however_their_bytes_are_cut(size: int) -> None:
    sent, read = b"one\r\n\ntwo\xff\nno end", LineReader()
    assert [line for at in range(0, len(sent), size) for line in read.feed(sent[at : at + size])] == [b"one\r", b"", b"two\xff"]
    assert (read.close(), read.close()) == ([b"no end"], [])
