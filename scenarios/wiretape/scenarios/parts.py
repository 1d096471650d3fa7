"""What surrounds a run: how it is captured and matched, what is asked of the world, mocked and judged."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wiretape.scenarios.fields import Argv, JsonPath, OracleEntry, Pace
from wiretape.traces.parts import Misfit, Name, Part, Text, one_of, refuse
from wiretape.traces.settings import NEVER_VOLATILE, Level, RedactRule, Volatile
from wiretape.traces.types import Json

__all__ = [
    "Answer",
    "Capture",
    "Exists",
    "FaultSet",
    "JudgeSettings",
    "Match",
    "Probe",
    "ProbeHttp",
    "ProbeMcp",
    "Redaction",
    "Runs",
    "Thread",
    "VolatileField",
]


class Redaction(Part):
    header: Text | None = None
    json_path: Annotated[JsonPath | None, Field(alias="json")] = None
    env: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(one_of(self, "header", "json", "env"))
        return self

    def rule(self) -> RedactRule:
        return RedactRule(header=self.header, json_path=self.json_path, env=self.env)


class Capture(Part):
    ignore: tuple[Text, ...] = ()
    noise: tuple[Text, ...] = ()
    redact: tuple[Redaction, ...] = ()


class VolatileField(Part):
    """A field of requests that varies between runs."""

    url: Text = "*"
    json_path: Annotated[JsonPath | None, Field(alias="json")] = None
    header: Text | None = None
    query: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(one_of(self, "json", "header", "query"))
        top = re.match(r"\$(?:\.([\w-]+)|\[['\"](.*?)['\"]\])", self.json_path or "")
        if top and (name := top[1] or top[2]) in NEVER_VOLATILE:
            refuse((Misfit(f"`{name}` is what a model reads, and no rule sets that aside", ("json",)),))
        return self

    def volatile(self) -> Volatile:
        return Volatile(url=self.url, json_path=self.json_path, header=self.header, query=self.query)


class Match(Part):
    """None is "not said": the settings decide."""

    level: Level | None = None
    strict: bool | None = None
    volatile: tuple[VolatileField, ...] = ()
    pace: Pace | None = None


class Thread(Part):
    tools_include: Text
    """The main thread is the one that declares this tool."""


class Answer(Part):
    thread: Thread | None = None
    tools: tuple[Text, ...] = ()
    """Tools whose argument is the final answer."""


class ProbeHttp(Part):
    url: Text
    method: Text = "GET"
    headers: dict[str, str] = Field(default_factory=dict)
    body: Annotated[Json, Field(alias="json")] = None


class ProbeMcp(Part):
    url: Text | None = None
    command: Argv | None = None
    tool: Text
    args: dict[str, Json] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(one_of(self, "url", "command"))
        return self


class Exists(Part):
    """What an answer must be for the thing to be there; every field given must hold."""

    status: Annotated[int, Field(ge=100, le=599)] | None = None
    json_path: Annotated[JsonPath | None, Field(alias="json")] = None
    contains: Text | None = None
    exit_code: int | None = None


class Probe(Part):
    """A question about the world after the run: by HTTP, an MCP tool or a command; exactly one of them."""

    id: Name
    before: bool = False
    """Asked before the run as well, so that "created in the run" can be told."""
    http: ProbeHttp | None = None
    mcp: ProbeMcp | None = None
    command: Argv | None = None
    exists: Exists = Exists()

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(one_of(self, "http", "mcp", "command"))
        return self


class FaultSet(Part):
    """Rules that are turned on together, and what must hold all the same."""

    rules: Annotated[tuple[str, ...], Field(min_length=1)]
    oracles: tuple[OracleEntry, ...] = ()


class JudgeSettings(Part):
    model: Text | None = None
    url: Text | None = None
    on_missing: Literal["skip", "fail"] = "skip"


class Runs(Part):
    count: Annotated[int, Field(ge=1)] = 1
    stable: Annotated[float, Field(ge=0, le=100)] = 100.0
    """The percentage of runs that must pass."""
