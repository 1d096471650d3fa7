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
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from wiretape.proxy.noise import is_noise
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import Evidence
from wiretape.scenarios.golden import free_name
from wiretape.scenarios.imported import Imported, Outcome, opened, read_through
from wiretape.scenarios.replacing import recover, replace_together
from wiretape.scenarios.retelling import tell
from wiretape.scenarios.session import new_writer, with_secrets
from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.guard import open_checked, refuse_unwritable
from wiretape.traces.imports import IMPORTS
from wiretape.traces.imports.items import Importer, Item
from wiretape.traces.lock import Lock
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings, TraceSettings
from wiretape.traces.store import Store, Writer
from wiretape.traces.types import Exchange, RecordingInfo

__all__ = ["import_files"]

_UNWRITTEN = 8 << 20
"""Bytes handed to the writer before it is waited for: memory stays flat."""


type _Filled = tuple[bool, bool]
"""Whether there is something in the body of a request, of its answer."""


@dataclass(frozen=True)
class _Job:
    format: str
    redact: RedactSettings
    noise: tuple[str, ...]

    @property
    def importer(self) -> Importer:
        return IMPORTS[self.format]


def import_files(format: str, files: Sequence[Path], into: Path, config: Config) -> tuple[Imported, ...]:
    """UsageError or StoreError where the store cannot be written; what is wrong with a file stands in its Imported."""
    if format not in IMPORTS:
        raise UsageError(f"expected a format ({', '.join(sorted(IMPORTS))}), got {format!r}.")
    job = _Job(format, with_secrets(config.redact_settings()), config["noise"])
    checked = tuple(read_through(job.importer, path, Redactor(job.redact)) for path in files)
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


def _stored(job: _Job, checked: Sequence[Imported], target: Path) -> tuple[Imported, ...]:
    beside = Path(tempfile.mkdtemp(prefix=f".{target.stem}-", dir=target.parent))
    try:
        copy = beside / target.name
        taken = _copied(target, copy)
        done = []
        for each in checked:
            name = None if each.error else free_name(_name(job, each), taken)
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


def _name(job: _Job, checked: Imported) -> str:
    """The recording's own where the file says it, else the file's."""
    told = _told(job, checked)
    return told.name if told else checked.file.stem


def _told(job: _Job, checked: Imported) -> RecordingInfo | None:
    """What the file says of the recording as a whole, which it says first or not at all."""
    with opened(checked.file) as file:
        first = next(iter(job.importer(file, str(checked.file))), None)
    return first.recording if first else None


def _write(job: _Job, checked: Imported, store: Path, name: str) -> None:
    """As a recording of that name; StoreError where it does not come out as it went in."""
    told = _told(job, checked)
    began = told.started_at if told else checked.started_at or time.time()
    labels = told.labels if told else {"imported": job.format, "file": checked.file.name}
    writer = new_writer(store, name, job.redact, labels, began)
    try:
        with opened(checked.file) as file:
            entries = (item for item in job.importer(file, str(checked.file)) if item.recording is None)
            given = _all_told(writer, job, zip(entries, checked.items, strict=True), began)
    except ValueError:
        raise StoreError(f"{checked.file}: this file changed while it was read. Import it again.") from None
    finally:
        info = writer.close()
    if writer.failure:
        raise StoreError(writer.failure)
    _verify(store, info, given, checked.file)


def _all_told(writer: Writer, job: _Job, entries: Iterable[tuple[Item, Outcome]], began: float) -> dict[int, _Filled]:
    """Each exchange's number → what of it has something in its body."""
    given: dict[int, _Filled] = {}
    unwritten = 0
    for item, outcome in entries:
        if item.event is not None:
            writer.event(began if item.at is None else item.at, item.session, item.event)
        if item.exchange and outcome.seq is not None:
            exchange = replace(item.exchange, seq=outcome.seq, started_at=item.exchange.started_at or began)
            tell(writer, exchange, noise=exchange.noise or is_noise(exchange.request.url, job.noise))
            given[outcome.seq] = _filled(exchange)
            unwritten += _size(exchange)
        if unwritten > _UNWRITTEN:
            writer.flush()
            unwritten = 0
    return given


def _filled(exchange: Exchange) -> _Filled:
    return bool(exchange.request.body), bool(exchange.response and exchange.response.body)


def _size(exchange: Exchange) -> int:
    bodies = len(exchange.request.body or b"") + len(exchange.response.body if exchange.response else b"")
    return bodies + sum(len(message.data) for message in exchange.messages)


def _verify(path: Path, info: RecordingInfo, given: dict[int, _Filled], file: Path) -> None:
    with Store.open(path) as store:
        evidence = Evidence(path, store, info, None, TraceSettings())
        kept = {exchange.seq: _filled(exchange) for exchange in evidence.exchanges()}
        if kept != given:
            seq = next(seq for seq in given if kept.get(seq) != given[seq])
            raise StoreError(f"{file}: exchange {seq} has lost a body on its way into the store. Please report this.")
        if lost := evidence.lost():
            raise StoreError(f"{file}: {lost[0]}. Please report this.")
