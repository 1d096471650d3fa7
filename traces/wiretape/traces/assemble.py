"""From exchanges to the canonical trace: what the agent did and saw, in order, each thing once (DESIGN.md, section 4).

A tool call that a model asked for, its execution on the wire and its result in the next prompt are one call: linked by call id,
else by name (`mcp__files__read` is `read` of `files`) and arguments. An execution that nobody asked for is a call of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from wiretape.traces import codings
from wiretape.traces.decoders import decode
from wiretape.traces.links import same_call
from wiretape.traces.observe import event_step, mapped, observed
from wiretape.traces.settings import TraceSettings
from wiretape.traces.threads import Thread, Threads
from wiretape.traces.types import (
    Asked,
    Declared,
    End,
    ErrorStep,
    Event,
    Exchange,
    FinalAnswer,
    Handed,
    HttpCall,
    Json,
    McpAnswer,
    McpRequest,
    McpView,
    ModelCall,
    ModelView,
    RecordingInfo,
    Step,
    StepBase,
    ToolCall,
    ToolResult,
    Trace,
    UserMessage,
    View,
)

__all__ = ["RESULT_REPLACED", "assemble", "build"]

RESULT_REPLACED = "tool_result_replaced"
"""Type of the event that a sidecar notes where a rule gave the model another result of a tool: `call_id`, `rule`. No step."""

type AgentEvent = tuple[float, str, dict[str, Any]]
"""(seconds since the epoch, session, what the agent sent)."""


def assemble(
    info: RecordingInfo, exchanges: Iterable[Exchange], events: Iterable[AgentEvent] = (), settings: TraceSettings | None = None
) -> Trace:
    """Decode every exchange and build the trace."""
    return build(info, [(each, _view(each)) for each in exchanges if not each.noise], events, settings or TraceSettings())


def _view(exchange: Exchange) -> View | None:
    request, response = exchange.request, exchange.response
    sent = codings.undo(request.body, request.headers) if request.body else request.body
    body = codings.undo(response.body, response.headers) if response else b""
    return decode(replace(exchange, request=replace(request, body=sent)), body or b"")


def build(
    info: RecordingInfo, seen: list[tuple[Exchange, View | None]], events: Iterable[AgentEvent], settings: TraceSettings
) -> Trace:
    """The same from exchanges that were decoded before."""
    builder, events = _Builder(settings), list(events)
    builder.replaced = {each["call_id"]: each["rule"] for _, _, each in events if each.get("type") == RESULT_REPLACED}
    timed: list[tuple[float, int, Any]] = [(exchange.started_at, 0, (exchange, view)) for exchange, view in seen]
    timed += [(at, 1, payload) for at, _, payload in events if payload.get("type") != RESULT_REPLACED]
    for _, kind, what in sorted(timed, key=lambda item: item[:2]):
        if kind:
            builder.event(what)
        else:
            builder.exchange(*what)
    return builder.trace(info, seen)


class _Builder:
    def __init__(self, settings: TraceSettings) -> None:
        self._settings = settings
        self._steps: list[Step] = []
        self._threads = Threads()
        self._results: set[tuple[int | None, str]] = set()
        """(thread, call id) of the results that stand in the trace."""
        self._servers: dict[str, str] = {}
        self._declared: dict[str, Declared] = {}
        self._unanswered: dict[tuple[str, str], int] = {}
        """(place, JSON-RPC id) → the position of the call that waits for its answer."""
        self._answer: str | None = None
        self.replaced: dict[str, str] = {}
        """Call id → the rule that gave the model another result than the agent's."""

    def _add(self, step: StepBase) -> int:
        """Number a step and add it; its seq."""
        seq = len(self._steps) + 1
        self._steps.append(step.model_copy(update={"seq": seq}))  # type: ignore[arg-type]  # each is one of the union
        return seq

    def _change(self, seq: int, **update: Any) -> None:
        self._steps[seq - 1] = self._steps[seq - 1].model_copy(update=update)

    # what happened

    def event(self, payload: dict[str, Any]) -> None:
        if payload.get("type") == "final_answer":
            self._answer = str(payload.get("text", ""))
        self._add(event_step(payload))

    def exchange(self, exchange: Exchange, view: View | None) -> None:
        if isinstance(view, ModelView):
            self._model(exchange, view)
        elif isinstance(view, McpView):
            self._mcp(exchange, view)
        elif exchange.request.method == "CONNECT":
            self._add(
                ErrorStep(message=exchange.error or "the tunnel failed", where=exchange.request.url, exchange=exchange.seq)
            )
        else:
            self._http(exchange)

    def _http(self, exchange: Exchange) -> None:
        parts = urlsplit(exchange.request.url)
        status = exchange.response.status if exchange.response else None
        broken = exchange.end not in (End.COMPLETE, End.CLIENT_CLOSED, None)
        error = (exchange.error or str(exchange.end)) if broken else None
        call = HttpCall(method=exchange.request.method, host=parts.netloc, path=parts.path or "/", status=status, error=error)
        self._add(call.model_copy(update={"exchange": exchange.seq, "mocked": exchange.rule}))

    # models

    def _model(self, exchange: Exchange, view: ModelView) -> None:
        thread = self._threads.of(view)
        place: dict[str, Any] = {"thread": thread.number, "exchange": exchange.seq}
        for said in thread.take(view):
            if said.role == "user" and (said.text or said.attachments):
                self._add(UserMessage(text=said.text, attachments=said.attachments, **place))
            for handed in said.handed:
                self._handed(handed, thread, place)
        call = self._add(_model_call(exchange, view, place))
        self._asked(view, call, place)

    def _handed(self, handed: Handed, thread: Thread, place: dict[str, Any]) -> None:
        key = (thread.number, handed.call_id or "")
        if handed.call_id and key in self._results:
            return
        self._results.add(key)
        facts = handed.model_dump() | {"mocked": self.replaced.get(handed.call_id or "")}
        result = ToolResult(**facts, **place)
        self._mapped(self._call_of(handed.call_id), result)

    def _asked(self, view: ModelView, by: int, place: dict[str, Any]) -> None:
        ours = [asked for asked in view.asked if not asked.by_provider]
        group = by if len(ours) > 1 else None
        for asked in view.asked:
            if asked.by_provider:
                data = {"tool": asked.tool, "arguments": asked.arguments}
                self._add(Event(name="server_tool", data=data, **place))
            else:
                self._call(asked, by, group, place)

    def _call(self, asked: Asked, by: int, group: int | None, place: dict[str, Any]) -> None:
        facts: dict[str, Any] = {**asked.model_dump(exclude={"by_provider"}), **self._hints(asked.tool), **place}
        self._mapped(ToolCall(by=by, parallel_group=group, **facts), None)

    def _mapped(self, call: ToolCall | None, result: ToolResult | None) -> None:
        """Add a call or its result, and what the scenario says that it means."""
        if result is not None:
            self._add(result)
        elif call is not None:
            self._add(call)
        if call is not None:
            for step in mapped(call, result, self._settings.observe):
                self._add(step)

    def _call_of(self, call_id: str | None) -> ToolCall | None:
        calls = (step for step in reversed(self._steps) if isinstance(step, ToolCall) and step.call_id == call_id)
        return next(calls, None) if call_id else None

    def _hints(self, tool: str) -> dict[str, bool | None]:
        given = self._settings.tools.get(tool)
        if given:
            return {"read_only": given == "read-only", "destructive": given == "destructive"}
        declared = self._declared.get(tool) or next((d for name, d in self._declared.items() if same_call(tool, name)), None)
        return {"read_only": declared.read_only, "destructive": declared.destructive} if declared else {}

    # MCP

    def _mcp(self, exchange: Exchange, view: McpView) -> None:
        place = exchange.request.url.partition("?")[0]
        if view.server:
            self._servers[place] = view.server
        self._declared |= {tool.name: tool for tool in view.declared}
        for request in view.requests:
            if request.method == "tools/call":
                self._executed(exchange, place, request)
            elif request.method in ("resources/read", "prompts/get"):
                self._add(Event(name=request.method, data=request.params, exchange=exchange.seq))
        for answer in view.answers:
            self._answered(exchange, place, answer)
        if view.error:
            self._add(ErrorStep(message=view.error, where=place, exchange=exchange.seq))

    def _executed(self, exchange: Exchange, place: str, request: McpRequest) -> None:
        params = request.params if isinstance(request.params, dict) else {}
        tool, arguments = str(params.get("name") or ""), params.get("arguments") or {}
        server = self._servers.get(place)
        facts = {"state": "executed", "executed_in": exchange.seq, "server": server, "mocked": exchange.rule} | self._hints(
            tool
        )
        seq = self._waiting(tool, arguments, server)
        if seq is None:
            call = ToolCall(tool=tool, arguments=arguments, exchange=exchange.seq)
            seq = self._add(call)
        self._change(seq, **facts)
        if request.id is not None:
            self._unanswered[place, request.id] = seq

    def _waiting(self, tool: str, arguments: Json, server: str | None) -> int | None:
        """The first call of that name and those arguments that was asked for and not executed yet."""
        for step in self._steps:
            if not isinstance(step, ToolCall) or step.state != "asked" or step.arguments != arguments:
                continue
            if same_call(step.tool, tool, server):
                return step.seq
        return None

    def _answered(self, exchange: Exchange, place: str, answer: McpAnswer) -> None:
        seq = self._unanswered.pop((place, answer.id or ""), None)
        if seq is None:
            return
        call = self._steps[seq - 1]
        assert isinstance(call, ToolCall)
        if call.call_id:
            self._results.add((call.thread, call.call_id))
        content, is_error = _content(answer)
        result = ToolResult(
            tool=call.tool, call_id=call.call_id, content=content, is_error=is_error, seen="wire", mocked=call.mocked
        )
        self._mapped(call, result.model_copy(update={"thread": call.thread, "exchange": exchange.seq}))

    # the whole

    def trace(self, info: RecordingInfo, seen: list[tuple[Exchange, View | None]]) -> Trace:
        answer = self._settings.answer
        main = self._threads.main(declares=answer.tools_include, said=self._settings.input)
        if (text := self._final(main)) is not None:
            self._add(FinalAnswer(text=text, thread=main.number if main else None))
        steps = _with_turns(self._steps, main.number if main else None)
        return Trace(
            recording=info,
            observed=observed(info, seen, steps, self._settings.observe),
            steps=steps,
            main_thread=main.number if main else None,
        )

    def _final(self, main: Thread | None) -> str | None:
        """The agent's own word; an answer tool's argument; the last model call's text, never an older one."""
        if self._answer is not None:
            return self._answer
        number = main.number if main else None
        calls = [step for step in self._steps if isinstance(step, ToolCall) and step.thread == number]
        given = next((call for call in reversed(calls) if call.tool in self._settings.answer.tools), None)
        if given:
            return _said_by(given)
        models = [step for step in self._steps if isinstance(step, ModelCall) and step.thread == number]
        if not models or not models[-1].complete or any(call.by == models[-1].seq for call in calls):
            return None
        return models[-1].text


def _model_call(exchange: Exchange, view: ModelView, place: dict[str, Any]) -> ModelCall:
    first, ended = exchange.timings.first_byte, exchange.timings.ended
    broken = (
        None
        if exchange.end in (End.COMPLETE, End.CLIENT_CLOSED, None)
        else exchange.error or f"the answer ended: {exchange.end}"
    )
    return ModelCall(
        provider=view.provider,
        api=view.api,
        requested_model=view.requested_model,
        model=view.model,
        parameters=view.parameters,
        system_digest=view.system_digest,
        history=len(view.said),
        tools=view.tools,
        streamed=view.streamed,
        stop_reason=view.stop_reason,
        usage=view.usage,
        text=view.text,
        reasoning=view.reasoning,
        error=view.error or broken,
        complete=view.complete and exchange.end is End.COMPLETE and view.error is None,
        mocked=exchange.rule,
        first_token_ms=None if first is None else first / 1000,
        total_ms=None if ended is None else ended / 1000,
        **place,
    )


def _content(answer: McpAnswer) -> tuple[Json, bool]:
    """(the text where it is text alone, else the JSON; whether it is an error)."""
    if answer.error is not None:
        return answer.error, True
    result = answer.result if isinstance(answer.result, dict) else {}
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    whole = bool(parts) and len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
    return ("\n".join(map(str, texts)) if whole else content), result.get("isError") is True


def _said_by(call: ToolCall) -> str:
    """The text of an answer tool: its only string argument, else its arguments as they are written."""
    values = list(call.arguments.values()) if isinstance(call.arguments, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else call.arguments_text


def _with_turns(steps: list[Step], main: int | None) -> tuple[Step, ...]:
    """Each user message of the main thread begins a turn; several at once begin one."""
    turn, out, before = 0, list[Step](), False
    for step in steps:
        begins = isinstance(step, UserMessage) and step.thread == main
        if begins and not before:
            turn += 1
        before = begins
        out.append(step.model_copy(update={"turn": max(turn, 1)}))
    return tuple(out)
