"""The control API of a running sidecar: thin routes on a loopback port of their own.

Every request needs the run's bearer token, but for health; Host and Origin are checked, so that no web page can reach it by way
of a browser. One error shape: `{"error": {"code", "message", "detail"}}`.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from wiretape.proxy import control_rules as rules
from wiretape.proxy.events import read_event
from wiretape.traces.errors import CaptureError, InvalidFile, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from wiretape.proxy.sidecar import Sidecar

__all__ = ["ROUTES", "control_app", "serve"]

_OPEN = frozenset({"/healthz", "/readyz"})
_STATUS = {"not_found": 404, "conflict": 409, "mocks_refused": 403}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

type Handler = Callable[[Request], Awaitable[Response]]


def _error(status: int, code: str, message: str, detail: object = None) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "detail": detail}}, status)


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _mode(request: Request) -> Response:
    return JSONResponse({"mode": _sidecar(request).settings.mode})


async def _event(request: Request) -> Response:
    event = read_event(await request.body())
    if isinstance(event, str):
        return _error(400, "invalid_event", event)
    _sidecar(request).capture.event(str(event.get("session", "")), event)
    return Response(status_code=204)


async def _shutdown(request: Request) -> Response:
    request.app.state.stop.set()
    return JSONResponse({"status": "stopping"}, 202)


ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", "/healthz"): _health,
    ("GET", "/readyz"): _health,
    ("GET", "/v1/mode"): _mode,
    ("GET", "/v1/rules"): rules.list_all,
    ("POST", "/v1/rules"): rules.add,
    ("PUT", "/v1/rules/order"): rules.order,
    ("POST", "/v1/rules/from-exchange/{seq:int}"): rules.from_exchange,
    ("GET", "/v1/rules/{id}"): rules.show,
    ("PUT", "/v1/rules/{id}"): rules.replace,
    ("PATCH", "/v1/rules/{id}"): rules.change,
    ("DELETE", "/v1/rules/{id}"): rules.delete,
    ("POST", "/v1/rules/{id}/toggle"): rules.toggle,
    ("POST", "/v1/events"): _event,
    ("POST", "/v1/shutdown"): _shutdown,
}


def _sidecar(request: Request) -> Sidecar:
    sidecar: Sidecar = request.app.state.sidecar
    return sidecar


def control_app(sidecar: Sidecar, token: str, stop: asyncio.Event) -> Starlette:
    """The app; `stop` is set when a client asks the sidecar to end."""

    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        origin = request.headers.get("origin")
        if request.url.hostname not in _LOOPBACK or (origin and urlsplit(origin).hostname not in _LOOPBACK):
            return _error(403, "forbidden", "the control API answers loopback addresses alone")
        given = request.headers.get("authorization", "")
        if request.url.path not in _OPEN and not secrets.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return _error(401, "unauthorized", "send the token of --token-file as `Authorization: Bearer …`")
        return await call_next(request)

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _error(status, {404: "not_found", 405: "method_not_allowed"}.get(status, "error"), str(error))

    async def misused(_: Request, error: Exception) -> Response:
        faults = [error, *error.also] if isinstance(error, InvalidFile) else []
        detail = [{"line": each.line, "field": each.field, "message": each.problem} for each in faults]
        code = error.code if isinstance(error, UsageError) else "error"
        return _error(_STATUS.get(code, 400), code, str(error), detail or None)

    app = Starlette(
        routes=[Route(path, handler, methods=[method]) for (method, path), handler in ROUTES.items()],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)],
        exception_handlers={HTTPException: refused, UsageError: misused, 500: refused},
    )
    app.state.sidecar, app.state.stop = sidecar, stop
    return app


class _Quiet(uvicorn.Server):
    """uvicorn's server without its signal handlers: signals are the command's."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]  # a generator context manager there
        return nullcontext()


@asynccontextmanager
async def serve(app: Starlette, host: str, port: int) -> AsyncIterator[str]:
    """Within: the app answers at the URL that is yielded. CaptureError where the port is taken."""
    server = _Quiet(uvicorn.Config(app, log_config=None, lifespan="off", access_log=False, ws="none"))
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise CaptureError(
            f"control port {port} on {host} cannot be listened on ({error.strerror}). Choose another with --control-port."
        ) from None
    running = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
            await asyncio.sleep(0.005)
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()
