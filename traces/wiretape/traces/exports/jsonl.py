"""JSON Lines, with nothing lost: the recording, then each exchange, then the agent's own events. docs/exports.md has the form.

`imports/jsonl.py` reads the same values back. What is not ASCII is escaped, so that no text can fail to be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wiretape.traces.cost import Prices
from wiretape.traces.exports.exchanges import as_json
from wiretape.traces.exports.recorded import Recorded

__all__ = ["FORMAT", "export"]

FORMAT = 1
"""Of the first line: a reader of another number does not know the form."""


def export(recorded: Recorded, prices: Prices) -> Iterator[bytes]:
    yield _line("recording", {"wiretape": FORMAT, **recorded.info.model_dump(mode="json")})
    for exchange in recorded.exchanges():
        yield _line("exchange", as_json(exchange))
    for at, session, payload in recorded.events():
        yield _line("event", {"at": at, "session": session, "payload": payload})


def _line(kind: str, values: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, **values}, separators=(",", ":")).encode() + b"\n"
