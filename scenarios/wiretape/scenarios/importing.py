"""The job behind `replay import`: files of other recorders become recordings of a store, each file wholly or not at all.

A file is read twice: once to see that all of it can be kept, then into a copy of the store, which is closed, verified and put
in the store's place at once. Whatever goes wrong before that leaves the store as it was, to the byte.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from wiretape.proxy.noise import is_noise
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import Evidence
from wiretape.scenarios.replacing import recover, replace_together
from wiretape.scenarios.session import new_writer, with_secrets
from wiretape.traces.errors import StoreError, UsageError, WiretapeError
from wiretape.traces.guard import open_checked, refuse_unwritable
from wiretape.traces.imports import IMPORTS
from wiretape.traces.imports.items import Item
from wiretape.traces.lock import Lock
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings, TraceSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import Exchange, RecordingInfo

__all__ = ["Imported", "Outcome", "import_files"]

_UNWRITTEN = 8 << 20
"""Bytes handed to the writer before it is waited for: memory stays flat."""


@dataclass(frozen=True)
class Outcome:
    """What became of one entry of a file."""

    item: int
    seq: int | None
    """Its exchange's number in the recording."""
    what: str
    """Method and URL, redacted, or the kind of its step."""
    losses: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def status(self) -> str:
        return "refused" if self.refused else "taken_with_loss" if self.losses else "taken"


@dataclass(frozen=True)
class Imported:
    """What became of one file; where it was refused, `error` says why and `recording` is None."""

    file: Path
    items: tuple[Outcome, ...] = ()
    started_at: float = 0.0
    """Of its first exchange, in seconds since the epoch; 0.0 where the file does not say."""
    recording: str | None = None
    error: WiretapeError | None = None


@dataclass(frozen=True)
class _Job:
    format: str
    redact: RedactSettings
    noise: tuple[str, ...]

    def entries(self, file: BinaryIO, path: Path) -> Iterator[Item]:
        return IMPORTS[self.format](file, str(path))


def import_files(format: str, files: Sequence[Path], into: Path, config: Config) -> tuple[Imported, ...]:
    """UsageError or StoreError where the store cannot be written; what is wrong with a file stands in its Imported."""
    if format not in IMPORTS:
        raise UsageError(f"expected a format ({', '.join(sorted(IMPORTS))}), got {format!r}.")
    job = _Job(format, with_secrets(config.redact_settings()), config["noise"])
    checked = tuple(_checked(job, path) for path in files)
    if all(each.error for each in checked):
        return checked
    target = Path(os.path.realpath(into))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return _locked(job, checked, target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{target}: this store cannot be written ({error}). It is as it was: free some space, or choose another place."
        ) from None


def _locked(job: _Job, checked: Sequence[Imported], target: Path) -> tuple[Imported, ...]:
    lock = Lock(target)
    try:
        recover(target)
        return _stored(job, checked, target)
    finally:
        lock.release()


# ---------------------------------------------------------------- first reading: can all of it be kept


def _checked(job: _Job, path: Path) -> Imported:
    started: list[float] = []
    try:
        with _opened(path) as file:
            outcomes = tuple(_outcomes(job.entries(file, path), Redactor(job.redact), started))
        if all(each.refused for each in outcomes):
            why = f" ({outcomes[0].refused})" if outcomes else ""
            raise StoreError(f"{path}: there is nothing in it that a recording could hold{why}.")
    except WiretapeError as error:
        return Imported(path, error=error)
    return Imported(path, outcomes, min(filter(None, started), default=0.0))


def _opened(path: Path) -> BinaryIO:
    if not path.exists():
        raise UsageError(f"{path}: there is no such file.")
    if not path.is_file():
        raise UsageError(f"{path}: expected a file, got a folder or a device. Name the file itself.")
    if path.stat().st_size == 0:
        raise StoreError(f"{path}: this file is empty. Make it anew, or take it from version control or a copy.")
    try:
        return path.open("rb")
    except OSError as error:
        raise StoreError(f"{path}: this file cannot be read ({error.strerror}). Change its permissions.") from None


def _outcomes(entries: Iterator[Item], redactor: Redactor, started: list[float]) -> Iterator[Outcome]:
    """What is to be told of each entry; adds when its exchange started."""
    seqs = count(1)
    for item in entries:
        if item.exchange:
            started.append(item.exchange.started_at)
            what = f"{item.exchange.request.method} {redactor.url(item.exchange.request.url)}"
            yield Outcome(item.number, next(seqs), what, item.losses)
        else:
            step = item.event["step"]["kind"] if item.event else ""
            yield Outcome(item.number, None, step, item.losses, item.refused)


# ---------------------------------------------------------------- second reading: into the store


def _stored(job: _Job, checked: Sequence[Imported], target: Path) -> tuple[Imported, ...]:
    beside = Path(tempfile.mkdtemp(prefix=f".{target.stem}-", dir=target.parent))
    try:
        copy = beside / target.name
        taken = _copied(target, copy)
        done = []
        for each in checked:
            name = None if each.error else _free(each.file.stem, taken)
            if name is not None:
                taken.add(name)
                _write(job, each, copy, name)
            done.append(replace(each, recording=name))
        replace_together({copy: target})
        return tuple(done)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _copied(target: Path, copy: Path) -> set[str]:
    """Copy a store that is there, also one whose writer died; the names of its recordings."""
    if not target.exists() or (target.is_file() and target.stat().st_size == 0):
        return set()
    with closing(open_checked(target)) as old, closing(sqlite3.connect(copy)) as new:
        refuse_unwritable(target)
        old.backup(new)
    shutil.copymode(target, copy)
    with Store.open(copy) as store:
        return {info.name for info in store.recordings()}


def _free(name: str, taken: set[str]) -> str:
    return next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)


def _write(job: _Job, checked: Imported, store: Path, name: str) -> None:
    """As a recording of that name; StoreError where it does not come out as it went in."""
    began = checked.started_at or time.time()
    writer = new_writer(store, name, job.redact, {"imported": job.format, "file": checked.file.name}, began)
    try:
        with _opened(checked.file) as file:
            given = _all_told(writer, job, job.entries(file, checked.file), began)
    finally:
        info = writer.close()
    if writer.failure:
        raise StoreError(writer.failure)
    _verify(store, info, given, checked.file)


def _all_told(writer: Writer, job: _Job, entries: Iterator[Item], began: float) -> dict[int, tuple[bool, bool]]:
    """Each exchange's number → whether its request and its answer have something in their bodies."""
    given: dict[int, tuple[bool, bool]] = {}
    unwritten = 0
    for item in entries:
        if item.event is not None:
            writer.event(began, "", item.event)
        elif item.exchange:
            seq = len(given) + 1
            exchange = replace(item.exchange, seq=seq, started_at=item.exchange.started_at or began)
            _tell(writer, exchange, noise=is_noise(exchange.request.url, job.noise))
            given[seq] = _filled(exchange)
            unwritten += _size(exchange)
        if unwritten > _UNWRITTEN:
            writer.flush()
            unwritten = 0
    return given


def _tell(writer: Writer, exchange: Exchange, *, noise: bool) -> None:
    """What the sidecar would have told the writer while the exchange passed."""
    seq, request, response = exchange.seq, exchange.request, exchange.response
    head = replace(request, body=None)
    writer.begin(seq, head, started_at=exchange.started_at, session=exchange.session, kind=exchange.kind, noise=noise)
    if request.body:
        writer.request_chunk(seq, request.body)
    writer.request_end(seq, request.body is not None)
    if response:
        writer.response(seq, response.status, response.reason, response.http_version, response.headers)
        start = 0
        for at, length in response.chunks:
            writer.chunk(seq, at, response.body[start : start + length])
            start += length
        if response.trailers:
            writer.trailers(seq, response.trailers)
    for message in exchange.messages:
        writer.message(seq, message)
    assert exchange.end is not None
    writer.end(seq, exchange.end, exchange.error, exchange.timings)


def _filled(exchange: Exchange) -> tuple[bool, bool]:
    return bool(exchange.request.body), bool(exchange.response and exchange.response.body)


def _size(exchange: Exchange) -> int:
    bodies = len(exchange.request.body or b"") + len(exchange.response.body if exchange.response else b"")
    return bodies + sum(len(message.data) for message in exchange.messages)


def _verify(path: Path, info: RecordingInfo, given: dict[int, tuple[bool, bool]], file: Path) -> None:
    with Store.open(path) as store:
        evidence = Evidence(path, store, info, None, TraceSettings())
        kept = {exchange.seq: _filled(exchange) for exchange in evidence.exchanges()}
        if kept != given:
            seq = next(seq for seq in given if kept.get(seq) != given[seq])
            raise StoreError(f"{file}: exchange {seq} has lost a body on its way into the store. Please report this.")
        if lost := evidence.lost():
            raise StoreError(f"{file}: {lost[0]}. Please report this.")
