from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.command import AGENT, replay
from support.upstream import Upstream

VARYING = AGENT.replace('{"model": "m",', '{"model": "m", "note": {"of": sys.argv[4]},')


def agent(model: Upstream, note: str, question: str = "Where is 7?") -> list[str]:
    return ["python", "-c", VARYING, model.url, question, "0", note]


@pytest.fixture
def project(tmp_path: Path, model: Upstream) -> Path:
    assert replay("record", "orders", "--", *agent(model, "first"), cwd=tmp_path).returncode == 0
    model.stop()
    return tmp_path


def test_a_field_that_varies_is_shown_and_written_and_then_matches(project: Path, model: Upstream) -> None:
    run = ("run", "orders", "--", *agent(model, "third"))
    assert replay(*run, cwd=project).returncode == 1
    scenario = project / "recordings" / "orders.yaml"
    before = scenario.read_text()
    done = replay("learn", "orders", "--yes", "--", *agent(model, "second"), cwd=project)
    assert done.returncode == 0, done.stderr
    assert '$.note.of: recorded "first", live "second"' in done.stdout
    after = scenario.read_text()
    assert after.startswith("# A draft")
    assert "url: '*/v1/chat/completions'" in after
    assert [line for line in before.splitlines() if line.startswith("#") and line not in after] == []
    again = replay(*run, cwd=project)
    assert again.returncode == 0, again.stderr
    assert re.search("exchange 1 is normalised by .*note", again.stderr)


def test_nothing_is_written_without_a_yes(project: Path, model: Upstream) -> None:
    before = (project / "recordings" / "orders.yaml").read_text()
    done = replay("learn", "orders", "--", *agent(model, "second"), cwd=project)
    assert (done.returncode, "$.note.of" in done.stdout) == (1, True)
    assert (project / "recordings" / "orders.yaml").read_text() == before


def test_what_a_model_reads_becomes_no_rule(project: Path, model: Upstream) -> None:
    done = replay("learn", "orders", "--yes", "--", *agent(model, "first", "And 8?"), cwd=project)
    assert done.returncode == 1
    assert "no rule may set this aside: $.messages[0].content" in done.stderr
    assert "volatile" not in (project / "recordings" / "orders.yaml").read_text()


def test_a_run_in_which_nothing_varies_has_nothing_to_learn(project: Path, model: Upstream) -> None:
    done = replay("learn", "orders", "--", *agent(model, "first"), cwd=project)
    assert (done.returncode, done.stdout) == (0, "Order 7 is shipped.\n")
