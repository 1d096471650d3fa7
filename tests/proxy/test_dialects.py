"""The providers' own SDKs read what a rule lets a model say, and raise what it lets go wrong."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
from support.sidecar import Running, mocks, recording

from wiretape.proxy.dialects import DIALECTS
from wiretape.traces.decoders import DECODERS

TEXT = 'It is "4" — or ünf,\nat most.'
RULES = f"""
  - id: says
    where: model
    match: {{model: says}}
    answer: {{text: {json.dumps(TEXT)}}}
  - id: busy
    where: model
    match: {{model: busy}}
    faults: [{{error: {{status: 429, message: slow down}}}}]
  - id: breaks
    where: model
    match: {{model: breaks}}
    answer: {{text: one two three four five six}}
    faults: [{{stream-error: {{after_events: 5, message: lab says no}}}}]
"""
SAYS = [{"role": "user", "content": "Hi"}]


def read_frame(frame: bytes) -> tuple[str, bytes]:
    """(event type, payload), both checksums verified (https://smithy.io/2.0/aws/amazon-eventstream.html)."""
    total, size, check = struct.unpack(">III", frame[:12])
    assert (total, check) == (len(frame), zlib.crc32(frame[:8]))
    assert struct.unpack(">I", frame[-4:])[0] == zlib.crc32(frame[:-4])
    headers = dict(re.findall(rb"[\x01-\x20](:[a-z-]+)\x07\x00[\x00-\xff]([a-zA-Z/]+)", frame[12 : 12 + size]))
    return headers[b":event-type"].decode(), frame[12 + size : -4]


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("dialects")
    with recording(folder / "rec.db", mocks(RULES)) as found:
        yield found


@pytest.fixture
def chat(side: Running) -> openai.OpenAI:
    return openai.OpenAI(api_key="any", base_url=f"{side.sidecar.url}/openai/v1", max_retries=0)


@pytest.fixture
def claude(side: Running) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="any", base_url=f"{side.sidecar.url}/anthropic", max_retries=0)


def test_each_has_a_decoder() -> None:
    assert set(DIALECTS) - {"gemini", "bedrock", "ollama"} <= set(DECODERS)


def test_the_others_say_it_in_their_own_form() -> None:
    gemini, bedrock, ollama = (DIALECTS[name] for name in ("gemini", "bedrock", "ollama"))
    parts = [json.loads(event.removeprefix(b"data: ")) for event in gemini.stream(TEXT, "m", "1")]
    assert "".join(part["candidates"][0]["content"]["parts"][0]["text"] for part in parts) == TEXT
    assert parts[-1]["candidates"][0]["finishReason"] == "STOP"
    lines = [json.loads(line) for line in ollama.stream(TEXT, "m", "1")]
    assert ("".join(line["message"]["content"] for line in lines), lines[-1]["done"]) == (TEXT, True)
    frames = [read_frame(frame) for frame in bedrock.stream(TEXT, "m", "1")]
    assert "".join(json.loads(body)["delta"]["text"] for kind, body in frames if kind == "contentBlockDelta") == TEXT


def test_chat_completions(chat: openai.OpenAI) -> None:
    whole = chat.chat.completions.create(model="says", messages=SAYS)  # type: ignore[arg-type]
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == (TEXT, "stop")
    with chat.chat.completions.create(model="says", messages=SAYS, stream=True) as events:  # type: ignore[arg-type]
        pieces = [event.choices[0].delta.content or "" for event in events]
    assert "".join(pieces) == TEXT
    assert len(pieces) > 4


def test_responses(chat: openai.OpenAI) -> None:
    assert chat.responses.create(model="says", input="Hi").output_text == TEXT
    with chat.responses.stream(model="says", input="Hi") as events:
        assert events.get_final_response().output_text == TEXT


def test_messages(claude: anthropic.Anthropic) -> None:
    whole = claude.messages.create(model="says", max_tokens=9, messages=SAYS)  # type: ignore[arg-type]
    assert (whole.content[0].text, whole.stop_reason) == (TEXT, "end_turn")  # type: ignore[union-attr]
    with claude.messages.stream(model="says", max_tokens=9, messages=SAYS) as events:  # type: ignore[arg-type]
        assert events.get_final_text() == TEXT


def test_a_rate_limit_is_raised_as_one(chat: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    with pytest.raises(openai.RateLimitError, match="slow down"):
        chat.chat.completions.create(model="busy", messages=SAYS)  # type: ignore[arg-type]
    with pytest.raises(anthropic.RateLimitError, match="slow down"):
        claude.messages.create(model="busy", max_tokens=9, messages=SAYS)  # type: ignore[arg-type]


def test_an_error_within_a_stream_is_raised_after_what_came_before(chat: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    events = chat.chat.completions.create(model="breaks", messages=SAYS, stream=True)  # type: ignore[arg-type]
    assert [next(events).choices[0].delta.content for _ in range(5)] == ["", "one ", "two ", "three ", "four "]
    with pytest.raises(openai.APIError, match="lab says no"):
        next(events)
    with claude.messages.stream(model="breaks", max_tokens=9, messages=SAYS) as stream:  # type: ignore[arg-type]
        assert [next(stream.text_stream) for _ in range(3)] == ["one ", "two ", "three "]
        with pytest.raises(anthropic.APIStatusError, match="lab says no"):
            next(stream.text_stream)
