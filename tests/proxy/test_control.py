from __future__ import annotations

import asyncio
import json
from pathlib import Path

from starlette.testclient import TestClient

from wiretape.proxy.control import ROUTES, control_app
from wiretape.proxy.sidecar import Mode, Sidecar, SidecarSettings

TOKEN = {"Authorization": "Bearer secret-token"}


def client(stop: asyncio.Event | None = None) -> TestClient:
    sidecar = Sidecar(SidecarSettings(Mode.PASSTHROUGH, Path("x.db")))
    return TestClient(control_app(sidecar, "secret-token", stop or asyncio.Event()), base_url="http://127.0.0.1")


def test_health_needs_no_token_and_everything_else_does() -> None:
    for method, path in ROUTES:
        status = client().request(method, path).status_code
        assert status == (200 if path in ("/healthz", "/readyz") else 401)


def test_it_says_its_mode() -> None:
    assert client().get("/v1/mode", headers=TOKEN).json() == {"mode": "passthrough"}


def test_no_web_page_can_reach_it() -> None:
    assert client().get("/v1/mode", headers={**TOKEN, "Origin": "https://evil.test"}).status_code == 403
    assert client().get("http://rebound.test/v1/mode", headers=TOKEN).status_code == 403


def test_an_event_is_taken_or_refused_with_its_sentence() -> None:
    good, bad = ({"type": "skill_used", "skill": "x"}, {"type": "nope"})
    assert client().post("/v1/events", headers=TOKEN, json=good).status_code == 204
    refused = client().post("/v1/events", headers=TOKEN, json=bad)
    assert refused.status_code == 400
    assert "nope" in refused.json()["error"]["message"]


def test_shutdown_asks_the_sidecar_to_end() -> None:
    stop = asyncio.Event()
    assert client(stop).post("/v1/shutdown", headers=TOKEN).status_code == 202
    assert stop.is_set()


def test_every_error_has_one_shape() -> None:
    for response in (client().get("/v1/mode"), client().get("/nope", headers=TOKEN), client().put("/v1/mode", headers=TOKEN)):
        assert set(json.loads(response.text)["error"]) == {"code", "message", "detail"}
