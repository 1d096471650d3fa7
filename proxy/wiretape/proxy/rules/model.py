"""What a rule file says (docs/rules.md): frozen values, unknown keys refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from wiretape.proxy.faults import FaultEntry
from wiretape.proxy.faults.base import HeaderName
from wiretape.proxy.rules.conditions import Condition
from wiretape.proxy.rules.placeholders import PLACEHOLDERS, unknown
from wiretape.proxy.rules.subject import Where
from wiretape.traces.parts import Misfit, Part, SchemaVersion, Text, refuse, repeated
from wiretape.traces.types import Json

__all__ = ["Answer", "Case", "Match", "Rule", "RuleFile", "Unscoped"]

_RESERVED = ("order", "from-exchange")
"""Words of the control API where an id stands."""
_CONTENTS = ("json", "text", "file", "patch", "sequence")
_HTTP_ONLY, _TOOL_ONLY = ("status", "headers"), ("is_error",)
_NAMED_BY = {
    "tool": (Where.MCP, Where.PROMPT),
    "server": (Where.MCP, Where.PROMPT),
    "api": (Where.MODEL,),
    "model": (Where.MODEL,),
}
"""Key of `match` → where a request has such a name; the others are known of every request."""


class Match(Part):
    """What the rule is about; every key given must hold, a * at the end matches any rest."""

    upstream: Text | None = None
    host: Text | None = None
    method: Text | None = None
    path: Text | None = None
    tool: Text | None = None
    server: Text | None = None
    api: Text | None = None
    model: Text | None = None

    @property
    def given(self) -> dict[str, str]:
        return {name: str(value) for name, value in self if value is not None}


class Answer(Part):
    """One of json, text, file, patch and sequence; a status may stand alone."""

    json_value: Annotated[Json, Field(alias="json")] = None
    text: str | None = None
    file: Text | None = None
    """A path beside the rule file."""
    patch: Json = None
    """JSON merge patch (RFC 7396) of the recorded or live answer."""
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    headers: dict[HeaderName, str] = Field(default_factory=dict)
    is_error: bool = False
    sequence: Annotated[tuple[Answer, ...], Field(min_length=1)] | None = None
    then: Literal["repeat", "pass", "fail"] = "repeat"
    """When the sequence is used up: from its start, stand aside, or fail."""

    @property
    def said(self) -> set[str]:
        """The keys that are given, as the file calls them."""
        return {"json" if name == "json_value" else name for name in self.model_fields_set}

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in _CONTENTS if name in self.said]
        if len(given) > 1:
            refuse([Misfit(f"expected one of {', '.join(_CONTENTS)}; got {' and '.join(given)}")])
        if wrong := sorted(set(unknown([self.json_value, self.text, self.patch, self.headers]))):
            known = ", ".join(f"{{{{{name}}}}}" for name in PLACEHOLDERS)
            refuse([Misfit(f"there is no placeholder {', '.join(wrong)}; known are {known}")])
        return self


class Case(Part):
    when: tuple[Condition, ...] = ()
    answer: Answer | None = None
    faults: tuple[FaultEntry, ...] = ()


class Unscoped(Case):
    """A rule, but for whom it holds: that of a scenario holds for it alone."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$", max_length=200)]
    enabled: bool = True
    where: Where = Where.HTTP
    match: Match = Match()
    skip: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] | None = None
    cases: tuple[Case, ...] = ()
    otherwise: Literal["answer", "pass", "fail"] = "pass"
    allow_write: bool = False

    @property
    def own(self) -> Case:
        """The rule's own answer and faults, as a case without conditions."""
        return Case(answer=self.answer, faults=self.faults)

    def as_json(self) -> dict[str, Any]:
        """As it was written, with what matters most always there."""
        told: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"id": self.id, "enabled": self.enabled, "where": str(self.where), **told}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse([*self._misnamed(), *self._misplaced()])
        return self

    def _misnamed(self) -> Iterator[Misfit]:
        if self.id in _RESERVED:
            yield Misfit(f"{self.id} is a word of the control API; choose another id", ("id",))
        for name in self.match.given:
            if self.where not in (places := _NAMED_BY.get(name, tuple(Where))):
                yield Misfit(f"`{name}` is known of rules with `where: {' or '.join(places)}` alone", ("match", name))

    def _misplaced(self) -> Iterator[Misfit]:
        tools = self.where in (Where.MCP, Where.PROMPT)
        for at, case in enumerate((self, *self.cases)):
            place: tuple[str | int, ...] = () if at == 0 else ("cases", at - 1)
            for inner, answer in _answers(case.answer, (*place, "answer")):
                for name in answer.said & set(_HTTP_ONLY if tools else _TOOL_ONLY):
                    yield Misfit(f"`{name}` has no meaning in the answer of a rule with `where: {self.where}`", (*inner, name))
            if self.where is Where.PROMPT and case.faults:
                yield Misfit("a rule with `where: prompt` replaces a tool's result and has no faults", (*place, "faults"))


class Rule(Unscoped):
    scope: Annotated[str, Field(pattern=r"^(all|(session|scenario): ?.+)$")] = "all"

    def covers(self, session: str, scenario: str) -> bool:
        kind, _, name = self.scope.partition(":")
        return kind == "all" or name.strip() == (session if kind == "session" else scenario)


def _answers(answer: Answer | None, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Answer]]:
    """The answer and those of its sequence, with their places."""
    if answer is not None:
        yield place, answer
        for at, each in enumerate(answer.sequence or ()):
            yield from _answers(each, (*place, "sequence", at))


class RuleFile(Part):
    version: SchemaVersion = 1
    seed: int = 0
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        refuse(
            Misfit(f"there is a rule called {name} already", ("rules", at, "id"))
            for at, name in repeated(rule.id for rule in self.rules)
        )
        return self
