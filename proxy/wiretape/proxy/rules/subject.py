"""A request as rules see it: whom it is for, and the arguments that their conditions ask about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

from wiretape.proxy.dialects import dialect_of, model_of
from wiretape.proxy.rules.mcp import called
from wiretape.traces.decoders import decode, detect
from wiretape.traces.decoders.requests import body_of
from wiretape.traces.types import Exchange, Headers, Json, ModelView, Request

__all__ = ["Names", "Subject", "Where", "base_names", "subjects_of"]

type Names = Mapping[str, tuple[str, ...]]
"""What `match` may ask for → what the request is called by."""


class Where(StrEnum):
    HTTP = "http"
    MCP = "mcp"
    MODEL = "model"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Subject:
    names: Names
    args: Json = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Headers = ()

    def fits(self, match: Mapping[str, str]) -> bool:
        """Every key given must hold; a * at the end matches any rest."""
        return all(any(_fits(pattern, name) for name in self.names.get(key, ())) for key, pattern in match.items())


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def base_names(request: Request, upstream: str | None) -> Names:
    parts = urlsplit(request.url)
    return {
        "upstream": (upstream,) if upstream else (),
        "host": (parts.netloc, parts.hostname or ""),
        "method": (request.method,),
        "path": (parts.path or "/",),
    }


def subjects_of(request: Request, upstream: str | None, servers: Iterable[str] = ()) -> Mapping[Where, Subject]:
    """One for each kind of rule that the request can meet. `request` has its body without content coding."""
    names, query = base_names(request, upstream), dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))
    body = body_of(request)
    found = {Where.HTTP: Subject(names, body, query, request.headers)}
    api = detect(request)
    if api == "mcp" and (call := called(request)):
        more = {"tool": (call.tool,), "server": (*names["upstream"], *names["host"], *servers)}
        found[Where.MCP] = Subject({**names, **more}, call.arguments, query, request.headers)
    view = decode(Exchange(0, request), b"") if api and api != "mcp" else None
    if called_by := (view.api if isinstance(view, ModelView) else dialect_of(request)):
        more = {"api": (called_by,), "model": (model,) if (model := model_of(request)) else ()}
        found[Where.MODEL] = Subject({**names, **more}, body, query, request.headers)
    return found
