"""What scenario files, wiretape.toml and flags say, as frozen values that every floor takes as arguments.

`scenarios/` reads the files and makes these; nothing below it reads a file or the environment to learn a setting.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "NEVER_VOLATILE",
    "AnswerSettings",
    "ApprovalMapping",
    "CaptureSettings",
    "ConnectTo",
    "Exhausted",
    "Level",
    "MatchSettings",
    "ObserveSettings",
    "Price",
    "RedactRule",
    "RedactSettings",
    "SkillMapping",
    "StateMapping",
    "TraceSettings",
    "Volatile",
]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Level(StrEnum):
    """How closely an answer's request matched, closest first (DESIGN.md §6)."""

    EXACT = "exact"
    CANONICAL = "canonical"
    NORMALISED = "normalised"
    REBOUND = "rebound"
    SEQUENCE = "sequence"

    @property
    def looseness(self) -> int:
        return list(Level).index(self)


class Exhausted(StrEnum):
    """What happens when all recorded answers to a request have been given."""

    ERROR = "error"
    REPEAT_LAST = "repeat-last"


NEVER_VOLATILE = frozenset(
    {
        "contents",
        "input",
        "instructions",
        "messages",
        "model",
        "prompt",
        "system",
        "systemInstruction",
        "system_instruction",
        "tools",
    }
)
"""Members at the top of a request that no rule sets aside: what a model reads, and which model."""


class Volatile(Settings):
    """A request field that varies between runs and is set aside before matching."""

    url: str = "*"
    json_path: str | None = None
    header: str | None = None
    query: str | None = None


class MatchSettings(Settings):
    level: Level = Level.REBOUND
    """The loosest level that answers."""
    strict: bool = False
    """Exchanges that the run did not use fail it."""
    allow_drift: bool = False
    exhausted: Exhausted = Exhausted.ERROR
    serve_partial: bool = False
    volatile: tuple[Volatile, ...] = ()
    pace: float | None = 0.0
    """0 instant, 1 as recorded, other factors of the recorded times."""


class RedactRule(Settings):
    """One of: a header's name, a JSONPath in bodies, an environment variable whose value is a secret."""

    header: str | None = None
    json_path: str | None = None
    env: str | None = None


class RedactSettings(Settings):
    mode: Literal["strict", "default", "off"] = "default"
    rules: tuple[RedactRule, ...] = ()
    values: tuple[str, ...] = ()
    """Secrets known by value: what secret-looking variables of the child held. Never written anywhere."""


class ConnectTo(Settings):
    """As curl's --connect-to: connections for host:port go to address:connect_port; name, SNI and record stay."""

    host: str
    port: int | None = None
    """None: any port."""
    address: str
    connect_port: int | None = None
    """None: the port that was asked for."""


class CaptureSettings(Settings):
    ignore: tuple[str, ...] = ()
    """`host` or `host:port`, `*` at either end: passed through unrecorded, and listed."""
    noise: tuple[str, ...] = ()
    """`host`, `host/path*`: recorded as noise, outside the trace, never a miss."""
    upstreams: dict[str, str] = {}
    """Gateway name → base URL, on top of the built-in ones."""
    connect_to: tuple[ConnectTo, ...] = ()
    upstream_ca: str | None = None
    insecure_upstreams: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    """Where given, every other host is refused."""
    deny_hosts: tuple[str, ...] = ()


class ApprovalMapping(Settings):
    tool: str
    decision: str = "$.approved"


class SkillMapping(Settings):
    tool: str
    arg: str


class StateMapping(Settings):
    tool: str
    object: str
    name: str


class ObserveSettings(Settings):
    complete: tuple[Literal["tools", "approvals", "skills", "state"], ...] = ()
    """Channels that the author of the scenario vouches for."""
    approvals: tuple[ApprovalMapping, ...] = ()
    skills: tuple[SkillMapping, ...] = ()
    state: tuple[StateMapping, ...] = ()


type Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Settings):
    """Money for a million tokens, in whatever currency."""

    model_config = ConfigDict(strict=True)

    input: Money
    output: Money
    cached: Money | None = None
    """Of input tokens that came from a cache; None: as `input`."""
    reasoning: Money | None = None
    """Of output tokens that the model thought with; None: as `output`."""


class AnswerSettings(Settings):
    tools_include: str | None = None
    """The main thread is the one that declares this tool."""
    tools: tuple[str, ...] = ()
    """Tools whose argument is the final answer (`final_result`, `attempt_completion` …)."""


class TraceSettings(Settings):
    """What a scenario says about how its exchanges become a trace."""

    observe: ObserveSettings = ObserveSettings()
    answer: AnswerSettings = AnswerSettings()
    tools: dict[str, Literal["read-only", "destructive", "write"]] = {}
    """Overrides the hints that MCP declares."""
    input: str | None = None
    """The scenario's first input: the thread that holds it is the main one."""
