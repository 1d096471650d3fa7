"""What the models of files that people write are made of: strict frozen parts, their texts and names, and what does not fit.

Parts refuse unknown keys and convert nothing (a number is no text). They are validated as JSON is (`model_validate_json`),
where strict pydantic still takes a list for a tuple and a text for an enum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from wiretape.traces.types import Json

__all__ = ["Misfit", "Misfits", "Name", "Part", "SchemaVersion", "Text", "one_of", "refuse", "repeated"]


class Misfit(NamedTuple):
    """Fields that do not fit one another."""

    problem: str
    place: tuple[str | int, ...] = ()
    """From the value that was checked to the field to point at."""


class Misfits(ValueError):
    """What a model's validator raises: all that it found."""

    def __init__(self, found: tuple[Misfit, ...]) -> None:
        super().__init__("; ".join(misfit.problem for misfit in found))
        self.found = found


def refuse(found: Iterable[Misfit]) -> None:
    """Raises Misfits if there are any."""
    if misfits := tuple(found):
        raise Misfits(misfits)


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _one_line(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("expected one line of text without space around it")
    return text


def repeated(names: Iterable[str]) -> tuple[tuple[int, str], ...]:
    """(position, name) of each name that was there before, case set aside."""
    seen: set[str] = set()
    again: list[tuple[int, str]] = []
    for at, name in enumerate(names):
        if name.casefold() in seen:
            again.append((at, name))
        seen.add(name.casefold())
    return tuple(again)


def one_of(given: BaseModel, *names: str) -> Iterator[Misfit]:
    """A misfit unless exactly one of the fields is there and not empty; `json` is the file's name of `json_path`."""
    found = [name for name in names if getattr(given, f"{name}_path" if name == "json" else name)]
    if len(found) != 1:
        yield Misfit(f"expected one of {', '.join(names)}; got {' and '.join(found) or 'none'}")


def _version(value: Json) -> Json:
    if value != 1 or isinstance(value, bool):
        raise ValueError("expected 1, the one version of these files that this wiretape reads")
    return value


type SchemaVersion = Annotated[Literal[1], BeforeValidator(_version)]

type Text = Annotated[str, Field(min_length=1)]

type Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]
