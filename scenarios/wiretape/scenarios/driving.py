"""Who is run and how the conversation with it goes: the agent, turns, simulated users, goals, scripted traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from wiretape.scenarios.fields import Argv, Duration, OracleEntry, cyclic
from wiretape.traces.parts import Misfit, Name, Part, Text, one_of, refuse, repeated
from wiretape.traces.types import Json, Step

__all__ = [
    "Agent",
    "AgentOverrides",
    "Attachment",
    "Checkpoint",
    "Criteria",
    "GoalDetail",
    "Goals",
    "Interactive",
    "Limits",
    "Script",
    "Simulator",
    "Turn",
    "Via",
]

type Via = Literal["command", "stdio", "http", "openai", "mcp", "python", "scripted"]

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "command": ("command",),
    "stdio": ("command",),
    "http": ("url",),
    "openai": ("url",),
    "mcp": ("tool",),
    "python": ("target",),
    "scripted": (),
}
"""What an agent, or a simulator, cannot be reached without; mcp wants a url or a command besides."""


def _unreachable(via: str, given: Any) -> Iterator[Misfit]:
    for needed in _NEEDS[via]:
        if not getattr(given, needed):
            yield Misfit(f"`via: {via}` needs `{needed}`")
    if via == "mcp" and not (given.url or given.command):
        yield Misfit("`via: mcp` needs the server: a `url` or a `command`")


class _Reached(Part):
    """What an agent and one of its versions both say."""

    command: Argv | None = None
    """argv: no shell."""
    url: Text | None = None
    tool: Text | None = None
    """The chat tool of an MCP server."""
    target: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")] | None = None
    """`module:function`."""
    cwd: Text | None = None
    """Relative to the file; its own folder where absent."""
    env: dict[str, str] = Field(default_factory=dict)
    options: dict[str, Json] = Field(default_factory=dict)
    """Handed to the agent."""


class AgentOverrides(_Reached):
    """What one version of the agent has otherwise."""

    via: Via | None = None


class Agent(_Reached):
    """What is run, and how it is spoken to."""

    via: Via = "command"
    version: Text = "auto"
    latest: Text | None = None
    """The id that is deployed, not the newest one."""
    versions: dict[str, AgentOverrides] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        refuse(_unreachable(self.via, self))
        return self


class Limits(Part):
    timeout: Duration = 300.0
    turn_timeout: Duration = 60.0
    max_turns: Annotated[int, Field(ge=1)] = 20


class Attachment(Part):
    type: Text
    source: Text


class Turn(Part):
    input: Text
    attachments: tuple[Attachment, ...] = ()
    options: dict[str, Json] = Field(default_factory=dict)
    oracles: tuple[OracleEntry, ...] = ()
    """Judged over this turn alone."""


class Simulator(Part):
    """Who plays the user."""

    via: Literal["command", "stdio", "http", "openai"] = "command"
    command: Argv | None = None
    url: Text | None = None
    persona: Text | None = None
    goal: Text | None = None
    initial: Text | None = None
    """The first input."""
    options: dict[str, Json] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        refuse(_unreachable(self.via, self))
        return self


class Checkpoint(Part):
    id: Name
    description: Text | None = None
    after: tuple[str, ...] = ()
    oracle: OracleEntry


class Criteria(Part):
    """What a model is asked to judge."""

    criteria: Text
    scope: Literal["answer", "conversation"] = "answer"
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class GoalDetail(Part):
    """One goal: a tool call, words of an answer, or what a judge says; exactly one of them."""

    name: Name
    """What `graph` calls it."""
    tool: Text | None = None
    args: dict[str, Json] = Field(default_factory=dict)
    matching: dict[str, Literal["strict", "optional", "ignore", "fuzzy"]] = Field(default_factory=dict)
    """Argument, or a dotted path → how it is compared; strict where absent."""
    keywords: tuple[Text, ...] = ()
    judge: Criteria | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        refuse(one_of(self, "tool", "keywords", "judge"))
        return self


class Goals(Part):
    graph: dict[str, tuple[str, ...]]
    """Goal → the goals that may only come after it."""
    details: tuple[GoalDetail, ...]

    @model_validator(mode="after")
    def _joined(self) -> Self:
        refuse(self._loose())
        return self

    def _loose(self) -> Iterator[Misfit]:
        names = [detail.name for detail in self.details]
        for at, name in repeated(names):
            yield Misfit(f"there is a goal called {name} already", ("details", at, "name"))
        named = {name: goal for goal, after in self.graph.items() for name in (*after, goal)}
        for name, place in named.items():
            if name not in names:
                yield Misfit(f"the goal {name} has no entry in `details`", ("graph", place))
        if (first := cyclic(self.graph)) is not None:
            yield Misfit(f"the goal {first} comes before itself", ("graph", first))


class Script(Part):
    """A trace as it was written down, not as it ran: reports say "scripted: no evidence of the agent"."""

    steps: tuple[Step, ...] = ()
    answer: str | None = None
    status: Text = "completed"


class Interactive(Part):
    enabled: bool = False
    timeout: Duration = 300.0
