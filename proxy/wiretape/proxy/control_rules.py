"""The control API's routes about mock rules. A change holds for the very next request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from json import dumps, loads
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wiretape.proxy.rules.book import Switch
from wiretape.proxy.rules.drafting import drafted
from wiretape.proxy.rules.model import Rule
from wiretape.proxy.rules.patch import merged
from wiretape.proxy.rules.reading import read_rule
from wiretape.traces.errors import UsageError
from wiretape.traces.types import Json

if TYPE_CHECKING:
    from wiretape.proxy.mocking import Mocks
    from wiretape.proxy.sidecar import Sidecar

__all__ = ["add", "change", "delete", "from_exchange", "list_all", "order", "replace", "show", "toggle"]


async def list_all(request: Request) -> Response:
    return _listed(_mocks(request))


async def add(request: Request) -> Response:
    return await _added(_mocks(request), await _text(request))


async def show(request: Request) -> Response:
    return _told(_mocks(request).book.get(_id(request)))


async def replace(request: Request) -> Response:
    mocks = _mocks(request)
    return await _kept(mocks, mocks.book.replace(_id(request), read_rule(await _text(request), "rule")))


async def change(request: Request) -> Response:
    """JSON merge patch (RFC 7396)."""
    mocks, id = _mocks(request), _id(request)
    patched = merged(mocks.book.get(id).as_json(), await _json(request))
    return await _kept(mocks, mocks.book.replace(id, read_rule(dumps(patched), "rule")))


async def delete(request: Request) -> Response:
    mocks = _mocks(request)
    mocks.book.remove(_id(request))
    await asyncio.to_thread(mocks.save)
    return Response(status_code=204)


async def toggle(request: Request) -> Response:
    mocks = _mocks(request)
    return await _kept(mocks, mocks.book.switch(_id(request), Switch.TOGGLE))


async def order(request: Request) -> Response:
    mocks, ids = _mocks(request), await _json(request)
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        raise UsageError("expected a list with the id of every rule, in the new order.")
    mocks.book.order(ids)
    await asyncio.to_thread(mocks.save)
    return _listed(mocks)


async def from_exchange(request: Request) -> Response:
    sidecar: Sidecar = request.app.state.sidecar
    try:
        exchange = await asyncio.to_thread(sidecar.exchange, int(request.path_params["seq"]))
        rule = drafted(exchange)
    except (LookupError, ValueError) as error:
        raise UsageError(f"no rule can be made of that exchange: {error}.") from None
    return await _added(_mocks(request), dumps(rule))


def _mocks(request: Request) -> Mocks:
    mocks: Mocks = request.app.state.sidecar.mocks
    if request.method != "GET":
        mocks.refuse_changes()
    return mocks


def _id(request: Request) -> str:
    return str(request.path_params["id"])


async def _text(request: Request) -> str:
    try:
        return (await request.body()).decode()
    except UnicodeDecodeError:
        raise UsageError("expected a rule as JSON or YAML in UTF-8.") from None


async def _json(request: Request) -> Json:
    try:
        return loads(await _text(request))
    except ValueError as error:
        raise UsageError(f"expected JSON: {error}.") from None


async def _added(mocks: Mocks, text: str) -> Response:
    return await _kept(mocks, mocks.book.add(read_rule(text, "rule")), 201)


async def _kept(mocks: Mocks, rule: Rule, status: int = 200) -> Response:
    await asyncio.to_thread(mocks.save)
    return _told(rule, status)


def _told(rule: Rule, status: int = 200) -> Response:
    return JSONResponse(rule.as_json(), status)


def _listed(mocks: Mocks) -> Response:
    told: Mapping[str, Json] = {
        "rules": [rule.as_json() for rule in mocks.book.rules],
        "answered": {rule.id: mocks.book.answered(rule.id) for rule in mocks.book.rules},
    }
    return JSONResponse(told)
