"""A scenario (what is run, and what is expected of it) and a suite (an ordered list of them), as the native YAML has them.

`files.py` reads them. A scenario says how its traffic is captured, matched, redacted and read as a trace; the `…_settings`
methods lay that over what wiretape.toml and the command line say, as values of `traces/settings.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from wiretape.oracles.base import OracleUse, Risk
from wiretape.proxy.rules.model import Unscoped
from wiretape.scenarios.driving import Agent, Checkpoint, Goals, Interactive, Limits, Script, Simulator, Turn
from wiretape.scenarios.expand import fixed_part
from wiretape.scenarios.fields import OracleEntry, cyclic
from wiretape.scenarios.parts import Answer, Capture, FaultSet, JudgeSettings, Match, Probe, Runs
from wiretape.traces.parts import Misfit, Name, Part, SchemaVersion, Text, refuse, repeated
from wiretape.traces.settings import (
    AnswerSettings,
    CaptureSettings,
    MatchSettings,
    ObserveSettings,
    RedactSettings,
    TraceSettings,
)
from wiretape.traces.types import Json

__all__ = ["MODES", "Scenario", "Shared", "Suite", "conflicts"]

MODES = ("input", "turns", "simulator", "goals", "script")
"""Ways to drive an agent: at most one of them."""


class Shared(Part):
    """What a suite may say for all of its scenarios."""

    risk: Risk = "high"
    tags: tuple[Text, ...] = ()
    agent: Agent | None = None
    environment: Text | None = None
    """A key of `[environment]` in wiretape.toml."""
    limits: Limits = Limits()
    on_missing_input: Literal["skip", "fail"] = "skip"
    interactive: Interactive = Interactive()
    capture: Capture = Capture()
    match: Match = Match()
    observe: ObserveSettings = ObserveSettings()
    tools: dict[str, Literal["read-only", "destructive", "write"]] = Field(default_factory=dict)
    """Overrides the hints that MCP declares."""
    answer: Answer = Answer()
    probes: tuple[Probe, ...] = ()
    mocks: tuple[Unscoped, ...] = ()
    faults: dict[str, FaultSet] = Field(default_factory=dict)
    oracles: tuple[OracleEntry, ...] = ()
    """None: unasserted."""
    judge: JudgeSettings = JudgeSettings()
    runs: Runs = Runs()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(self._loose())
        return self

    def _loose(self) -> Iterator[Misfit]:
        for field, entries in (("probes", self.probes), ("mocks", self.mocks)):
            for at, entry in repeated(each.id for each in entries):
                yield Misfit(f"there is one with the id {entry} already", (field, at, "id"))
        rules = {mock.id for mock in self.mocks}
        for name, faults in self.faults.items():
            for at, rule in enumerate(faults.rules):
                if rule not in rules:
                    yield Misfit(f"there is no rule {rule} in `mocks`", ("faults", name, "rules", at))


class Scenario(Shared):
    wiretape: SchemaVersion
    """The version of this format."""
    id: Name
    title: Text | None = None
    description: Text | None = None
    recording: Text | None = None
    """Relative to the file; its own stem where absent."""
    input: Text | None = None
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)] | None = None
    simulator: Simulator | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    goals: Goals | None = None
    script: Script | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        refuse(conflicts({name: getattr(self, name) for name in self.model_fields_set}))
        refuse(_loose_checkpoints(self.checkpoints))
        return self

    @property
    def key(self) -> str:
        """What ids are compared by."""
        return self.id.casefold()

    @property
    def mode(self) -> str | None:
        """Which of MODES drives the agent; None: judged on the recording alone."""
        return next((name for name in MODES if getattr(self, name) is not None), None)

    @property
    def first_input(self) -> str | None:
        """As it was written, placeholders and all."""
        if self.turns:
            return self.turns[0].input
        return self.simulator.initial if self.simulator else self.input

    def all_oracles(self) -> tuple[OracleUse, ...]:
        """Those of the whole trace, of its turns and of its checkpoints; a scenario without any is unasserted."""
        turns = (use for turn in self.turns or () for use in turn.oracles)
        return (*self.oracles, *turns, *(checkpoint.oracle for checkpoint in self.checkpoints))

    def match_settings(self, base: MatchSettings | None = None) -> MatchSettings:
        """`base` with what the scenario says in its place; volatile fields add up."""
        base = base or MatchSettings()
        said = {name: value for name in ("level", "strict", "pace") if (value := getattr(self.match, name)) is not None}
        volatile = (*base.volatile, *(each.volatile() for each in self.match.volatile))
        return base.model_copy(update=said | {"volatile": volatile})

    def capture_settings(self, base: CaptureSettings | None = None) -> CaptureSettings:
        """`base` with the scenario's own hosts added."""
        base = base or CaptureSettings()
        return base.model_copy(
            update={"ignore": (*base.ignore, *self.capture.ignore), "noise": (*base.noise, *self.capture.noise)}
        )

    def redact_settings(self, base: RedactSettings | None = None) -> RedactSettings:
        """`base` with the scenario's own rules added; a scenario cannot turn redaction down."""
        base = base or RedactSettings()
        return base.model_copy(update={"rules": (*base.rules, *(each.rule() for each in self.capture.redact))})

    def trace_settings(self, input: str | None = None) -> TraceSettings:
        """`input` is the first one as it was sent; without it the fixed part of the written one tells the main thread."""
        thread = self.answer.thread
        return TraceSettings(
            observe=self.observe,
            answer=AnswerSettings(tools_include=thread.tools_include if thread else None, tools=self.answer.tools),
            tools=self.tools,
            input=input or fixed_part(self.first_input or "") or None,
        )


def conflicts(given: Mapping[str, Json]) -> Iterator[Misfit]:
    """Top-level fields that exclude or want one another, by presence alone: known even where their insides do not fit."""
    modes = [name for name in MODES if given.get(name) is not None]
    for second in modes[1:]:
        yield Misfit(f"`{modes[0]}` is there too; expected at most one of {', '.join(MODES)}", (second,))
    if given.get("simulator") is not None and not given.get("checkpoints"):
        yield Misfit("a simulator needs `checkpoints`: what must be reached, in any order", ("simulator",))
    if given.get("checkpoints") and given.get("simulator") is None:
        yield Misfit("checkpoints need a `simulator`; with turns, give each turn its `oracles`", ("checkpoints",))


def _loose_checkpoints(checkpoints: tuple[Checkpoint, ...]) -> Iterator[Misfit]:
    for at, name in repeated(checkpoint.id for checkpoint in checkpoints):
        yield Misfit(f"there is a checkpoint {name} already", ("checkpoints", at, "id"))
    known = [checkpoint.id for checkpoint in checkpoints]
    for at, checkpoint in enumerate(checkpoints):
        for index, name in enumerate(checkpoint.after):
            if name not in known:
                yield Misfit(f"there is no checkpoint {name}", ("checkpoints", at, "after", index))
    if (first := cyclic({checkpoint.id: checkpoint.after for checkpoint in checkpoints})) is not None:
        yield Misfit(f"the checkpoint {first} waits for itself", ("checkpoints", known.index(first), "after"))


def _paths(scenarios: tuple[str, ...]) -> tuple[str, ...]:
    refuse(Misfit(f"{path} is in the suite already", (at,)) for at, path in repeated(scenarios))
    return scenarios


class Suite(Part):
    wiretape: SchemaVersion
    suite: Name
    scenarios: Annotated[tuple[Text, ...], Field(min_length=1), AfterValidator(_paths)]
    """Files, relative to the suite's; the order is kept."""
    defaults: Shared = Shared()
    agent_version: Text = "configured"
    stop_on_failure: bool = False

    def applied(self, scenario: Scenario) -> Scenario:
        """`scenario` with the defaults where it says nothing: in limits, capture and the like key by key, else as a whole."""
        filled = {
            name: _filled(getattr(self.defaults, name), getattr(scenario, name), name in scenario.model_fields_set)
            for name in self.defaults.model_fields_set
        }
        return scenario.model_copy(update=filled)


def _filled(default: object, own: object, said: bool) -> object:
    if not said:
        return default
    if not isinstance(own, Part) or not isinstance(default, Part) or isinstance(own, Agent):
        return own
    missing = default.model_fields_set - own.model_fields_set
    return own.model_copy(update={name: getattr(default, name) for name in missing})
