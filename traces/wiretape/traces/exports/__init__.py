"""The formats that a recording is written in: one a file, values in, bytes out, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wiretape.traces.cost import Prices
from wiretape.traces.exports import har, jsonl, otlp, text
from wiretape.traces.exports.recorded import Recorded

__all__ = ["EXPORTS"]

EXPORTS: dict[str, Callable[[Recorded, Prices], Iterator[bytes]]] = {
    "har": har.export,
    "jsonl": jsonl.export,
    "otlp": otlp.export,
    "text": text.export,
}
"""Name → (recording, prices) → the file, in pieces."""
