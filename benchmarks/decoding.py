"""Whether reading a stream takes time in proportion to its length: `python benchmarks/decoding.py`.

For each kind of stream, the time that one of 4 n events takes over the time of one of n, in one run: 4 where it is linear, 16
where it is quadratic. Fed in pieces of 700 bytes, as a network would; processor time, the best of three.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.frames import event

from wiretape.traces.decoders import DECODERS
from wiretape.traces.types import Request

EVENTS, TIMES, PIECE = 4_000, 4, 700


def sse(value: object) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def chat(n: int) -> bytes:
    return b"".join(sse({"choices": [{"index": 0, "delta": {"content": f"word {at} "}}]}) for at in range(n))


def tool(n: int) -> bytes:
    """One call whose arguments come in n pieces."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": "'}}
    pieces = ({"index": 0, "function": {"arguments": f"piece {at} "}} for at in range(n))
    return b"".join(sse({"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]}) for each in (call, *pieces))


def messages(n: int) -> bytes:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    return b"".join(map(sse, [start, *[delta] * n]))


def responses(n: int) -> bytes:
    return b"".join(
        map(sse, [{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "word "}] * n)
    )


def array(n: int) -> bytes:
    element = json.dumps({"candidates": [{"index": 0, "content": {"parts": [{"text": "word "}]}}]})
    return f"[{','.join([element] * n)}".encode()


def lines(n: int) -> bytes:
    return (json.dumps({"model": "m", "message": {"content": "word "}, "done": False}) + "\n").encode() * n


def frames(n: int) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "word "}}) * n


def wrapped(n: int) -> bytes:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
    return event("chunk", {"bytes": base64.b64encode(json.dumps(delta).encode()).decode()}) * n


STREAMS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "chat": ("openai-chat", chat),
    "chat, one call": ("openai-chat", tool),
    "messages": ("anthropic-messages", messages),
    "responses": ("openai-responses", responses),
    "array that grows": ("gemini", array),
    "lines of JSON": ("ollama", lines),
    "frames": ("bedrock-converse", frames),
    "frames, wrapped": ("bedrock-invoke", wrapped),
}
ASK = Request("POST", "https://a.test/", (), b'{"anthropic_version": "x", "messages": []}')


def seconds(api: str, body: bytes) -> float:
    began = time.process_time()
    reader = DECODERS[api].reader(ASK, 200, None)
    for at in range(0, len(body), PIECE):
        reader.feed(body[at : at + PIECE])
    reader.view()
    return time.process_time() - began


def main() -> None:
    print(f"{'stream':20} events    MB/s  time of {TIMES} n over time of n")
    for name, (api, stream) in STREAMS.items():
        short, long = stream(EVENTS), stream(EVENTS * TIMES)
        few, many = (min(seconds(api, body) for _ in range(3)) for body in (short, long))
        print(f"{name:20} {EVENTS:6} {len(long) / many / 1e6:7.1f}  {many / few:.1f}")


if __name__ == "__main__":
    main()
