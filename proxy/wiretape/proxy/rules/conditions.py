"""Conditions of a rule: `{arg: order.id, equals: A-1}`. Numbers compare as numbers; there are no regular expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from wiretape.proxy.rules.subject import Subject
from wiretape.traces.parts import Misfit, Part, Text, refuse
from wiretape.traces.sentences import described
from wiretape.traces.types import Json, header

__all__ = ["ABSENT", "CONDITIONS", "Condition", "at_path"]


class _Absent:
    """What is found where nothing is; null is something."""


ABSENT: Final = _Absent()


def at_path(value: Json, path: str) -> Json:
    """What stands at a dotted path (`items.0.sku`; "" is the value itself), else ABSENT."""
    for part in path.split(".") if path else ():
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def _same(found: Json, wanted: Json) -> bool:
    """As JSON is: 1 is 1.0, but true is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(found == wanted)


def _contains(found: Json, wanted: Json) -> bool:
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    if isinstance(found, list):
        return any(_same(each, wanted) for each in found)
    return isinstance(found, Mapping) and isinstance(wanted, str) and wanted in found


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Json, Json], bool]:
    def holds(found: Json, wanted: Json) -> bool:
        return isinstance(found, int | float) and not isinstance(found, bool) and compare(found, wanted)

    return holds


CONDITIONS: Mapping[str, Callable[[Json, Json], bool]] = {
    "equals": lambda found, wanted: found is not ABSENT and _same(found, wanted),
    "not-equals": lambda found, wanted: found is ABSENT or not _same(found, wanted),
    "contains": _contains,
    "starts-with": lambda found, wanted: isinstance(found, str) and found.startswith(wanted),
    "one-of": lambda found, wanted: found is not ABSENT and any(_same(found, each) for each in wanted),
    "present": lambda found, _: found is not ABSENT,
    "missing": lambda found, _: found is ABSENT,
    "greater": _ordered(lambda found, wanted: found > wanted),
    "at-least": _ordered(lambda found, wanted: found >= wanted),
    "less": _ordered(lambda found, wanted: found < wanted),
    "at-most": _ordered(lambda found, wanted: found <= wanted),
}
"""Name → whether what was found (or ABSENT) is as wanted."""

type _Number = int | float


class Condition(Part):
    arg: Text | None = None
    """A dotted path into the tool's arguments, or the JSON body of an http or model request."""
    query: Text | None = None
    header: Text | None = None
    equals: Json = None
    not_equals: Annotated[Json, Field(alias="not-equals")] = None
    contains: Json = None
    starts_with: Annotated[str, Field(alias="starts-with")] = ""
    one_of: Annotated[tuple[Json, ...], Field(alias="one-of")] = ()
    present: Literal[True] = True
    missing: Literal[True] = True
    greater: _Number = 0
    at_least: Annotated[_Number, Field(alias="at-least")] = 0
    less: _Number = 0
    at_most: Annotated[_Number, Field(alias="at-most")] = 0

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for names in (("arg", "query", "header"), tuple(CONDITIONS)):
            given = [name for name in names if name.replace("-", "_") in self.model_fields_set]
            if len(given) != 1:
                refuse([Misfit(f"expected one of {', '.join(names)}; got {' and '.join(given) or 'none'}")])
        return self

    @property
    def name(self) -> str:
        return next(name for name in CONDITIONS if name.replace("-", "_") in self.model_fields_set)

    @property
    def wanted(self) -> Json:
        return getattr(self, self.name.replace("-", "_"))

    def found(self, subject: Subject) -> Json:
        if self.arg is not None:
            return at_path(subject.args, self.arg)
        text = subject.query.get(self.query) if self.query is not None else header(subject.headers, self.header or "")
        return ABSENT if text is None else self._read(text)

    def _read(self, text: str) -> Json:
        """A query or a header is text; where a number is wanted, the number that it says."""
        wanted = self.wanted[0] if self.name == "one-of" and self.wanted else self.wanted
        if isinstance(wanted, int | float) and not isinstance(wanted, bool):
            try:
                return float(text)
            except ValueError:
                return text
        return text

    def holds(self, subject: Subject) -> bool:
        return CONDITIONS[self.name](self.found(subject), self.wanted)

    def told(self, subject: Subject) -> str:
        """The condition with what was found, for a sentence."""
        side = f"arg {self.arg}" if self.arg else f"query {self.query}" if self.query else f"header {self.header}"
        wanted = "" if self.name in ("present", "missing") else f" {described(self.wanted)}"
        found = self.found(subject)
        return f"{side} {self.name}{wanted} (it is {'absent' if found is ABSENT else described(found)})"
