"""Any other exchange of the agent as steps: an HTTP call, which may be the work of a tool call.

It is where that is certain: the request carries the call's id, or its last path segment is the tool's name and its JSON body,
or its query, the call's very arguments. It stays a step of its own, and what the tool answered is what the agent handed back:
a tool makes of an HTTP answer what it likes. A connection that the client refused, or that never came about, is an error.
"""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from wiretape.traces.jsontext import MISSING, read
from wiretape.traces.links import Execution
from wiretape.traces.steps.model import broken
from wiretape.traces.steps.work import Work, mocked_by
from wiretape.traces.types import A2aView, End, ErrorStep, Event, Exchange, ExchangeKind, HttpCall

__all__ = ["add", "add_a2a", "host_of"]

_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}


def add(work: Work, exchange: Exchange) -> None:
    if exchange.request.method.upper() == "CONNECT":
        _add_refused(work, exchange)
        return
    if exchange.kind is not ExchangeKind.HTTP:
        work.gaps.append(f"exchange {exchange.seq} is a {exchange.kind} conversation of no known API")
    elif _resembles_model_call(exchange):
        work.gaps.append(f"exchange {exchange.seq} resembles a model call of an API that is not known")
    _link(work, exchange)
    parts = _split(exchange.request.url)
    work.add(
        HttpCall(
            exchange=exchange.seq,
            method=exchange.request.method,
            host=host_of(exchange),
            path=parts.path or "/",
            status=exchange.response.status if exchange.response else None,
            error=broken(exchange),
            mocked=mocked_by(exchange),
        )
    )
    if exchange.end in (End.TIMEOUT, End.REFUSED):
        where = f"{exchange.request.method} {host_of(exchange)}{parts.path}"
        work.add(ErrorStep(exchange=exchange.seq, message=broken(exchange) or "", where=where))


def add_a2a(work: Work, exchange: Exchange, view: A2aView) -> None:
    """Another agent that was asked: the request is behaviour, what was said stands beside it."""
    add(work, exchange)
    told = {"said": view.said, "text": view.text, "state": view.state, "error": view.error}
    data = {name: value for name, value in told.items() if value is not None}
    work.add(Event(exchange=exchange.seq, name=f"a2a {view.method}", data=data))


def host_of(exchange: Exchange) -> str:
    """Host and port, the default port left out."""
    url = exchange.request.url
    parts = _split(url if "://" in url else f"https://{url}")
    _, _, authority = parts.netloc.rpartition("@")
    return authority.removesuffix(f":{_DEFAULT_PORTS.get(parts.scheme, '')}")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def _add_refused(work: Work, exchange: Exchange) -> None:
    """A client that refuses one connection and takes another dropped a spare one: settled at the end, when that is known."""
    if exchange.end is End.COMPLETE:
        return
    host, message = host_of(exchange), exchange.error or broken(exchange) or ""
    draft = work.add(ErrorStep(exchange=exchange.seq, message=message, where=f"CONNECT {host}"))
    work.rejected.append((exchange.session, host, draft))


def _resembles_model_call(exchange: Exchange) -> bool:
    """By the shape of its body, never by the host."""
    body = read((exchange.request.body or b"").decode("utf-8", "replace"))
    if not isinstance(body, dict):
        return False
    histories = any(isinstance(body.get(key), list) for key in ("contents", "messages"))
    return histories or ("model" in body and any(key in body for key in ("input", "prompt")))


# ---------------------------------------------------------------- executions


def _link(work: Work, exchange: Exchange) -> None:
    parts = _split(exchange.request.url)
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    body = read((exchange.request.body or b"").decode("utf-8", "replace"))
    texts = (*segments, *query.values(), *(value for _, value in exchange.request.headers))
    execution = Execution(
        session=exchange.session,
        exchange=exchange.seq,
        tool=segments[-1] if segments else "",
        arguments=body if isinstance(body, dict) else MISSING,
        ids=frozenset(text for text in texts if _may_be_id(text)),
    )
    call = work.calls.certainly_executed(execution, None if exchange.request.body else query)
    if call:
        call.state, call.executed_as, call.executed_in = "executed", call.tool, exchange.seq
        call.mocked = mocked_by(exchange)


def _may_be_id(text: str) -> bool:
    """Some servers give a call its tool's name, or a number, as id: those are no evidence."""
    return len(text) >= 8 and any(char.isdigit() for char in text)
