"""The whole arc as a user runs it: record, replay with the provider gone, check; and what goes red."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import agent, replay
from support.upstream import Upstream, always, whole

ORACLES = """
oracles:
  - {oracle: tool-called, tool: get_order, args: {id: 7}}
  - {oracle: final-answer-contains, value: %s}
  - {oracle: tool-args-valid}
  - {oracle: no-error}
"""
SCENARIO = "wiretape: 1\nid: orders\ntitle: Looks the order up\nrisk: high\n"


@pytest.fixture
def project(tmp_path: Path, model: Upstream) -> Path:
    """A folder with the recording `orders`; its provider is still there."""
    done = replay("record", "orders", "--label", "k=v", "--", *agent(model.url), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "Order 7 is shipped.\n"), done.stderr
    assert "2 model calls, 1 tool calls" in done.stderr
    return tmp_path


def assert_oracles(project: Path, value: str = "shipped") -> None:
    (project / "recordings" / "orders.yaml").write_text(SCENARIO + ORACLES % value)


def test_it_writes_the_three_files_of_a_golden_recording(project: Path) -> None:
    folder = project / "recordings"
    assert sorted(path.name for path in folder.iterdir()) == ["orders.db", "orders.trace", "orders.yaml"]
    assert "get_order" in (folder / "orders.trace").read_text()
    assert "# oracles:" in (folder / "orders.yaml").read_text()


def test_nothing_judges_a_draft_so_check_is_red_until_somebody_says_what_must_hold(project: Path) -> None:
    assert replay("check", "recordings", cwd=project).returncode == 1
    assert replay("check", "recordings", "--allow-unasserted", cwd=project).returncode == 0
    assert_oracles(project)
    assert replay("check", "recordings", cwd=project).returncode == 0


def test_check_says_which_oracle_failed_and_writes_it_as_json(project: Path) -> None:
    assert_oracles(project, "lost")
    done = replay("check", "recordings", "--json", "report.json", cwd=project)
    assert done.returncode == 1
    assert "final-answer-contains" in done.stdout
    report = json.loads((project / "report.json").read_text())
    assert (report["passed"], report["counts"]["failed"]) == (False, 1)
    statuses = {verdict["oracle"]: verdict["status"] for verdict in report["recordings"][0]["verdicts"]}
    assert (statuses["tool-called"], statuses["final-answer-contains"]) == ("passed", "failed")


def test_a_failure_below_the_risk_that_was_asked_for_is_no_failure_of_the_gate(project: Path) -> None:
    assert_oracles(project, "lost")
    assert replay("check", "recordings", "--fail-on", "critical", cwd=project).returncode == 0
    assert replay("check", "recordings", "--fail-on", "low", cwd=project).returncode == 1


def test_a_trace_text_that_its_evidence_does_not_show_is_red(project: Path) -> None:
    assert_oracles(project)
    trace = project / "recordings" / "orders.trace"
    trace.write_text(trace.read_text().replace('{"id":7}', '{"id":8}'))
    done = replay("check", "recordings", cwd=project)
    assert done.returncode == 1
    assert "trace-text" in done.stdout
    assert replay("accept", "orders", cwd=project).returncode == 0
    assert replay("check", "recordings", cwd=project).returncode == 0


def test_the_same_agent_runs_offline(project: Path, model: Upstream) -> None:
    model.stop()
    canary = Upstream(always(whole()), port=model.port)
    assert_oracles(project)
    done = replay("run", "orders", "--strict", "--json", "run.json", "--save", "again", "--", *agent(model.url), cwd=project)
    assert (done.returncode, done.stdout) == (0, "Order 7 is shipped.\n"), done.stderr
    report = json.loads((project / "run.json").read_text())
    assert report["status"] == "passed"
    assert report["exchanges"] == {"served": 2, "unused": 0, "missed": 0, "noise": 0}
    assert report["levels"] == {"exact": 2}
    assert [verdict["status"] for verdict in report["verdicts"]] == ["passed"] * 4
    assert canary.connections == 0
    canary.stop()
    assert replay("diff", "orders", "again", cwd=project).returncode == 0


def test_a_changed_agent_is_red_with_the_place_that_changed(project: Path, model: Upstream) -> None:
    done = replay("run", "orders", "--json", "run.json", "--", *agent(model.url, "Where is 8?"), cwd=project)
    assert done.returncode == 1
    for words in ("$.messages[0].content", "Where is 7?", "Where is 8?", "replay record orders --update -- "):
        assert done.stderr.count(words) == 1
    assert "not called now" not in done.stderr
    assert "what follows it differs too" in done.stderr
    report = json.loads((project / "run.json").read_text())
    assert (report["status"], report["exchanges"]["missed"]) == ("failed", 1)
    assert report["misses"][0]["differences"][0]["path"] == "$.messages[0].content"
    assert any("get_order was called" in each["message"] for each in report["differences"])
    assert len(model.asked) == 2


def test_an_agent_that_ends_otherwise_is_red(project: Path, model: Upstream) -> None:
    done = replay("run", "orders", "--", *agent(model.url, code=4), cwd=project)
    assert done.returncode == 1
    assert "ended with 4" in done.stderr


def test_an_agent_that_asks_nothing_proves_nothing(project: Path) -> None:
    done = replay("run", "orders", "--", "true", cwd=project)
    assert done.returncode == 3
    assert "proxy" in done.stderr


def test_an_update_replaces_all_files_and_shows_what_changed(project: Path, model: Upstream) -> None:
    before = (project / "recordings" / "orders.db").read_bytes()
    assert_oracles(project)
    done = replay("record", "orders", "--update", "--", *agent(model.url, "Where is number 7?"), cwd=project)
    assert done.returncode == 0, done.stderr
    assert "Where is number 7?" in done.stderr
    assert (project / "recordings" / "orders.db").read_bytes() != before
    assert replay("check", "recordings", cwd=project).returncode == 0
    assert sorted(path.name for path in (project / "recordings").iterdir()) == ["orders.db", "orders.trace", "orders.yaml"]


def test_an_update_of_a_recording_without_a_scenario_drafts_one(project: Path, model: Upstream) -> None:
    (project / "recordings" / "orders.yaml").unlink()
    assert replay("record", "orders", "--update", "--", *agent(model.url), cwd=project).returncode == 0
    assert "# oracles:" in (project / "recordings" / "orders.yaml").read_text()


def test_an_update_that_fails_leaves_every_file_as_it_was(project: Path, model: Upstream) -> None:
    before = {path.name: path.read_bytes() for path in (project / "recordings").iterdir()}
    assert replay("record", "orders", "--update", "--", *agent(model.url, code=4), cwd=project).returncode == 4
    assert replay("record", "orders", "--update", "--", "true", cwd=project).returncode == 3
    assert {path.name: path.read_bytes() for path in (project / "recordings").iterdir()} == before


def test_show_ls_and_diff_look_at_it(project: Path) -> None:
    shown = json.loads(replay("show", "orders", "--format", "json", cwd=project).stdout)
    assert set(shown) == {"recording", "observed", "steps"}
    assert shown["recording"]["labels"]["k"] == "v"
    assert [step["kind"] for step in shown["steps"]].count("model_call") == 2
    exchanges = json.loads(replay("show", "orders", "--exchanges", "--format", "json", cwd=project).stdout)
    assert [(each["seq"], each["status"], each["end"], each["source"]) for each in exchanges] == [
        (1, 200, "complete", "live"),
        (2, 200, "complete", "live"),
    ]
    assert "POST" in replay("show", "orders", "--exchanges", cwd=project).stdout
    assert "HTTP/1.1 200" in replay("show", "orders", "--raw", "1", cwd=project).stdout
    assert "orders" in replay("ls", cwd=project).stdout
    assert json.loads(replay("diff", "orders", "orders", "--format", "json", cwd=project).stdout) == {
        "same": True,
        "differences": [],
        "notes": [],
    }


def test_settings_come_from_the_command_line_then_variables_then_the_file(project: Path, model: Upstream) -> None:
    assert_oracles(project, "lost")
    (project / "wiretape.toml").write_text('[gates]\nfail_on = "critical"\n')
    assert replay("check", "recordings", cwd=project).returncode == 0
    assert replay("check", "recordings", cwd=project, env={"WIRETAPE_FAIL_ON": "low"}).returncode == 1
    assert replay("check", "recordings", "--fail-on", "critical", cwd=project, env={"WIRETAPE_FAIL_ON": "low"}).returncode == 0
    (project / "wiretape.toml").write_text('[gates]\nfail_onn = "critical"\n')
    done = replay("check", "recordings", cwd=project)
    assert done.returncode == 2
    assert "wiretape.toml:2" in done.stderr
    assert "fail_on" in done.stderr
    shown = replay("doctor", cwd=project, env={"WIRETAPE_PACE": "fast"})
    assert shown.returncode == 2


def test_fresh_values_are_bound_and_told(tmp_path: Path, model: Upstream) -> None:
    old, new = "3f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11", "b8a1f3c2-77aa-4c0e-8d11-5e2c9f60d4e9"
    replay("record", "orders", "--", *agent(model.url, f"Where is 7? ({old})"), cwd=tmp_path)
    model.stop()
    done = replay("run", "orders", "--json", "r.json", "--", *agent(model.url, f"Where is 7? ({new})"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"replay: bound uuid {old} → {new}" in done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["levels"] == {"rebound": 2}
    assert report["bindings"] == [{"kind": "uuid", "recorded": old, "live": new}]
    assert [each["because"] for each in report["matches"]] == [[f"uuid {old} → {new}"]] * 2


def test_drift_is_answered_where_it_is_allowed_and_told(tmp_path: Path, model: Upstream) -> None:
    replay("record", "orders", "--", *agent(model.url), cwd=tmp_path)
    model.stop()
    words = ("run", "orders", "--match", "sequence", "--allow-drift", "--json", "r.json", "--")
    replay(*words, *agent(model.url, "And where is 7?"), cwd=tmp_path)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["levels"] == {"sequence": 2}
    drift = [each for each in report["differences"] if each["kind"] == "drift"]
    assert [list(each["live"]) for each in drift] == [["$.messages[0].content"]] * 2
