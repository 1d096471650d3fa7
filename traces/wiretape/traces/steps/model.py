"""A model call as steps: what is new in its history (user messages, results handed back), the call, and what it asks for."""

from __future__ import annotations

from typing import Any

from wiretape.traces.links import Call
from wiretape.traces.steps import meaning
from wiretape.traces.steps.work import Draft, Model, Work, mocked_by
from wiretape.traces.threads import Place
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    Asked,
    End,
    Event,
    Exchange,
    ModelCall,
    ModelView,
    Said,
    SocketView,
    ToolResult,
    UserMessage,
)

__all__ = ["add", "add_socket"]


def add_socket(work: Work, exchange: Exchange, view: SocketView) -> None:
    """Each call of a conversation ended by its own word; how the socket ended says nothing of those before the last."""
    for call in view.calls:
        _add(work, exchange, call, ended=call.complete or exchange.end is End.COMPLETE)
    if view.unknown_events:
        work.gaps.append(f"exchange {exchange.seq} holds messages of an unknown kind")


def add(work: Work, exchange: Exchange, view: ModelView) -> None:
    if view.aside:
        work.add(_model_call(exchange, view, None, ended=exchange.end is End.COMPLETE))
    else:
        _add(work, exchange, view, ended=exchange.end is End.COMPLETE)


def _add(work: Work, exchange: Exchange, view: ModelView, *, ended: bool) -> None:
    whole = ended and view.complete and view.error is None
    place = work.threads.place(view, number=exchange.seq, session=exchange.session, whole=whole)
    _mark_retried(work, place)
    _add_history(work, exchange, view, place)
    draft = work.add(_model_call(exchange, view, place.thread, ended=ended))
    asked = [call for call in view.asked if not call.by_provider]
    calls = [_add_asked(work, exchange, each, draft, parallel=len(asked) > 1) for each in view.asked]
    for approval in view.approvals:
        work.approvals[exchange.session, approval.id or ""] = approval.tool
        work.add(ApprovalRequest(thread=place.thread, exchange=exchange.seq, tool=approval.tool, call_id=approval.id))
    work.models.append(
        Model(
            draft=draft,
            number=exchange.seq,
            thread=place.thread,
            tools=frozenset(tool.name for tool in view.tools),
            first_text=next((said.text for said in view.said if said.role == "user" and said.text), None),
            said=view.text,
            asked=tuple(call for call in calls if isinstance(call.content, Call)),
            whole=whole,
            told=ended and (view.complete or view.error is not None),
        )
    )
    if view.unknown_events:
        work.gaps.append(f"exchange {exchange.seq} holds events of an unknown kind")


def _mark_retried(work: Work, place: Place) -> None:
    """A call that failed and was made again: what it began to ask for is asked for by the second alone."""
    for model in work.models if place.repeats else ():
        if model.number in place.repeats:
            model.retried = True


def _model_call(exchange: Exchange, view: ModelView, thread: int | None, *, ended: bool) -> ModelCall:
    timings, chunks = exchange.timings, exchange.response.chunks if exchange.response else ()
    return ModelCall(
        thread=thread,
        exchange=exchange.seq,
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
        error=view.error or (None if ended else broken(exchange)),
        complete=ended and view.complete,
        mocked=mocked_by(exchange),
        first_token_ms=chunks[0][0] / 1000 if view.streamed and chunks else None,
        total_ms=None if timings.ended is None else timings.ended / 1000,
    )


_BREAKS = {
    End.UPSTREAM_TRUNCATED: "the answer was cut: the connection was closed before its end",
    End.UPSTREAM_RESET: "the answer was cut: the connection was reset",
    End.TIMEOUT: "the answer timed out",
    End.REFUSED: "the connection was refused",
    End.INTERRUPTED: "the recording was interrupted before the answer ended",
}


def broken(exchange: Exchange) -> str | None:
    """What broke an exchange, for people; None where nothing did. A client that hangs up does so on purpose."""
    said = _BREAKS.get(exchange.end) if exchange.end else None
    return f"{said} ({exchange.error})" if said and exchange.error else said


def _add_asked(work: Work, exchange: Exchange, asked: Asked, by: Draft, *, parallel: bool) -> Draft:
    if asked.by_provider:
        data = {"tool": asked.tool, "arguments": asked.arguments}
        return work.add(Event(thread=by.thread, exchange=exchange.seq, name="server_tool", data=data))
    call = Call(
        tool=asked.tool,
        session=exchange.session,
        exchange=exchange.seq,
        call_id=asked.call_id,
        arguments=asked.arguments,
        arguments_text=asked.arguments_text,
        thread=by.thread,
    )
    draft = work.add_call(call, asker=by, parallel=parallel)
    meaning.of_call(work, call)
    return draft


# ---------------------------------------------------------------- the history


def _add_history(work: Work, exchange: Exchange, view: ModelView, place: Place) -> None:
    asked = {call.call_id: call for said in view.said for call in said.asked if call.call_id}
    before: Said | None = None
    for at in place.new:
        said = view.said[at]
        _look_for_gaps(work, exchange, said)
        for result in said.handed:
            call = work.calls.handed_back(
                result, asked.get(result.call_id or ""), thread=place.thread, session=exchange.session
            )
            step = ToolResult(
                thread=place.thread,
                exchange=exchange.seq,
                tool=call.tool if call else result.tool,
                call_id=result.call_id,
                content=result.content,
                is_error=result.is_error,
                mocked=work.replaced.get(result.call_id or ""),
            )
            _add_handed(work, exchange.session, step, call)
        for word in said.decided:
            tool = work.approvals.get((exchange.session, word.id or ""))
            where: dict[str, Any] = {"thread": place.thread, "exchange": exchange.seq, "call_id": word.id}
            work.add(ApprovalDecision(tool=tool, approved=word.approved is True, **where))
        if said.role == "user" and (said.text or said.attachments):
            _add_user_message(work, exchange, said, place.thread, opens=not said.handed and not _is_spoken(before))
        before = said


def _is_spoken(said: Said | None) -> bool:
    """A user's words without results among them: what follows directly is of the same turn."""
    return said is not None and said.role == "user" and not said.handed


def _add_user_message(work: Work, exchange: Exchange, said: Said, thread: int, *, opens: bool) -> None:
    step = UserMessage(thread=thread, exchange=exchange.seq, text=said.text, attachments=said.attachments)
    work.add(step, opens_turn=opens)


def _add_handed(work: Work, session: str, step: ToolResult, call: Call | None) -> None:
    """A result that was seen on the wire, or in an earlier prompt, is the same one."""
    if call is None:
        if work.first_time(session, step):
            work.add(step)
        return
    call.handed = True
    if call.answered:
        return
    call.answered = True
    if call.state == "asked":
        call.state = "executed"
    work.add(step)
    meaning.of_result(work, call, step)


def _look_for_gaps(work: Work, exchange: Exchange, said: Said) -> None:
    for asked in said.asked:
        if not asked.by_provider and not work.calls.holds(asked, exchange.session):
            work.gaps.append(f"exchange {exchange.seq} shows a call of {asked.tool} that was not seen being asked for")
