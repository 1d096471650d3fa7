"""Exchanges become a trace: decode each, link what belongs together, number the steps.

`build` is the pure half and takes what decoders read; `assemble` decodes for it. Both take exchanges one at a time in the order
of their seq and let go of each body and view, so that memory follows the steps and not the recording.

Noise and probes are no part of the agent's behaviour and left out. An event stands before the first exchange that started after
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from wiretape.traces.answer import add_final_answer, main_thread, number_turns
from wiretape.traces.codings import undo
from wiretape.traces.decoders import decode, decode_stdio
from wiretape.traces.links import Call
from wiretape.traces.observed import gaps, observed
from wiretape.traces.settings import TraceSettings
from wiretape.traces.steps import events as event_steps
from wiretape.traces.steps import http, model
from wiretape.traces.steps.mcp import Mcp
from wiretape.traces.steps.work import Work
from wiretape.traces.types import (
    A2aView,
    End,
    Exchange,
    ExchangeKind,
    ModelView,
    RecordingInfo,
    SocketView,
    Source,
    Trace,
    View,
)

__all__ = ["RESULT_REPLACED", "AgentEvent", "assemble", "build"]

RESULT_REPLACED = "tool_result_replaced"
"""Type of the event that a sidecar notes where a rule gave the model another result of a tool: `call_id`, `rule`. No step."""

type AgentEvent = tuple[float, str, dict[str, Any]]
"""(seconds since the epoch, session, what the agent sent)"""


def assemble(
    info: RecordingInfo,
    exchanges: Iterable[Exchange],
    events: Iterable[AgentEvent] = (),
    settings: TraceSettings = TraceSettings(),  # noqa: B008 - a frozen value
) -> Trace:
    """The trace of these exchanges, in the order of their seq: all of a recording, or of one of its sessions."""
    return build(info, _decoded(exchanges), events, settings)


def build(
    info: RecordingInfo,
    exchanges: Iterable[tuple[Exchange, View | None]],
    events: Iterable[AgentEvent] = (),
    settings: TraceSettings = TraceSettings(),  # noqa: B008 - a frozen value
) -> Trace:
    """As `assemble`, from exchanges whose content codings are taken off and what a decoder read in each (None: plain HTTP)."""
    work = Work(settings)
    mcp = Mcp(work)
    waiting = sorted(events, key=lambda event: event[0])
    work.replaced = {event["call_id"]: event["rule"] for _, _, event in waiting if event.get("type") == RESULT_REPLACED}
    waiting = [event for event in waiting if event[2].get("type") != RESULT_REPLACED]
    for exchange, view in exchanges:
        while waiting and waiting[0][0] < exchange.started_at:
            _add_event(work, waiting.pop(0))
        _add(work, mcp, exchange, view)
    for event in waiting:
        _add_event(work, event)
    return _finished(info, work)


def _decoded(exchanges: Iterable[Exchange]) -> Iterator[tuple[Exchange, View | None]]:
    """A conversation over stdio lasts while others begin: what was said in it stands where it was said."""
    talks: list[tuple[Exchange, View | None]] = []
    for exchange in filter(_is_behaviour, exchanges):
        while talks and talks[0][0].started_at < exchange.started_at:
            yield talks.pop(0)
        if exchange.kind is ExchangeKind.STDIO:
            talks = sorted([*talks, *_said(exchange)], key=lambda said: said[0].started_at)
        else:
            plain, body = _without_codings(exchange)
            yield plain, decode(plain, body)
    yield from talks


def _said(talk: Exchange) -> Iterator[tuple[Exchange, View | None]]:
    """A conversation as one exchange for each message of its client; whole where it is none of MCP."""
    found = decode_stdio(talk.messages)
    if not found:
        yield talk, None
    for at, view in found:
        answered = len(view.answers) >= sum(each.id is not None for each in view.requests)
        end = End.COMPLETE if answered else talk.end
        yield replace(talk, started_at=talk.started_at + at / 1e6, messages=(), end=end), view


def _without_codings(exchange: Exchange) -> tuple[Exchange, bytes]:
    """What can be read of the answer's body (a damaged one then counts as cut); a request's that cannot stays as it is."""
    request, response = exchange.request, exchange.response
    if request.body:
        request = replace(request, body=undo(request.body, request.headers) or request.body)
    if response:
        response = replace(response, body=undo(response.body, response.headers, partial=True) or b"")
    return replace(exchange, request=request, response=response), response.body if response else b""


def _is_behaviour(exchange: Exchange) -> bool:
    return not exchange.noise and exchange.source is not Source.PROBE


def _add(work: Work, mcp: Mcp, exchange: Exchange, view: View | None) -> None:
    if not _is_behaviour(exchange):
        return
    if exchange.response and exchange.request.method.upper() != "CONNECT":
        work.served.add((exchange.session, http.host_of(exchange)))
    if isinstance(view, ModelView):
        model.add(work, exchange, view)
    elif isinstance(view, SocketView):
        model.add_socket(work, exchange, view)
    elif isinstance(view, A2aView):
        http.add_a2a(work, exchange, view)
    elif view is not None:
        mcp.add(exchange, view)
    else:
        http.add(work, exchange)


def _add_event(work: Work, event: AgentEvent) -> None:
    _, session, payload = event
    event_steps.add(work, session, payload)


def _finished(info: RecordingInfo, work: Work) -> Trace:
    _settle_rejected(work)
    _drop_repeated(work)
    main = main_thread(work.models, work.settings)
    number_turns(work.kept(), main)
    add_final_answer(work, main)
    steps = tuple(work.steps())
    found = gaps(info, work)
    return Trace(recording=info, observed=observed(info, work, steps, found), steps=steps, main_thread=main, gaps=found)


def _settle_rejected(work: Work) -> None:
    """A client that refused one connection and used another to the same host dropped a spare one; that is no error."""
    for session, host, draft in work.rejected:
        if (session, host) in work.served:
            draft.dropped = True
        else:
            work.gaps.append(f"connections to {host} were refused by the client")


def _drop_repeated(work: Work) -> None:
    """What a failed call began to ask for, and the agent did not do: the call that was made in its place asks for it."""
    for each in work.models:
        for draft in each.asked:
            if each.retried and not each.whole and isinstance(draft.content, Call) and draft.content.state == "asked":
                draft.dropped = True
