"""Bedrock's Converse, streamed in binary frames.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator

from wiretape.proxy.dialects.base import Dialect, no_results, words
from wiretape.traces.types import Json

__all__ = ["DIALECT"]

_USAGE = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}


def _whole(text: str, model: str, response_id: str) -> Json:
    message = {"role": "assistant", "content": [{"text": text}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": _USAGE, "metrics": {"latencyMs": 0}}


def _stream(text: str, model: str, response_id: str) -> Iterator[bytes]:
    yield _event("messageStart", {"role": "assistant"})
    for word in words(text):
        yield _event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": word}})
    yield _event("contentBlockStop", {"contentBlockIndex": 0})
    yield _event("messageStop", {"stopReason": "end_turn"})
    yield _event("metadata", {"usage": _USAGE, "metrics": {"latencyMs": 0}})


def _event(kind: str, payload: Json) -> bytes:
    return _frame({":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload)


def _error(kept: bytes, code: str, message: str) -> bytes:
    kind = {":exception-type": "serviceUnavailableException", ":content-type": "application/json"}
    return _frame({**kind, ":message-type": "exception"}, {"message": message})


def _frame(headers: dict[str, str], payload: Json) -> bytes:
    """https://smithy.io/2.0/aws/amazon-eventstream.html: lengths, their checksum, headers, payload, checksum of it all."""
    packed = b"".join(
        struct.pack(">B", len(name)) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    body = json.dumps(payload, ensure_ascii=False).encode()
    prelude = struct.pack(">II", 16 + len(packed) + len(body), len(packed))
    start = prelude + struct.pack(">I", zlib.crc32(prelude)) + packed + body
    return start + struct.pack(">I", zlib.crc32(start))


DIALECT = Dialect(
    _whole,
    _stream,
    _error,
    no_results,
    streams=lambda path, _: path.endswith("/converse-stream"),
    stream_type="application/vnd.amazon.eventstream",
)
