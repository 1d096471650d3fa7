"""The first reading of a foreign file: whether all of it can be kept, and what is to be told of each of its entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from wiretape.traces.errors import StoreError, UsageError, WiretapeError
from wiretape.traces.imports.items import Importer, Item
from wiretape.traces.redact import Redactor
from wiretape.traces.types import Json

__all__ = ["Imported", "Outcome", "opened", "read_through"]


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
    lost: bool = False
    """It is refused because the file has lost a part of it."""
    started_at: float = 0.0
    """In seconds since the epoch; 0.0 where the file does not say."""

    @property
    def status(self) -> str:
        return "refused" if self.refused else "taken_with_loss" if self.losses else "taken"


@dataclass(frozen=True)
class Imported:
    """What became of one file; where it was refused, `error` says why and `recording` is None."""

    file: Path
    items: tuple[Outcome, ...] = ()
    recording: str | None = None
    error: WiretapeError | None = None

    @property
    def started_at(self) -> float:
        return min((each.started_at for each in self.items if each.started_at), default=0.0)


def read_through(importer: Importer, path: Path, redactor: Redactor) -> Imported:
    """Keeps nothing of the file in memory but what is to be told."""
    try:
        with opened(path) as file:
            outcomes = tuple(_outcomes(importer(file, str(path)), redactor))
    except WiretapeError as error:
        return Imported(path, error=error)
    if all(each.refused for each in outcomes):
        why = f" ({outcomes[0].refused})" if outcomes else ""
        return Imported(path, error=StoreError(f"{path}: there is nothing in it that a recording could hold{why}."))
    return Imported(path, _numbered(outcomes))


def opened(path: Path) -> BinaryIO:
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


def _outcomes(entries: Iterator[Item], redactor: Redactor) -> Iterator[Outcome]:
    for item in entries:
        if item.exchange:
            request = item.exchange.request
            what, started = f"{request.method} {redactor.url(request.url)}", item.exchange.started_at
            yield Outcome(item.number, item.number, what, item.losses, started_at=started)
        elif item.recording is None:
            step = _kind(item.event) if item.event else ""
            yield Outcome(item.number, None, step, item.losses, item.refused, item.lost)


def _kind(event: dict[str, Json]) -> str:
    """The kind of a step that is kept as an event, else the event's own type."""
    step = event.get("step")
    return str(step.get("kind") if isinstance(step, dict) else event.get("type"))


def _numbered(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Exchanges by the start of their request, as a recorder numbers them; by their order where some start is unknown."""
    exchanges = [each for each in outcomes if each.seq is not None]
    if all(each.started_at for each in exchanges):
        exchanges.sort(key=lambda each: each.started_at)
    seqs = {each.item: seq for seq, each in enumerate(exchanges, 1)}
    return tuple(replace(each, seq=seqs.get(each.item)) for each in outcomes)
