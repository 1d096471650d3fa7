"""One mapping of a foreign file: each value is asked for by its type, and a wrong one is a sentence with its place.

Sentences name places and types, never values: a stranger's file holds secrets that nobody has redacted yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiretape.traces.errors import InvalidFile
from wiretape.traces.types import Json

__all__ = ["Fields"]


@dataclass(frozen=True, slots=True)
class Fields:
    path: str
    place: str
    """`log.entries[3]`: how people write where it stands."""
    values: dict[str, Json]

    @classmethod
    def of(cls, value: Json, path: str, place: str = "") -> Fields:
        if not isinstance(value, dict):
            raise InvalidFile(path, f"expected a mapping, got {_kind(value)}", field=place)
        return cls(path, place, value)

    def fault(self, name: str, problem: str) -> InvalidFile:
        return InvalidFile(self.path, problem, field=f"{self.place}.{name}".strip("."))

    def __getitem__(self, name: str) -> Json:
        return self.values.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Required without a default, which also stands for null."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.fault(name, f"expected text, got {_kind(value)}")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
            raise self.fault(name, f"expected a number, got {_kind(value)}")
        return value

    def whole(self, name: str, default: int) -> int:
        return int(self.number(name, default))

    def within(self, name: str) -> Fields:
        """A mapping that is there; an absent one is empty."""
        return Fields.of(self.values.get(name) or {}, self.path, f"{self.place}.{name}".strip("."))

    def required(self, name: str) -> Fields:
        if name not in self.values:
            raise self.fault(name, "expected a mapping, and it is not there")
        return Fields.of(self.values[name], self.path, f"{self.place}.{name}".strip("."))

    def each(self, name: str) -> Iterator[Fields]:
        """The mappings of a list; an absent list is empty."""
        found = self.values.get(name) or []
        if not isinstance(found, list):
            raise self.fault(name, f"expected a list, got {_kind(found)}")
        for at, value in enumerate(found):
            yield Fields.of(value, self.path, f"{self.place}.{name}[{at}]".strip("."))


def _kind(value: Json) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bytes: "binary", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
