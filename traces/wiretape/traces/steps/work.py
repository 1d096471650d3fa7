"""The trace in the making: steps in their order, some of which later exchanges still change, and what is known so far.

Steps are numbered only at the end, since a call that was cut and made again is dropped then; until that, steps refer to each
other by their drafts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from wiretape.traces.jsontext import compact
from wiretape.traces.links import Call, Calls
from wiretape.traces.settings import TraceSettings
from wiretape.traces.threads import Threads
from wiretape.traces.types import Declared, Exchange, Source, Step, ToolCall, ToolResult

__all__ = ["Draft", "Model", "Work", "mocked_by"]


@dataclass(eq=False, slots=True)
class Draft:
    """A step whose number and turn are not known yet; `content` is a Call as long as it may change."""

    content: Step | Call
    asker: Draft | None = None
    """The model call that asked, for a tool call."""
    parallel: bool = False
    """It was asked for together with others."""
    opens_turn: bool = False
    """Where it is in the main thread, or an agent's own event."""
    dropped: bool = False
    seq: int = 0
    turn: int | None = None

    @property
    def thread(self) -> int | None:
        return self.content.thread


@dataclass(eq=False, slots=True)
class Model:
    """A model call and what later decisions need of its view, so that the view can be let go."""

    draft: Draft
    number: int
    """The seq of its exchange."""
    thread: int
    tools: frozenset[str]
    first_text: str | None
    """The first user message of its history."""
    said: str | None
    asked: tuple[Draft, ...]
    """The client-side calls that it asks for."""
    whole: bool
    """Its exchange ended complete, with the terminal event and without an error."""
    told: bool
    """Nothing that it asked for can have stayed unseen."""
    retried: bool = False


@dataclass(eq=False)
class Work:
    settings: TraceSettings = field(default_factory=TraceSettings)
    drafts: list[Draft] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)
    threads: Threads = field(default_factory=Threads)
    models: list[Model] = field(default_factory=list)
    declared: list[tuple[tuple[str, ...], Declared]] = field(default_factory=list)
    """(names of the server, tool) of every tools/list."""
    served: set[tuple[str, str]] = field(default_factory=set)
    """(session, host) of every exchange that was answered."""
    rejected: list[tuple[str, str, Draft]] = field(default_factory=list)
    """(session, host, its error step) of every refused connection: none of the agent's doing where the host answered others."""
    gaps: list[str] = field(default_factory=list)
    """Why some tool call may have stayed unseen, a sentence each."""
    approvals: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """(session, id of the question) → the tool that a provider's own server wants allowed."""
    replaced: dict[str, str] = field(default_factory=dict)
    """Call id → the rule that gave the model another result than the agent's."""
    listened: bool = False
    """Some MCP traffic was seen."""
    _unlinked: set[tuple[str, str | None, str]] = field(default_factory=set)

    def add(self, step: Step, *, opens_turn: bool = False) -> Draft:
        draft = Draft(step, opens_turn=opens_turn)
        self.drafts.append(draft)
        return draft

    def insert(self, step: Step, *, after: Draft) -> None:
        self.drafts.insert(self.drafts.index(after) + 1, Draft(step))

    def add_call(self, call: Call, *, asker: Draft | None = None, parallel: bool = False) -> Draft:
        self.calls.add(call)
        draft = Draft(call, asker, parallel)
        self.drafts.append(draft)
        return draft

    def first_time(self, session: str, result: ToolResult) -> bool:
        """Whether a result that belongs to no known call was not handed back before."""
        key = (session, result.call_id, compact(result.content))
        known = result.call_id is not None and key in self._unlinked
        self._unlinked.add(key)
        return not known

    def kept(self) -> list[Draft]:
        return [draft for draft in self.drafts if not draft.dropped]

    def steps(self) -> Iterator[Step]:
        """The frozen steps, numbered from 1. To be asked once turns and drops are settled."""
        kept = self.kept()
        for seq, draft in enumerate(kept, 1):
            draft.seq = seq
        for draft in kept:
            yield self._tool_call(draft, draft.content) if isinstance(draft.content, Call) else _numbered(draft, draft.content)

    def _tool_call(self, draft: Draft, call: Call) -> ToolCall:
        read_only, destructive = self._hints(call)
        by = draft.asker.seq if draft.asker else None
        return ToolCall(
            seq=draft.seq,
            thread=call.thread,
            turn=draft.turn,
            exchange=call.exchange or None,
            tool=call.tool,
            call_id=call.call_id,
            arguments=call.arguments,
            arguments_text=call.arguments_text,
            state=call.state,
            by=by,
            parallel_group=by if draft.parallel else None,
            server=call.server,
            executed_in=call.executed_in,
            read_only=read_only,
            destructive=destructive,
            mocked=call.mocked,
        )

    def _hints(self, call: Call) -> tuple[bool | None, bool | None]:
        """(read-only, destructive): what the scenario says, else what the MCP server declared last."""
        for name, word in self.settings.tools.items():
            if call.goes_by(name):
                return word == "read-only", word == "destructive"
        for servers, tool in reversed(self.declared):
            if call.is_of(tool.name, servers):
                return tool.read_only, tool.destructive
        return None, None


def mocked_by(exchange: Exchange) -> str | None:
    """The mock rule that answered, or changed the answer."""
    return exchange.rule if exchange.source is Source.MOCKED else None


def _numbered(draft: Draft, step: Step) -> Step:
    return step.model_copy(update={"seq": draft.seq, "turn": draft.turn})
