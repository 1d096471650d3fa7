from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.streams import ConversationRedactor, StreamRedactor
from wiretape.traces.types import Headers, Json, Message

SSE: Headers = (("Content-Type", "text/event-stream"),)
NDJSON: Headers = (("Content-Type", "application/x-ndjson"),)
JSON: Headers = (("Content-Type", "application/json"),)
TEXT: Headers = (("Content-Type", "text/plain"),)
KEY = "sk-proj-DUMMYq7Zr1Xv93LmNc5TtPw82KyBdUa4"
SECRET = "s3cr3t-canary-7f3a91c2d4"


def redactor(**settings: object) -> Redactor:
    return Redactor(RedactSettings.model_validate(settings))


def fed(text: bytes, sizes: list[int], headers: Headers = SSE, **settings: object) -> list[bytes]:
    stream = StreamRedactor(redactor(**settings), headers)
    out, at = list[bytes](), 0
    for size in sizes:
        out += stream.feed(text[at : at + size])
        at += size
    return out + stream.close()


@given(st.data())
def test_a_stream_gives_one_piece_for_each_and_hides_a_secret_that_is_cut_anywhere(data: st.DataObject) -> None:
    text = f'data: {{"note": "the key {KEY} works"}}\n\ndata: [DONE]\n\n'.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    out = fed(text, sizes)
    assert len(out) == len(sizes)
    assert b"".join(out) == text.replace(KEY.encode(), b"sk-wtredacted0001")


def test_a_stream_lets_whole_lines_go_at_once() -> None:
    stream = StreamRedactor(redactor(), SSE)
    assert stream.feed(b"data: 1\n\n") == [b"data: 1\n\n"]
    assert stream.feed(b"data: sk-proj-") == []
    assert stream.feed(b"DUMMYq7Zr1Xv93LmNc5TtPw.\n\n") == [b"data: sk-wtredacted0001", b".\n\n"]


def test_a_stream_waits_where_a_secret_may_go_on_in_the_next_event() -> None:
    stream = StreamRedactor(redactor(), SSE)
    assert stream.feed(b"data: sk-proj-DUMMYq7Zr1Xv93LmNc5TtPw\n\n") == []
    assert stream.feed(b"data: .\n\n") == [b"data: sk-wtredacted0001\n\n", b"data: .\n\n"]


def test_json_is_held_until_it_is_whole() -> None:
    assert fed(f'{{"token": "{SECRET}"}}'.encode(), [5, 12, 60], JSON) == [b'{"tok', b'en": "wtredacted0001', b'"}']


def test_what_is_no_text_goes_through_as_it_is() -> None:
    assert fed(b"\x00\xff" * 9, [3, 5, 10], (("Content-Type", "audio/mpeg"),)) == [
        b"\x00\xff\x00",
        b"\xff\x00\xff\x00\xff",
        b"\x00\xff" * 5,
    ]


# secrets that are cut over events


def sse(*events: Json) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def lines(*events: Json) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def listed(*events: Json) -> bytes:
    return json.dumps(list(events)).encode()


def called(text: str) -> Json:
    return {"choices": [{"delta": {"tool_calls": [{"index": 1, "function": {"arguments": text}}]}}]}


def blocks(kind: str, name: str) -> Callable[[str], Json]:
    return lambda text: {"type": "content_block_delta", "index": 2, "delta": {"type": kind, name: text}}


SHAPES: dict[str, tuple[Callable[..., bytes], Headers, Callable[[str], Json]]] = {
    "chat": (sse, SSE, lambda text: {"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}),
    "arguments": (sse, SSE, called),
    "text_delta": (sse, SSE, blocks("text_delta", "text")),
    "partial_json": (sse, SSE, blocks("input_json_delta", "partial_json")),
    "responses": (sse, SSE, lambda text: {"type": "response.output_text.delta", "output_index": 1, "delta": text}),
    "gemini": (sse, SSE, lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}, "index": 0}]}),
    "gemini, a list": (listed, JSON, lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}}]}),
    "ollama": (lines, NDJSON, lambda text: {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}),
}


def texts(value: Json) -> str:
    """The strings of the deltas, in order."""
    if isinstance(value, dict):
        return "".join(texts(each) for name, each in value.items() if name not in ("id", "type", "item_id", "model", "role"))
    if isinstance(value, list):
        return "".join(map(texts, value))
    return value if isinstance(value, str) else ""


def events_of(body: bytes) -> list[Json]:
    if body.startswith(b"["):
        found: list[Json] = json.loads(body)
        return found
    return [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line]


def pieces_of(data: st.DataObject, text: str, most: int = 9) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=most)))
    return [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_a_secret_is_hidden_however_it_is_cut_over_events_and_chunks(shape: str, data: st.DataObject) -> None:
    write, headers, event = SHAPES[shape]
    said = f"The key: {SECRET}, and {KEY}."
    body = write(*(event(piece) for piece in pieces_of(data, said)))
    sizes = [len(piece) for piece in pieces_of(data, body.decode())]
    out = fed(body, sizes, headers, values=[SECRET])
    assert len(out) == len(sizes)
    assert len(events_of(b"".join(out))) == len(events_of(body))
    told = "".join(map(texts, events_of(b"".join(out))))
    assert SECRET not in told
    assert KEY not in told
    assert told.startswith("The key: ")
    assert told.endswith(".")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_placeholder_stands_in_the_first_delta_and_the_rest_are_empty(shape: str) -> None:
    write, headers, event = SHAPES[shape]
    cut = ("It is ", "s3cr3t", "-can", "ary-7f3a91c2d4!", " Bye")
    body = write(*map(event, cut))
    out = b"".join(fed(body, [len(body)], headers, values=[SECRET]))
    assert [texts(each) for each in events_of(out)] == ["It is ", "wtredacted0001", "", "!", " Bye"]


def test_interleaved_texts_are_told_apart_by_their_index() -> None:
    def event(index: int, text: str) -> Json:
        return {"choices": [{"index": index, "delta": {"content": text}}]}

    body = sse(event(0, SECRET[:9]), event(1, "other"), event(0, SECRET[9:]), event(1, " text"))
    out = b"".join(fed(body, [len(body)], values=[SECRET]))
    assert [texts(each) for each in events_of(out)] == ["wtredacted0001", "other", "", " text"]


def test_an_index_that_counts_the_events_parts_nothing() -> None:
    body = sse(*({"index": at, "token": {"text": piece}} for at, piece in enumerate((SECRET[:9], SECRET[9:12], SECRET[12:]))))
    out = b"".join(fed(body, [len(body)], values=[SECRET]))
    assert [texts(each) for each in events_of(out)] == ["wtredacted0001", "", ""]


@given(data=st.data())
def test_a_member_with_a_secret_name_is_found_in_arguments_that_come_in_fragments(data: st.DataObject) -> None:
    arguments = json.dumps({"user": "me", "password": "correct horse battery", "n": 1})
    body = sse(*(SHAPES["partial_json"][2](piece) for piece in pieces_of(data, arguments)))
    out = b"".join(fed(body, [len(body)]))
    assert json.loads("".join(texts(each) for each in events_of(out))) == {"user": "me", "password": "wtredacted0001", "n": 1}


def test_a_password_whose_stream_was_cut_off_is_hidden_as_far_as_it_came() -> None:
    body = sse(*map(SHAPES["partial_json"][2], ('{"passw', 'ord": "correct ', "horse batt")))
    out = b"".join(fed(body, [len(body)]))
    assert "".join(texts(each) for each in events_of(out)) == '{"password": "wtredacted0001'


@given(data=st.data())
def test_a_secret_is_found_behind_escapes_that_are_cut_themselves(data: st.DataObject) -> None:
    """Whatever the secret is: in arguments, which are JSON inside the JSON of each event."""
    letters = data.draw(st.sampled_from(["ab/é\n %+\\", "xé😀-", "ab"]))
    drawn = data.draw(st.lists(st.text(letters, min_size=8, max_size=20), min_size=1, max_size=4))
    known = [each.strip() for each in drawn if len(each.strip()) >= 8]
    assume(known)
    inner = json.dumps({"note": f"{data.draw(st.text(letters, max_size=5))}{known[0]} ok"})
    body = sse(*(SHAPES["partial_json"][2](piece) for piece in pieces_of(data, inner, most=20)))
    out = b"".join(fed(body, [len(body)], values=known))
    told = json.loads("".join(texts(each) for each in events_of(out)))["note"]
    assert known[0] not in told
    assert "wtredacted0001" in told


@given(data=st.data())
def test_a_secret_of_several_lines_is_hidden_in_plain_text(data: st.DataObject) -> None:
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----"
    body = f"first\n{pem}\nlast\n"
    sizes = [len(piece) for piece in pieces_of(data, body)]
    out = fed(body.encode(), sizes, TEXT, values=[pem])
    assert len(out) == len(sizes)
    told = b"".join(out).decode()
    assert "MIIEvQ" not in told
    assert told.startswith("first\n")
    assert told.endswith("\nlast\n")


@pytest.mark.parametrize("kind", ["image/png", "audio/mpeg", "video/mp4"])
@given(data=st.data())
def test_a_known_value_is_found_in_what_is_no_text(kind: str, data: st.DataObject) -> None:
    body = b"\x89PNG\0tEXt" + SECRET.encode() + b"\0\xff"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    sizes = [b - a for a, b in pairwise([0, *cuts, len(body)])]
    out = fed(body, sizes, (("Content-Type", kind),), values=[SECRET])
    assert len(out) == len(sizes)
    assert SECRET.encode() not in b"".join(out)
    assert b"wtredacted0001" in b"".join(out)


def test_it_holds_back_so_much_and_no_more_for_a_secret_that_may_never_end() -> None:
    stream = StreamRedactor(redactor(values=[SECRET]), SSE)
    assert stream.feed(sse({"a": SECRET[:14]})) == []
    out = [piece for _ in range(400) for piece in stream.feed(sse({"b": "x" * 1000}))]
    assert len(out) == 401
    rest = b"".join(out + stream.feed(sse({"a": SECRET[14:]})) + stream.close())
    assert "".join(texts(each) for each in events_of(rest) if "a" in each).startswith("wtredacted")  # type: ignore[operator]
    assert SECRET[:14].encode() not in rest
    assert SECRET[14:].encode() not in rest


def test_a_word_that_ends_as_a_secret_begins_holds_nothing_back() -> None:
    stream = StreamRedactor(redactor(values=["tesseract-0001"]), SSE)
    line = sse({"role": "assistant", "model": "latte"})
    assert stream.feed(line) == [line]


# messages of a socket


@given(data=st.data())
def test_a_secret_is_hidden_however_it_is_cut_over_messages(data: st.DataObject) -> None:
    made = ConversationRedactor(redactor(values=[SECRET]))
    said = [{"type": "d", "delta": piece} for piece in pieces_of(data, f"It is {SECRET}!")]
    sent = [Message(at, "server", "text", json.dumps(each).encode()) for at, each in enumerate(said)]
    sent.insert(data.draw(st.integers(0, len(sent))), Message(99, "client", "text", b'{"type":"d","delta":"hello"}'))
    out = [each for message in sent for each in made.feed(message)] + made.close()
    assert [(each.at, each.sender, each.type) for each in out] == [(each.at, each.sender, each.type) for each in sent]
    told = "".join(texts(json.loads(each.data)) for each in out if each.sender == "server")
    assert SECRET not in told
    assert told.startswith("It is ")
    assert told.endswith("!")


def test_a_message_waits_only_for_what_may_be_a_secret() -> None:
    made = ConversationRedactor(redactor(values=[SECRET]))
    plain = Message(1, "server", "text", b'{"delta":"hello"}')
    begun = Message(2, "server", "text", b'{"delta":"s3cr3t"}')
    assert made.feed(plain) == [plain]
    assert made.feed(begun) == []
    assert made.feed(plain) == [begun, plain]
