"""The provider as an ASGI app. It sends the recorded bytes; only the pauses between the events of a stream are its own."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from examples.provider.errors import error
from examples.provider.question import Question, read
from examples.provider.table import find, known

__all__ = ["PATHS", "create_app", "events"]

PATHS = {"/v1/chat/completions": "chat", "/v1/messages": "messages", "/v1/responses": "responses"}


def create_app(pause: float = 0.002) -> Starlette:
    """`pause`: seconds before each event of a stream."""
    routes = [Route(path, partial(_answer, api, pause), methods=["POST"]) for path, api in PATHS.items()]
    traces = Route("/v1/traces/ingest", _take_traces, methods=["POST"])
    return Starlette(routes=[*routes, traces], exception_handlers={404: _no_such_path, 405: _no_such_path})


def events(body: bytes) -> list[bytes]:
    """A stream's body cut after each event, no byte lost."""
    return [piece for piece in re.split(rb"(?<=\n\n)", body) if piece]


async def _answer(api: str, pause: float, request: Request) -> Response:
    if not (request.headers.get("authorization") or request.headers.get("x-api-key")):
        return error(api, 401, "No API key was sent; this provider takes any, but not none.", "invalid_api_key")
    try:
        question = read(api, json.loads(await request.body()))
    except (ValueError, LookupError, TypeError, AttributeError):
        return error(api, 400, f"The body is not a JSON request of this API ({request.url.path}).", "invalid_request")
    file = find(question)
    if file is None:
        return error(api, 400, _unknown(question), "unknown_question")
    return _send(file, pause)


def _unknown(question: Question) -> str:
    asked = f"{question.model}, {'streaming' if question.streaming else 'not streaming'}"
    results = ", ".join(question.results) or "none"
    return (
        f"No answer was recorded for this question ({asked}; tool results so far: {results}). "
        f"Recorded over this API are {known(question.api)}."
    )


def _send(file: Path, pause: float) -> Response:
    body = file.read_bytes()
    if file.suffix == ".json":
        return Response(body, media_type="application/json")
    return StreamingResponse(_paced(events(body), pause), media_type="text/event-stream; charset=utf-8")


async def _paced(pieces: list[bytes], pause: float) -> AsyncIterator[bytes]:
    for piece in pieces:
        await asyncio.sleep(pause)
        yield piece


async def _take_traces(request: Request) -> Response:
    """openai-agents posts its spans here; the real one answers with an empty 204 too."""
    await request.body()
    return Response(status_code=204)


async def _no_such_path(request: Request, _: Exception) -> Response:
    api = "messages" if request.url.path.startswith("/v1/messages") else "chat"
    message = f"{request.method} {request.url.path} is not served here; POST one of {', '.join(PATHS)}."
    return error(api, 404, message, "unknown_url")
