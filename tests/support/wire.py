"""Real exchanges of tests/wire, and readings of an answer that is fed whole, byte by byte and cut at random places."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretape.traces.decoders import DECODERS, detect
from wiretape.traces.types import End, Exchange, Headers, Request, Response

__all__ = ["CAPTURES", "JSON_TYPE", "SSE_TYPE", "Capture", "events", "post", "seen"]

WIRE = Path(__file__).parents[1] / "wire"
JSON_TYPE, SSE_TYPE = "application/json", "text/event-stream"


@dataclass(frozen=True)
class Capture:
    api: str
    name: str
    request: Request
    response: Response
    facts: dict[str, Any]

    @property
    def exchange(self) -> Exchange:
        return Exchange(1, self.request, self.response, end=End.COMPLETE)


def _capture(entry: dict[str, Any]) -> Capture:
    folder = WIRE / entry["api"]
    headers = tuple((name, value) for name, value in entry["headers"])
    request = Request("POST", entry["url"], headers, (folder / f"{entry['name']}.request").read_bytes())
    kind: Headers = (("Content-Type", entry["content_type"]),) if entry["content_type"] else ()
    response = Response(entry["status"], kind, (folder / f"{entry['name']}.response").read_bytes())
    return Capture(entry["api"], entry["name"], request, response, entry["facts"])


_LINES = (WIRE / "captures.jsonl").read_bytes().splitlines()
CAPTURES = {f"{c.api}/{c.name}": c for c in map(_capture, map(json.loads, _LINES))}


def post(url: str, body: Any = None, *headers: tuple[str, str], method: str = "POST") -> Request:
    """A request to `url`; `body`: JSON to be, or bytes."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    return Request(method, url, headers, data)


def events(*values: Any) -> bytes:
    """An event stream: JSON as data, (name, JSON) as a named event, text as it stands."""
    return b"".join(_event(value) for value in values)


def _event(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    name, data = value if isinstance(value, tuple) else (None, value)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def cuts(size: int, rng: random.Random) -> Iterator[Sequence[int]]:
    """Places to cut: nowhere, everywhere, three times at random ones."""
    yield ()
    if size <= 20_000:
        yield range(1, size)
    for _ in range(3):
        yield sorted(rng.sample(range(size), min(size, 12)))


def seen(request: Request, body: bytes, status: int = 200, content_type: str | None = None) -> Any:
    """What the decoder of a request reads in an answer: the same, however it is cut."""
    api = detect(request, content_type)
    assert api is not None, f"nobody claims {request}"
    views = []
    for places in cuts(len(body), random.Random(1)):
        reader = DECODERS[api].reader(request, status, content_type)
        for start, end in zip((0, *places), (*places, len(body)), strict=True):
            reader.feed(body[start:end])
        views.append((reader.view(), reader.complete))
    assert all(view == views[0] for view in views)
    views[0][0].model_dump_json()
    return views[0][0]
