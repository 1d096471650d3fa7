"""`replay mock` against a running sidecar, as a tester uses it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import agent, replay
from support.serving import Serving, serving
from support.upstream import Upstream, always, whole

RULES = """
version: 1
rules:
  - {id: down, enabled: false, match: {upstream: shop}, answer: {status: 503, json: {error: down}}}
  - {id: other, enabled: false, match: {upstream: shop}, answer: {json: {other: 1}}}
"""


@pytest.fixture
def shop() -> Iterator[Upstream]:
    up = Upstream(always(whole(b'{"live": true}', "Content-Type: application/json")))
    yield up
    up.stop()


@pytest.fixture
def sidecar(tmp_path: Path, shop: Upstream) -> Iterator[Serving]:
    (tmp_path / "rules.yaml").write_text(RULES)
    options = ["--store", "s.db", "--upstream", f"shop={shop.url}", "--rules", "rules.yaml", "--persist-rules"]
    with serving(tmp_path, *options) as found:
        yield found


def get(sidecar: Serving) -> tuple[int, object]:
    try:
        with urllib.request.urlopen(f"{sidecar.proxy}/shop/x", timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_switches_rules_and_the_next_answer_obeys(tmp_path: Path, sidecar: Serving) -> None:
    def mock(*words: str) -> str:
        done = replay("mock", *words, cwd=tmp_path, env=sidecar.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert get(sidecar) == (200, {"live": True})
    assert mock("on", "down") == "on  down: http upstream=shop\n"
    assert get(sidecar) == (503, {"error": "down"})
    mock("on", "other")
    assert mock("move", "other", "1").splitlines()[0] == "on  other: http upstream=shop, met 0 times"
    assert get(sidecar) == (200, {"other": 1})
    mock("off", "other")
    assert mock("rm", "down") == "removed down: http upstream=shop\n"
    assert get(sidecar) == (200, {"live": True})
    (tmp_path / "more.yaml").write_text("version: 1\nrules: [{id: more, answer: {json: [1]}}]\n")
    mock("add", "more.yaml")
    assert get(sidecar) == (200, [1])
    assert json.loads(mock("show", "more")) == {"id": "more", "enabled": True, "where": "http", "answer": {"json": [1]}}
    listed = json.loads(mock("list", "--format", "json"))
    assert [(each["id"], each["enabled"], each["answered"]) for each in listed] == [("other", False, 1), ("more", True, 1)]
    kept = (tmp_path / "rules.yaml").read_text()
    assert "id: more" in kept
    assert "id: down" not in kept


def test_it_makes_rules_of_what_a_recording_holds(tmp_path: Path, sidecar: Serving, model: Upstream) -> None:
    assert replay("record", "orders", "--", *agent(model.url), cwd=tmp_path).returncode == 0
    words = ("mock", "from-recording", "orders", "--tool", "get_order", "--format", "json")
    done = replay(*words, cwd=tmp_path, env=sidecar.environment)
    [rule] = json.loads(done.stdout)
    assert (rule["enabled"], rule["where"], rule["match"]) == (False, "prompt", {"tool": "get_order"})
    assert (rule["when"], rule["answer"]) == ([{"arg": "id", "equals": 7}], {"text": "shipped"})
    none = replay("mock", "from-recording", "orders", "--tool", "nope", cwd=tmp_path, env=sidecar.environment)
    assert (none.returncode, none.stderr) == (2, "replay: orders: no result of a tool nope was recorded.\n")


def test_the_rules_of_a_scenario_hold_while_it_is_run(tmp_path: Path, model: Upstream) -> None:
    assert replay("record", "orders", "--", *agent(model.url), cwd=tmp_path).returncode == 0
    says = "{id: lost, where: model, answer: {text: Order 7 is lost.}}"
    scenario = f"wiretape: 1\nid: orders\ntitle: t\nrisk: high\nenvironment: prod\nmocks: [{says}]\n"
    (tmp_path / "recordings" / "orders.yaml").write_text(scenario)
    (tmp_path / "wiretape.toml").write_text("[environment.prod]\n")
    done = replay("run", "orders", "--", *agent(model.url), cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "Order 7 is lost.")
    (tmp_path / "wiretape.toml").write_text("[environment.prod]\nmocks = false\n")
    done = replay("run", "orders", "--", *agent(model.url), cwd=tmp_path)
    assert done.returncode == 2
    assert "the environment 'prod' refuses mocks" in done.stderr


def test_it_is_told_where_by_address_and_token_file(tmp_path: Path, shop: Upstream) -> None:
    (tmp_path / "token").write_text("the-token")
    with serving(tmp_path, "--store", "s.db", "--token-file", tmp_path / "token") as sidecar:
        words = ("mock", "list", "--control", sidecar.control)
        done = replay(*words, cwd=tmp_path, env={"WIRETAPE_TOKEN_FILE": str(tmp_path / "token")})
        assert (done.returncode, done.stderr) == (0, "replay: there are no rules. Add some with `replay mock add FILE`.\n")
        assert replay(*words, cwd=tmp_path).returncode == 2


WRONG = [
    (("on", "gone"), "replay: there is no rule gone; there are down, other.\n"),
    (("on",), "replay: expected `replay mock on ID`, got nothing after on.\n"),
    (("move", "down", "3"), "replay: expected a place from 1 to 2, got 3.\n"),
    (("switch", "down"), "replay: expected one of list, show, add, on, off, rm, move, from-recording, got switch.\n"),
    (("add", "none.yaml"), "replay: none.yaml: there is no such file\n"),
    (("add", "rules.yaml"), "replay: there is a rule down already; change it, or choose another id.\n"),
    (("from-recording", "x"), "replay: from-recording needs the tool whose results become rules: name it with --tool T.\n"),
]


def test_it_says_what_is_wrong_in_one_sentence(tmp_path: Path, sidecar: Serving) -> None:
    for words, sentence in WRONG:
        done = replay("mock", *words, cwd=tmp_path, env=sidecar.environment)
        assert (done.returncode, done.stderr) == (2, sentence)


def test_it_says_that_none_runs(tmp_path: Path) -> None:
    done = replay("mock", "list", cwd=tmp_path, env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (
        2, "replay: no sidecar is running. Start one with `replay proxy --mode record --store session.db`.\n"
    )  # fmt: skip
    done = replay("mock", "list", "--control", "http://127.0.0.1:9", cwd=tmp_path, env={"WIRETAPE_TOKEN_FILE": __file__})
    assert done.returncode == 3
    assert done.stderr.startswith("replay: no sidecar answers on http://127.0.0.1:9 (")


def test_no_mocks_refuses_rules_and_changes_of_them(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    both = replay("proxy", "--store", "s.db", "--rules", "rules.yaml", "--no-mocks", "--port", "0", cwd=tmp_path)
    assert (both.returncode, both.stderr) == (
        2, "replay: --no-mocks refuses the rules of rules.yaml: leave out one of --rules and --no-mocks.\n"
    )  # fmt: skip
    with serving(tmp_path, "--store", "s.db", "--no-mocks") as sidecar:
        done = replay("mock", "add", "rules.yaml", cwd=tmp_path, env=sidecar.environment)
        assert done.returncode == 2
        assert "--no-mocks" in done.stderr


def test_a_rule_file_that_does_not_fit_keeps_the_sidecar_from_starting(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("version: 1\nrules: [{id: a, wen: []}]\n")
    done = replay("proxy", "--store", "s.db", "--rules", "rules.yaml", "--port", "0", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "replay: rules.yaml:2: rules[0].wen: there is no such field; did you mean when?\n"
    )  # fmt: skip
    assert not (tmp_path / "s.db").exists()
