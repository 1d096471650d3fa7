"""The values that every floor speaks about: exchanges as they passed, what decoders read in them, and the steps of a trace.

Exchanges hold raw bytes and are plain frozen dataclasses, since they are made on the hot path. Views and steps are frozen
pydantic models: views are what one decoder read in one exchange; steps are the canonical trace that oracles judge.
An unknown value is None, never 0 or "".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer

__all__ = [
    "A2aView",
    "Approval",
    "ApprovalDecision",
    "ApprovalRequest",
    "Asked",
    "Declared",
    "End",
    "ErrorStep",
    "Event",
    "Exchange",
    "ExchangeKind",
    "FinalAnswer",
    "Handed",
    "Headers",
    "HttpCall",
    "Json",
    "McpAnswer",
    "McpRequest",
    "McpView",
    "Message",
    "ModelCall",
    "ModelView",
    "Observation",
    "Observed",
    "RecordingInfo",
    "RecordingStatus",
    "Request",
    "Response",
    "Said",
    "SkillUsed",
    "SocketView",
    "Source",
    "StateChange",
    "Step",
    "Timings",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Usage",
    "UserMessage",
    "View",
    "header",
]

type Json = Any
"""Parsed JSON: where it enters, and only there, types end."""

type Headers = tuple[tuple[str, str], ...]
"""Fields in their order and spelling, duplicates kept; each byte one character (latin-1)."""


def header(headers: Headers, name: str) -> str | None:
    """The first field of that name (compared without case), or None."""
    wanted = name.lower()
    return next((value for key, value in headers if key.lower() == wanted), None)


# ---------------------------------------------------------------- exchanges: what passed over the wire


class End(StrEnum):
    """How an exchange ended; one that has no end row yet has none."""

    COMPLETE = "complete"
    CLIENT_CLOSED = "client_closed"
    UPSTREAM_TRUNCATED = "upstream_truncated"
    UPSTREAM_RESET = "upstream_reset"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


class ExchangeKind(StrEnum):
    HTTP = "http"
    WEBSOCKET = "websocket"
    STDIO = "stdio"


class Source(StrEnum):
    """Who answered."""

    LIVE = "live"
    REPLAYED = "replayed"
    MOCKED = "mocked"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the upstream saw it, but for redaction."""

    method: str
    url: str
    """The upstream's absolute URL, also for gateway requests; IPv6 in brackets; the query as it was written."""
    headers: Headers = ()
    body: bytes | None = None
    """As it was on the wire, transfer coding taken off, content coding left on. None is no body, b"" an empty one."""
    http_version: str = "HTTP/1.1"


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Headers = ()
    body: bytes = b""
    """As it was on the wire, transfer coding taken off, content coding left on."""
    reason: str = ""
    http_version: str = "HTTP/1.1"
    trailers: Headers = ()
    chunks: tuple[tuple[int, int], ...] = ()
    """(microseconds since the request started, length) of each piece as it arrived; the lengths add up to the body."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a WebSocket or stdio conversation."""

    at: int
    """Microseconds since the request started."""
    sender: Literal["client", "server"]
    type: Literal["text", "binary", "close", "ping", "pong"]
    data: bytes = b""
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """Microseconds since the request started; None where it never happened."""

    connected: int | None = None
    request_sent: int | None = None
    first_byte: int | None = None
    ended: int | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request with its response, one WebSocket conversation, or one stdio conversation."""

    seq: int
    """From 1 within its recording, in the order in which requests started."""
    request: Request
    response: Response | None = None
    kind: ExchangeKind = ExchangeKind.HTTP
    session: str = ""
    """The name that keeps parallel runs apart; empty where the client gave none."""
    source: Source = Source.LIVE
    started_at: float = 0.0
    """Seconds since the epoch."""
    messages: tuple[Message, ...] = ()
    timings: Timings = field(default_factory=Timings)
    end: End | None = None
    error: str | None = None
    upstream: str | None = None
    """The gateway name by which the client asked; None through the forward proxy."""
    rule: str | None = None
    match: str | None = None
    noise: bool = False
    """Background traffic that is no part of the agent's behaviour."""
    fingerprint: str | None = None


class RecordingStatus(StrEnum):
    RECORDING = "recording"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """Something could not be written (disk full); traffic went on."""
    INTERRUPTED = "interrupted"
    """The sidecar died; found on the next read."""


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordingInfo(Value):
    name: str
    id: str
    started_at: float
    ended_at: float | None = None
    status: RecordingStatus
    labels: dict[str, str] = {}
    tool_version: str


# ---------------------------------------------------------------- views: what one decoder read in one exchange


class Usage(Value):
    """Tokens by the provider's own top-level numbers; unknown is None, never 0."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class Declared(Value):
    """A tool as it was offered: to the model in a request, or by an MCP server in tools/list."""

    name: str
    parameters: Json = None
    """Its JSON Schema as declared; None where there is none."""
    digest: str = ""
    """Of name, description and schema: what a changed tool changes."""
    read_only: bool | None = None
    destructive: bool | None = None


class Asked(Value):
    """A tool call in a model's answer."""

    tool: str
    call_id: str | None = None
    arguments: Json = None
    """Parsed; None where the text does not parse."""
    arguments_text: str = ""
    by_provider: bool = False
    """A server tool: the provider ran it itself."""


class Handed(Value):
    """A tool result, as the agent handed it back to the model or an MCP server answered it."""

    call_id: str | None = None
    tool: str | None = None
    content: Json = None
    """The text where it is text alone, else the JSON as it stood."""
    is_error: bool = False


class Approval(Value):
    """A tool call that a provider's own tool wants allowed, or the word about it."""

    id: str | None
    """Of the question; the decision names it."""
    tool: str | None = None
    approved: bool | None = None
    """None is the question."""


class Said(Value):
    """One element of the history in a request to a model, the system prompt left out."""

    role: str
    digest: str
    """Of its meaning: equal for the same element in a later request (prompt-cache markers set aside)."""
    text: str = ""
    asked: tuple[Asked, ...] = ()
    handed: tuple[Handed, ...] = ()
    attachments: tuple[str, ...] = ()
    """`type sha256:…` of each image, file or sound."""
    decided: tuple[Approval, ...] = ()


class ModelView(Value):
    """One call of a model: the request, and what the answer said."""

    type: Literal["model"] = "model"
    provider: str
    api: str
    requested_model: str | None = None
    model: str | None = None
    parameters: dict[str, Json] = {}
    """Sampling parameters as sent (temperature, max_tokens, tool_choice, response_format …)."""
    system_digest: str | None = None
    said: tuple[Said, ...] = ()
    tools: tuple[Declared, ...] = ()
    streamed: bool = False
    stop_reason: str | None = None
    """The provider's own word."""
    usage: Usage = Usage()
    text: str | None = None
    """All visible assistant text in order, no thinking; "" if it said none, None if there was no answer."""
    reasoning: bool = False
    asked: tuple[Asked, ...] = ()
    handed: tuple[Handed, ...] = ()
    """Results of server tools that stand in the answer itself."""
    error: str | None = None
    """An error status or an error inside the stream, in the provider's words."""
    complete: bool = False
    """The terminal event (or the whole JSON) was seen."""
    response_id: str | None = None
    previous_id: str | None = None
    conversation_id: str | None = None
    unknown_events: int = 0
    approvals: tuple[Approval, ...] = ()
    """What the answer wants allowed."""
    aside: bool = False
    """It is no part of a conversation: embeddings, images, token counts."""


class SocketView(Value):
    """The calls of a model in one WebSocket conversation, in their order."""

    type: Literal["socket"] = "socket"
    calls: tuple[ModelView, ...] = ()
    unknown_events: int = 0


class McpRequest(Value):
    """One JSON-RPC request or notification that the client sent; `id` is its JSON text, None for a notification."""

    id: str | None
    method: str
    params: Json = None


class McpAnswer(Value):
    """One JSON-RPC answer that the server sent."""

    id: str | None
    result: Json = None
    error: Json = None


class McpView(Value):
    """One HTTP exchange of an MCP client. Requests and answers are linked by JSON text of their id."""

    type: Literal["mcp"] = "mcp"
    server: str | None = None
    """The name that the server gave in its answer to initialize, where this exchange holds one."""
    session: str | None = None
    """The Mcp-Session-Id that this exchange carried or handed out."""
    requests: tuple[McpRequest, ...] = ()
    answers: tuple[McpAnswer, ...] = ()
    declared: tuple[Declared, ...] = ()
    """What tools/list answered."""
    from_server: tuple[McpRequest, ...] = ()
    """Notifications and requests that the server sent (progress, elicitation)."""
    replies: tuple[McpAnswer, ...] = ()
    """What the client answered to requests of the server."""
    error: str | None = None
    unknown_events: int = 0


class A2aView(Value):
    """One question of an agent to another agent, and what it answered."""

    type: Literal["a2a"] = "a2a"
    method: str
    said: str | None = None
    text: str | None = None
    """What the other said or made; None where there was no answer."""
    task: str | None = None
    context: str | None = None
    state: str | None = None
    """Of the task: working, completed, failed, input-required …; None for a plain message."""
    error: str | None = None
    complete: bool = False
    unknown_events: int = 0


type View = Annotated[ModelView | McpView | SocketView | A2aView, Field(discriminator="type")]


# ---------------------------------------------------------------- steps: the canonical trace


class StepBase(Value):
    seq: int = 0
    """From 1 within the trace."""
    thread: int | None = None
    """The conversation that it belongs to, from 1 in order of appearance; 1 need not be the main one."""
    turn: int | None = None
    """From 1: each user message of the main thread begins one."""
    exchange: int | None = None
    """The seq of the exchange in which it was seen."""


class UserMessage(StepBase):
    kind: Literal["user_message"] = "user_message"
    text: str
    attachments: tuple[str, ...] = ()


class ModelCall(StepBase):
    kind: Literal["model_call"] = "model_call"
    provider: str
    api: str
    requested_model: str | None = None
    model: str | None = None
    parameters: dict[str, Json] = {}
    system_digest: str | None = None
    history: int = 0
    """How many elements the history had, the system prompt left out."""
    tools: tuple[Declared, ...] = ()
    """In JSON the names alone."""
    streamed: bool = False
    stop_reason: str | None = None
    usage: Usage = Usage()
    text: str | None = None
    reasoning: bool = False
    error: str | None = None
    complete: bool = True
    """The exchange ended complete and the answer's own terminal event was seen."""
    mocked: str | None = None
    waited_ms: int | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None

    @field_serializer("tools")
    def _names(self, tools: tuple[Declared, ...]) -> list[str]:
        return [tool.name for tool in tools]


class ToolCall(StepBase):
    kind: Literal["tool_call"] = "tool_call"
    tool: str
    call_id: str | None = None
    arguments: Json = None
    arguments_text: str = ""
    state: Literal["asked", "executed", "denied"] = "asked"
    by: int | None = None
    """The seq of the model call that asked; None where nobody asked for this execution."""
    parallel_group: int | None = None
    """The seq of the model call that asked for several at once: order among them is not behaviour."""
    server: str | None = None
    """The MCP server that executed it."""
    executed_in: int | None = None
    """The exchange in which it was executed, where that was seen."""
    read_only: bool | None = None
    destructive: bool | None = None
    mocked: str | None = None
    waited_ms: int | None = None


class ToolResult(StepBase):
    kind: Literal["tool_result"] = "tool_result"
    tool: str | None = None
    call_id: str | None = None
    content: Json = None
    is_error: bool = False
    seen: Literal["wire", "prompt"] = "prompt"
    mocked: str | None = None


class HttpCall(StepBase):
    kind: Literal["http_call"] = "http_call"
    method: str
    host: str
    path: str
    status: int | None = None
    error: str | None = None
    mocked: str | None = None


class ApprovalRequest(StepBase):
    kind: Literal["approval_request"] = "approval_request"
    tool: str | None = None
    call_id: str | None = None
    source: Literal["wire", "observe", "event", "driver"] = "wire"


class ApprovalDecision(StepBase):
    kind: Literal["approval_decision"] = "approval_decision"
    tool: str | None = None
    call_id: str | None = None
    approved: bool
    source: Literal["wire", "observe", "event", "driver"] = "wire"


class SkillUsed(StepBase):
    kind: Literal["skill_used"] = "skill_used"
    skill: str
    source: Literal["wire", "observe", "event", "driver"] = "event"


class StateChange(StepBase):
    kind: Literal["state_change"] = "state_change"
    object: str
    name: str
    before: Json = None
    after: Json = None
    source: Literal["wire", "observe", "event", "driver"] = "event"


class Event(StepBase):
    kind: Literal["event"] = "event"
    name: str
    data: Json = None


class FinalAnswer(StepBase):
    kind: Literal["final_answer"] = "final_answer"
    text: str


class ErrorStep(StepBase):
    kind: Literal["error"] = "error"
    message: str
    where: str = ""


type Step = Annotated[
    UserMessage
    | ModelCall
    | ToolCall
    | ToolResult
    | HttpCall
    | ApprovalRequest
    | ApprovalDecision
    | SkillUsed
    | StateChange
    | Event
    | FinalAnswer
    | ErrorStep,
    Field(discriminator="kind"),
]


type Observation = Literal["complete", "partial", "none"]


class Observed(Value):
    """What was looked at: absence proves nothing unless its channel is complete (DESIGN.md, principle 11)."""

    tools: Observation = "none"
    approvals: Observation = "none"
    skills: Observation = "none"
    state: Observation = "none"


class Trace(Value):
    """The ordered steps of one agent run."""

    recording: RecordingInfo
    observed: Observed = Observed()
    steps: tuple[Step, ...] = ()
    main_thread: int | None = None
    gaps: tuple[str, ...] = ()
    """Why tools were not observed completely, a sentence each."""
