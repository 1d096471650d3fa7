"""MCP traffic as steps: tools/call executes a call, resources/read and prompts/get are events; the rest is no behaviour.

A server goes by several names: the one it gave in its answer to initialize (for the whole Mcp-Session-Id), the gateway's name
for its upstream, and its URL. An answer may come in another exchange than its request: on the GET stream of the older
transport, or on a stream that was resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from wiretape.traces.links import Call, Execution
from wiretape.traces.steps import meaning
from wiretape.traces.steps.model import broken
from wiretape.traces.steps.work import Draft, Work, mocked_by
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    ErrorStep,
    Event,
    Exchange,
    Json,
    McpAnswer,
    McpRequest,
    McpView,
    ToolResult,
    header,
)

__all__ = ["Mcp"]

_EVENTS = ("prompts/get", "resources/read")
_ASKS_PEOPLE = "elicitation/create"


type _Key = tuple[str, str, str]
"""(session, address, JSON text of the JSON-RPC id)"""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call whose answer did not come in its own exchange."""

    call: Call
    mocked: str | None


@dataclass
class Mcp:
    work: Work
    _names: dict[str, str] = field(default_factory=dict)
    """Mcp-Session-Id, and URL → the server's own name."""
    _waiting: dict[_Key, _Waiting] = field(default_factory=dict)
    _early: dict[_Key, McpAnswer] = field(default_factory=dict)
    """Answers without a request so far."""
    _asked_people: dict[_Key, Draft] = field(default_factory=dict)
    """Approvals without a decision so far."""

    def add(self, exchange: Exchange, view: McpView) -> None:
        self.work.listened = True
        servers = self._servers(exchange, view)
        self.work.declared.extend((servers, tool) for tool in view.declared)
        if view.unknown_events:
            self.work.gaps.append(f"exchange {exchange.seq} holds events of an unknown kind")
        calls = {each.id: call for each in view.requests if (call := self._request(exchange, each, servers))}
        self._people_asked(exchange, view, list(calls.values()))
        self._people_answered(exchange, view)
        self._answers(exchange, view, calls)

    # servers

    def _servers(self, exchange: Exchange, view: McpView) -> tuple[str, ...]:
        """All names that this exchange's server goes by, its own first."""
        place, session = _place(exchange), _session(exchange, view)
        if view.server:
            self._names[session or place] = self._names[place] = view.server
        own = (self._names.get(session or "") or self._names.get(place), exchange.upstream)
        return (*(name for name in own if name), place)

    # requests

    def _request(self, exchange: Exchange, request: McpRequest, servers: tuple[str, ...]) -> Call | None:
        """The call that it carries out, if it is one."""
        params = request.params if isinstance(request.params, dict) else {}
        if request.method in _EVENTS:
            data = {"server": _shown(servers), **{key: params[key] for key in ("arguments", "name", "uri") if key in params}}
            self.work.add(Event(exchange=exchange.seq, name=request.method, data=data))
        return self._execution(exchange, request, params, servers) if request.method == "tools/call" else None

    def _execution(self, exchange: Exchange, request: McpRequest, params: dict[str, Json], servers: tuple[str, ...]) -> Call:
        """The call that this request carries out, a new one where nobody asked."""
        name = params.get("name")
        tool, arguments = name if isinstance(name, str) else "", params.get("arguments")
        ids = frozenset(_strings(params.get("_meta"))) | {(request.id or "").strip('"')}
        execution = Execution(exchange.session, exchange.seq, tool, arguments, servers, ids)
        call = self.work.calls.executed(execution)
        if call is None:
            call = Call(tool, exchange.session, exchange.seq, arguments={} if arguments is None else arguments)
            self.work.add_call(call)
            meaning.of_call(self.work, call)
        call.server, call.executed_as, call.executed_in = _shown(servers), tool, exchange.seq
        call.mocked = mocked_by(exchange)
        return call

    # answers

    def _answers(self, exchange: Exchange, view: McpView, calls: dict[str | None, Call]) -> None:
        """Those in this exchange to calls of this one and of others, and those in others to calls of this one."""
        answers = {answer.id: answer for answer in view.answers if answer.id is not None}
        asked = {request.id for request in view.requests}
        for request_id, call in calls.items():
            key = self._key(exchange, request_id)
            answer = answers.get(request_id or "") or self._early.pop(key, None)
            if answer:
                self._answer(exchange, call, answer, mocked_by(exchange))
            else:
                self._unanswered(exchange, view, call, key)
        for answer_id in [each for each in answers if each not in asked]:
            waiting = self._waiting.pop(self._key(exchange, answer_id), None)
            if waiting is None:
                self._early[self._key(exchange, answer_id)] = answers[answer_id]
            elif not waiting.call.answered:
                self._answer(exchange, waiting.call, answers[answer_id], waiting.mocked)

    def _unanswered(self, exchange: Exchange, view: McpView, call: Call, key: _Key) -> None:
        """It was refused and not carried out, or it was sent and broke, or the answer comes another way."""
        refused = view.error or _refusal(exchange, view)
        failure = refused or broken(exchange)
        if failure:
            where = f"tools/call {call.executed_as} of {call.server or 'an MCP server'}"
            self.work.add(ErrorStep(thread=call.thread, exchange=exchange.seq, message=failure, where=where))
        else:
            self._waiting[key] = _Waiting(call, mocked_by(exchange))
        if refused:
            call.executed_in = None
        else:
            call.state = "executed"

    def _answer(self, exchange: Exchange, call: Call, answer: McpAnswer, mocked: str | None) -> None:
        call.state, call.answered = "executed", True
        content, is_error = _content(answer)
        result = ToolResult(
            thread=call.thread,
            exchange=exchange.seq,
            tool=call.tool,
            call_id=call.call_id,
            content=content,
            is_error=is_error,
            seen="wire",
            mocked=mocked,
        )
        self.work.add(result)
        meaning.of_result(self.work, call, result)

    def _key(self, exchange: Exchange, rpc_id: str | None) -> _Key:
        return exchange.session, _address(exchange), rpc_id or ""

    # approvals: a server asks the user while it works on a call, and the client answers in an exchange of its own

    def _people_asked(self, exchange: Exchange, view: McpView, calls: list[Call]) -> None:
        call = calls[0] if len(calls) == 1 else None
        for request in view.from_server:
            if request.method == _ASKS_PEOPLE:
                step = ApprovalRequest(
                    thread=call.thread if call else None,
                    exchange=exchange.seq,
                    tool=call.tool if call else None,
                    call_id=call.call_id if call else None,
                )
                self._asked_people[self._key(exchange, request.id)] = self.work.add(step)

    def _people_answered(self, exchange: Exchange, view: McpView) -> None:
        """The decision stands behind its request: the call's own exchange, which began before, ended after it."""
        for reply in view.replies:
            draft = self._asked_people.pop(self._key(exchange, reply.id), None)
            if draft and isinstance(asked := draft.content, ApprovalRequest):
                step = ApprovalDecision(
                    thread=asked.thread,
                    exchange=exchange.seq,
                    tool=asked.tool,
                    call_id=asked.call_id,
                    approved=_accepted(reply.result),
                )
                self.work.insert(step, after=draft)


def _address(exchange: Exchange) -> str:
    """Scheme and authority: the older transport posts to another path than it listens on."""
    try:
        parts = urlsplit(exchange.request.url)
    except ValueError:
        return exchange.request.url
    return f"{parts.scheme}://{parts.netloc}"


def _place(exchange: Exchange) -> str:
    return exchange.request.url.partition("?")[0]


def _session(exchange: Exchange, view: McpView) -> str | None:
    """The answer to initialize hands it out."""
    return view.session or (header(exchange.response.headers, "mcp-session-id") if exchange.response else None)


def _refusal(exchange: Exchange, view: McpView) -> str | None:
    """An error status that answers no request in particular: the session is gone, nobody is allowed in."""
    if exchange.response is None or exchange.response.status < 400:
        return None
    errors = (answer.error for answer in view.answers if isinstance(answer.error, dict))
    words = (str(error["message"]) for error in errors if error.get("message"))
    return next(words, f"HTTP {exchange.response.status}")


def _shown(servers: tuple[str, ...]) -> str | None:
    """A name for people; the URL, which comes last, is none."""
    return servers[0] if len(servers) > 1 else None


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (item for item in value.values() if isinstance(item, str))


def _accepted(result: Json) -> bool:
    """An accepted form may still say no: https://modelcontextprotocol.io/specification/2025-06-18/client/elicitation"""
    if not isinstance(result, dict) or result.get("action") != "accept":
        return False
    content = result.get("content")
    return not (isinstance(content, dict) and any(value is False for value in content.values()))


def _content(answer: McpAnswer) -> tuple[Json, bool]:
    """(content, is_error): the text where it is text alone, else the JSON as it stood."""
    result = answer.result
    if answer.error is not None or not isinstance(result, dict):
        return (answer.error if answer.error is not None else result), answer.error is not None
    parts = result.get("content")
    content = _text(parts) if isinstance(parts, list) and parts else result.get("structuredContent", parts)
    return content, result.get("isError") is True


def _text(parts: list[Json]) -> Json:
    found = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text")
    texts = [text for text in found if isinstance(text, str)]
    return "\n".join(texts) if len(texts) == len(parts) else parts
