"""Frames of AWS event streams, made by the specification (https://smithy.io/2.0/aws/amazon-eventstream.html)."""

import binascii
import json
import struct

__all__ = ["event", "framed"]


def framed(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 12 + len(head) + len(payload) + 4, len(head))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + head + payload
    return body + struct.pack(">I", binascii.crc32(body))


def event(name: str, value: object) -> bytes:
    return framed({":event-type": name, ":message-type": "event"}, json.dumps(value).encode())
