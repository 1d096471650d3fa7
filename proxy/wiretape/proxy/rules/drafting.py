"""An exchange as the rule that would answer it so again: switched off, to be looked at and changed before it is switched on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from wiretape.proxy.rules.mcp import called, result_of
from wiretape.traces import codings
from wiretape.traces.decoders import decode
from wiretape.traces.types import Exchange, Json, ModelView, header

__all__ = ["drafted", "drafted_call"]


def drafted(exchange: Exchange) -> dict[str, Json]:
    """A rule as a file has it. ValueError where there is no answer to draft from."""
    plain = _plain(exchange)
    if plain.response is None:
        raise ValueError(f"exchange {exchange.seq} has no answer")
    if call := called(plain.request):
        value = result_of(plain.response.body, call)
        return {**drafted_call(call.tool, call.arguments, value, exchange.seq), "where": "mcp"}
    view = decode(plain, plain.response.body)
    if isinstance(view, ModelView) and view.text:
        match = {"api": view.api, **({"model": view.requested_model} if view.requested_model else {})}
        head = {"id": _id(view.requested_model or view.api, exchange.seq), "enabled": False, "where": "model", "match": match}
        return {**head, "answer": {"text": view.text}}
    return _http(plain)


def drafted_call(tool: str, arguments: Json, value: Json, seq: int) -> dict[str, Json]:
    """A rule about a tool: the same arguments, the same result."""
    given = arguments if isinstance(arguments, Mapping) else {}
    when = [{"arg": name, "equals": each} for name, each in given.items() if not isinstance(each, Mapping | list)]
    answer = {"text": value} if isinstance(value, str) else {"json": value}
    return {"id": _id(tool, seq), "enabled": False, "where": "mcp", "match": {"tool": tool}, "when": when, "answer": answer}


def _http(exchange: Exchange) -> dict[str, Json]:
    request, response = exchange.request, exchange.response
    assert response is not None
    parts = urlsplit(request.url)
    place = {"upstream": exchange.upstream} if exchange.upstream else {"host": parts.netloc}
    match = {**place, "method": request.method, "path": parts.path or "/"}
    when = [{"query": name, "equals": value} for name, value in parse_qsl(parts.query)]
    try:
        content: dict[str, Json] = {"json": json.loads(response.body)}
    except ValueError:
        kind = header(response.headers, "content-type")
        content = {"text": response.body.decode("utf-8", "replace"), **({"headers": {"Content-Type": kind}} if kind else {})}
    name = parts.path.rsplit("/", 1)[-1] or parts.netloc
    head = {"id": _id(name, exchange.seq), "enabled": False, "where": "http", "match": match}
    return {**head, **({"when": when} if when else {}), "answer": {"status": response.status, **content}}


def _id(name: str, seq: int) -> str:
    return f"{re.sub('[^A-Za-z0-9_.:-]+', '-', name).strip('-') or 'rule'}-{seq}"


def _plain(exchange: Exchange) -> Exchange:
    request, response = exchange.request, exchange.response
    if request.body:
        request = replace(request, body=codings.undo(request.body, request.headers) or request.body)
    if response is not None:
        response = replace(response, body=codings.undo(response.body, response.headers) or b"")
    return replace(exchange, request=request, response=response)
