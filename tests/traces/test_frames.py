from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.frames import event, framed

from wiretape.traces.decoders.eventstream import FrameReader
from wiretape.traces.frames import FrameRedactor, stream_redactor
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.streams import StreamRedactor
from wiretape.traces.types import Headers, Json

AWS: Headers = (("Content-Type", "application/vnd.amazon.eventstream"),)
SECRET = "s3cr3t-canary-7f3a91c2d4"


def converse(text: str) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}, "p": "abc"})


def invoke(text: str) -> bytes:
    inner = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return event("chunk", {"bytes": base64.b64encode(json.dumps(inner).encode()).decode(), "p": "abcdef"})


def said(payload: bytes) -> str:
    value: Json = json.loads(payload)
    assert isinstance(value, dict)
    inner = json.loads(base64.b64decode(str(value["bytes"]))) if "bytes" in value else value
    text: str = inner["delta"]["text"]
    return text


def fed(body: bytes, sizes: list[int]) -> list[bytes]:
    stream = stream_redactor(Redactor(RedactSettings(values=(SECRET,))), AWS)
    out, at = list[bytes](), 0
    for size in sizes:
        out += stream.feed(body[at : at + size])
        at += size
    return out + stream.close()


def cuts(data: st.DataObject, size: int) -> list[int]:
    places = sorted(data.draw(st.lists(st.integers(0, size), max_size=6)))
    return [end - start for start, end in zip([0, *places], [*places, size], strict=True)]


@pytest.mark.parametrize("frame", [converse, invoke])
@given(data=st.data())
def test_a_secret_is_hidden_however_it_is_cut_over_frames_and_chunks(frame: object, data: st.DataObject) -> None:
    text, at, frames = f"It is {SECRET}!", 0, list[bytes]()
    for size in cuts(data, len(text)):
        frames.append(frame(text[at : at + size]))  # type: ignore[operator]
        at += size
    body = b"".join(frames)
    sizes = cuts(data, len(body))
    out = fed(body, sizes)
    assert len(out) == len(sizes)
    reader = FrameReader()
    found = reader.feed(b"".join(out))
    assert (reader.broken, reader.open, len(found)) == (None, False, len(frames))
    assert "".join(said(each.payload) for each in found).replace("wtredacted0001", "") in ("It is !", "It is s!", "It is s3!")


@pytest.mark.parametrize("frame", [converse, invoke])
def test_frames_without_a_secret_go_out_at_once_and_as_they_came(frame: object) -> None:
    stream = FrameRedactor(Redactor(RedactSettings(values=(SECRET,))))
    data = frame("hello ")  # type: ignore[operator]
    assert stream.feed(data[:9]) == []
    assert stream.feed(data[9:] + data) == [data[:9], data[9:] + data]


def test_what_is_no_frame_is_searched_as_it_is_written() -> None:
    broken = bytearray(converse("hello") + converse(SECRET))
    broken[len(converse("hello")) + 9] ^= 1
    out = fed(bytes(broken), [20, len(broken) - 20])
    assert len(out) == 2
    assert SECRET.encode() not in b"".join(out)
    assert b"".join(out).startswith(converse("hello"))


def test_a_frame_that_was_cut_is_searched_too() -> None:
    data = framed({}, json.dumps({"delta": {"text": SECRET}}).encode())[:-6]
    assert SECRET.encode() not in b"".join(fed(data, [len(data)]))


def test_other_streams_are_no_frames() -> None:
    made = Redactor(RedactSettings())
    assert isinstance(stream_redactor(made, (("Content-Type", "text/event-stream"),)), StreamRedactor)
    assert isinstance(stream_redactor(made, (*AWS, ("Content-Encoding", "gzip"))), StreamRedactor)
