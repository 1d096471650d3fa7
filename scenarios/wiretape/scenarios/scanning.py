"""The job behind `replay scan`: secrets that are left in recordings, and their removal.

What is looked for is what a recording made now would replace: known values, names and shapes. A finding says where, never
what. To mend a store each recording in it is told anew to a writer that redacts; the new file takes the old one's place once
it is whole.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wiretape.scenarios.accept import accept
from wiretape.scenarios.config import Config
from wiretape.scenarios.golden import Golden, databases, replace_text, replace_together
from wiretape.scenarios.retelling import tell
from wiretape.scenarios.session import new_writer, with_secrets
from wiretape.traces.errors import StoreError
from wiretape.traces.frames import stream_redactor
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Store
from wiretape.traces.streams import ConversationRedactor
from wiretape.traces.types import Exchange, Headers, RecordingInfo, Response

__all__ = ["Finding", "mend", "scan"]

_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Finding:
    path: Path
    where: str


def scan(paths: Sequence[Path], config: Config) -> Iterator[Finding]:
    """Stores, and the texts beside them. UsageError where a path is not there, StoreError where a store cannot be read."""
    settings = with_secrets(config.redact_settings())
    for path in databases(paths):
        with Store.open(path) as store:
            for info in store.recordings():
                yield from (Finding(path, f"{info.name}, {where}") for where in _recording(store, info, Redactor(settings)))
        yield from (Finding(text, where) for text in _texts(path) for where in _lines(text, Redactor(settings)))


def mend(path: Path, config: Config) -> None:
    """Replace a store, and the texts beside it, by ones without secrets. StoreError where it cannot be written as it was."""
    settings = with_secrets(config.redact_settings())
    if path.suffix == ".db":
        _mend_store(path, settings)
    else:
        redactor = Redactor(settings)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        replace_text(path, "".join(map(redactor.text, lines)))


# ---------------------------------------------------------------- looking


def _recording(store: Store, info: RecordingInfo, redactor: Redactor) -> Iterator[str]:
    yield from (f"label {key}" for key, value in info.labels.items() if redactor.named(key, value) != value)
    for exchange in store.exchanges(info):
        yield from (f"exchange {exchange.seq}: {where}" for where in _exchange(exchange, redactor))
    for at, (_, _, payload) in enumerate(store.events(info), 1):
        text = json.dumps(payload).encode()
        if redactor.body(text, _JSON) != text:
            yield f"event {at}"


def _exchange(exchange: Exchange, redactor: Redactor) -> Iterator[str]:
    request, response = exchange.request, exchange.response
    if redactor.url(request.url) != request.url:
        yield "URL"
    yield from (f"request header {name}" for name in _changed(request.headers, redactor))
    if request.body and redactor.body(request.body, request.headers) != request.body:
        yield "request body"
    if response:
        yield from (f"response header {name}" for name in _changed((*response.headers, *response.trailers), redactor))
        if _streamed(response, redactor) != response.body:
            yield "response body"
    conversation = ConversationRedactor(redactor)
    kept = [said for message in exchange.messages for said in conversation.feed(message)] + conversation.close()
    yield from (f"message {at}" for at, (old, new) in enumerate(zip(exchange.messages, kept, strict=True), 1) if old != new)
    if exchange.error and redactor.text(exchange.error) != exchange.error:
        yield "error"


def _changed(headers: Headers, redactor: Redactor) -> Iterator[str]:
    return (old[0] for old, new in zip(headers, redactor.headers(headers), strict=True) if old != new)


def _streamed(response: Response, redactor: Redactor) -> bytes:
    stream, at, pieces = stream_redactor(redactor, response.headers), 0, list[bytes]()
    for _, length in response.chunks or ((0, len(response.body)),):
        pieces += stream.feed(response.body[at : at + length])
        at += length
    return b"".join([*pieces, *stream.close()])


def _texts(store: Path) -> Iterator[Path]:
    golden = Golden(store.parent, store.stem)
    return (path for path in (golden.trace, golden.yaml) if path.is_file())


def _lines(path: Path, redactor: Redactor) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return (f"line {at}" for at, line in enumerate(lines, 1) if redactor.text(line) != line)


# ---------------------------------------------------------------- mending


def _mend_store(path: Path, settings: RedactSettings) -> None:
    Golden(path.parent, path.stem).refuse_unfinished()
    beside = Path(tempfile.mkdtemp(prefix=f".{path.stem}-", dir=path.parent))
    try:
        with Store.open(path) as store:
            for info in store.recordings():
                _retell(store, info, beside / path.name, settings)
        replace_together({beside / path.name: path})
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    if Golden(path.parent, path.stem).trace.exists():
        accept(str(path))


def _retell(store: Store, info: RecordingInfo, into: Path, settings: RedactSettings) -> None:
    writer = new_writer(into, info.name, settings, info.labels, info.started_at)
    try:
        for exchange in store.exchanges(info):
            tell(writer, exchange, noise=exchange.noise)
            writer.flush()
        for at, session, payload in store.events(info):
            writer.event(at, session, payload)
    finally:
        writer.close()
    if writer.failure:
        raise StoreError(writer.failure)
