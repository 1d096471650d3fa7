"""The golden recordings of the examples: judged, and run again with no provider alive."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from support.command import replay

from wiretape.scenarios.files import load_scenario

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.stem for path in (ROOT / "recordings").glob("*.yaml"))


def test_there_are_at_least_four() -> None:
    assert len(NAMES) >= 4


def test_check_passes_on_all_of_them() -> None:
    done = replay("check", "recordings", cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_its_agent_behaves_as_it_was_recorded(name: str, tmp_path: Path) -> None:
    agent = load_scenario(ROOT / "recordings" / f"{name}.yaml").agent
    assert agent is not None
    python, *rest = agent.command or ()
    assert python == "python"
    kept = {key: "" for key in os.environ if key.endswith(("_BASE_URL", "_API_KEY"))}
    report = tmp_path / "run.json"
    done = replay("run", name, "--strict", "--json", report, "--", sys.executable, *rest, cwd=ROOT, env=kept)
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text())
    assert (found["status"], found["exchanges"]["missed"], found["differences"]) == ("passed", 0, [])
    assert {verdict["status"] for verdict in found["verdicts"]} == {"passed"}
