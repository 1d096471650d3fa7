from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.sidecar import mocks, recording
from support.upstream import Upstream, always, whole

from wiretape.proxy.control import control_app
from wiretape.proxy.mocking import MockSettings
from wiretape.proxy.sidecar import Mode, Sidecar, SidecarSettings

RULES = "  - {id: a, enabled: false, times: 2, answer: {text: x}}\n  - {id: b, answer: {text: y}}\n"


def client_of(sidecar: Sidecar) -> TestClient:
    app = control_app(sidecar, "t", asyncio.Event())
    return TestClient(app, base_url="http://127.0.0.1", headers={"Authorization": "Bearer t"})


@pytest.fixture
def client() -> TestClient:
    return client_of(Sidecar(SidecarSettings(Mode.PASSTHROUGH, mocks=mocks(RULES))))


def ids(client: TestClient) -> list[str]:
    return [rule["id"] for rule in client.get("/v1/rules").json()["rules"]]


def test_rules_are_listed_in_order_with_how_often_they_were_met(client: TestClient) -> None:
    assert client.get("/v1/rules").json() == {
        "rules": [
            {"id": "a", "enabled": False, "where": "http", "times": 2, "answer": {"text": "x"}},
            {"id": "b", "enabled": True, "where": "http", "answer": {"text": "y"}},
        ],
        "answered": {"a": 0, "b": 0},
    }


def test_what_is_read_can_be_written_back(client: TestClient) -> None:
    rule = client.get("/v1/rules/a").json()
    assert client.put("/v1/rules/a", json=rule).json() == rule


def test_a_rule_is_added_as_json_or_yaml_and_taken_away(client: TestClient) -> None:
    added = client.post("/v1/rules", json={"id": "c", "answer": {"json": [1]}})
    assert (added.status_code, added.json()["enabled"]) == (201, True)
    assert client.post("/v1/rules", content="id: d\nanswer: {text: z}").status_code == 201
    assert ids(client) == ["a", "b", "c", "d"]
    assert client.delete("/v1/rules/c").status_code == 204
    assert ids(client) == ["a", "b", "d"]


def test_a_rule_is_changed_toggled_and_moved(client: TestClient) -> None:
    changed = client.patch("/v1/rules/a", json={"enabled": True, "times": None, "answer": {"text": None, "json": 1}}).json()
    assert changed == {"id": "a", "enabled": True, "where": "http", "answer": {"json": 1}}
    assert client.post("/v1/rules/a/toggle").json()["enabled"] is False
    assert client.post("/v1/rules/a/toggle").json()["enabled"] is True
    assert client.put("/v1/rules/order", json=["b", "a"]).status_code == 200
    assert ids(client) == ["b", "a"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "sentence"),
    [
        ("GET", "/v1/rules/x", None, 404, "there is no rule x; there are a, b."),
        ("POST", "/v1/rules/x/toggle", None, 404, "there is no rule x"),
        ("DELETE", "/v1/rules/x", None, 404, "there is no rule x"),
        ("POST", "/v1/rules", '{"id": "a"}', 409, "there is a rule a already"),
        ("POST", "/v1/rules", "{", 400, "this is not YAML"),
        ("POST", "/v1/rules", "[]", 400, "expected a mapping that begins with `id: NAME`"),
        ("POST", "/v1/rules", '{"id": "c", "wen": 1}', 400, "rule:1: wen: there is no such field; did you mean when?"),
        ("PUT", "/v1/rules/a", '{"id": "c"}', 400, "a rule keeps its id"),
        ("PATCH", "/v1/rules/a", '{"times": 0}', 400, "rule:1: times: expected at least 1, got the number 0"),
        ("PATCH", "/v1/rules/a", "nonsense", 400, "expected JSON"),
        ("PUT", "/v1/rules/order", '["a"]', 400, "expected each of a, b once, got a."),
        ("PUT", "/v1/rules/order", '{"a": 1}', 400, "expected a list with the id of every rule"),
        ("POST", "/v1/rules/from-exchange/1", None, 400, "nothing is recorded or replayed here"),
    ],
)
def test_what_is_wrong_is_said_in_the_one_shape(client: TestClient, method, path, body, status, sentence) -> None:
    answer = client.request(method, path, content=body)
    error = answer.json()["error"]
    assert (answer.status_code, sorted(error)) == (status, ["code", "detail", "message"])
    assert sentence in error["message"]


def test_every_fault_of_a_rule_is_a_detail(client: TestClient) -> None:
    error = client.post("/v1/rules", json={"id": "c", "skip": -1, "tims": 1}).json()["error"]
    assert [(each["field"], each["line"]) for each in error["detail"]] == [("skip", 1), ("tims", 1)]


def test_where_mocks_are_refused_rules_can_be_read_but_not_changed() -> None:
    client = client_of(Sidecar(SidecarSettings(Mode.PASSTHROUGH, mocks=MockSettings(allowed=False))))
    assert client.get("/v1/rules").json() == {"rules": [], "answered": {}}
    refused = client.post("/v1/rules", json={"id": "c"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "mocks_refused")


def test_a_rule_is_made_of_an_exchange_and_answers_as_it_was_answered(tmp_path: Path) -> None:
    up = Upstream(always(whole(b'{"n": 1}', "Content-Type: application/json")))
    with recording(tmp_path / "rec.db", upstreams={"shop": up.url}) as side:
        side.ask("GET", "/shop/v1/things?a=b")
        up.stop()
        client = client_of(side.sidecar)
        made = client.post("/v1/rules/from-exchange/1")
        assert (made.status_code, json.loads(made.text)) == (201, {
            "id": "things-1",
            "enabled": False,
            "where": "http",
            "match": {"upstream": "shop", "method": "GET", "path": "/v1/things"},
            "when": [{"query": "a", "equals": "b"}],
            "answer": {"status": 200, "json": {"n": 1}},
        })  # fmt: skip
        client.post("/v1/rules/things-1/toggle")
        assert side.ask("GET", "/shop/v1/things?a=b").json == {"n": 1}
        assert client.post("/v1/rules/from-exchange/9").status_code == 400
