"""What an importer makes of a file: its entries one by one, each with what was lost on the way or why it is not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from wiretape.traces.errors import InvalidFile
from wiretape.traces.types import End, Exchange, Json, RecordingInfo

__all__ = ["Importer", "Item", "Losses", "Lost", "Read", "Unkept", "end_of", "items", "whole"]

type Losses = tuple[str, ...]
"""A phrase for each thing that the exchange had and the file, or the store, does not hold."""
type Read = tuple[Exchange, Losses]
type Importer = Callable[[BinaryIO, str], Iterator[Item]]
"""(a file to be read from start to end, what sentences call it) → its entries. It raises InvalidFile where the file does not
fit, StoreError where it is damaged; the entries before that are then worth nothing."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a file: an exchange, or an agent's event, or, where it is refused, neither."""

    number: int
    """From 1, in the order of the file."""
    exchange: Exchange | None = None
    """Its `seq` is 0 and an unknown start 0.0: whoever stores it knows better."""
    event: dict[str, Json] | None = None
    at: float | None = None
    """When the event was sent, in seconds since the epoch; None where the file does not say."""
    session: str = ""
    """Of the event."""
    recording: RecordingInfo | None = None
    """What the file says of the recording as a whole; it is no entry of its own."""
    losses: Losses = ()
    refused: str | None = None
    """Why it is nothing that a recording holds."""
    lost: bool = False
    """It is refused because the file has lost a part of it."""


class Unkept(Exception):
    """This entry is nothing that a recording holds; the rest of the file may be."""


class Lost(Unkept):
    """It had a body that is not in the file; what is served later must not be an empty answer."""


def items[T](entries: Iterable[T], read: Callable[[T], Read]) -> Iterator[Item]:
    for number, entry in enumerate(entries, 1):
        try:
            exchange, losses = read(entry)
        except Unkept as why:
            yield Item(number, refused=str(why), lost=isinstance(why, Lost))
        else:
            yield Item(number, exchange, losses=losses)


def whole(file: BinaryIO, path: str, most: int) -> bytes:
    """The bytes of a file that can only be read at once. InvalidFile where it has more than `most`."""
    data = file.read(most + 1)
    if len(data) > most:
        raise InvalidFile(path, f"the file is larger than {most >> 20} MiB, the most that this format is read with; split it")
    return data


_WORDS: tuple[tuple[str, End], ...] = (
    ("client disconnected", End.CLIENT_CLOSED),
    ("reset by client", End.CLIENT_CLOSED),
    ("err_aborted", End.CLIENT_CLOSED),
    ("ns_binding_aborted", End.CLIENT_CLOSED),
    ("timeout", End.TIMEOUT),
    ("timed out", End.TIMEOUT),
    ("timed_out", End.TIMEOUT),
    ("reset", End.UPSTREAM_RESET),
)
"""What browsers and mitmproxy say of an exchange that failed → what had happened; the first that fits."""


def end_of(error: str, *, answered: bool) -> End:
    """How an exchange ended of which an error is told."""
    said = error.lower()
    other = End.UPSTREAM_TRUNCATED if answered else End.REFUSED
    return next((end for word, end in _WORDS if word in said), other)
