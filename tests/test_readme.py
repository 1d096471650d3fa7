"""The commands that a newcomer reads first, run as they are printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
KEYS = ("_BASE_URL", "_API_KEY", "_PROXY", "_proxy")


def commands(page: str) -> str:
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a copy of the checkout, with a folder of its own for /tmp, as one shell session that stops at an error."""
    for name in ("examples", "recordings", "docs", "scripts"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(Path(sys.prefix))
    place = Path(tempfile.mkdtemp(dir=folder))
    kept = [key for key in os.environ if not key.endswith(KEYS) and not key.startswith("WIRETAPE_")]
    environment = {key: os.environ[key] for key in kept}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-m", "-c", script.replace("/tmp/", f"{place}/")],
        cwd=folder,
        env={**environment, "NO_COLOR": "1", "OPENAI_AGENTS_DISABLE_TRACING": "1", "XDG_RUNTIME_DIR": str(place)},
        capture_output=True,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.timeout(180)
def test_the_commands_of_the_readme_run_as_they_are_printed(tmp_path: Path) -> None:
    done = run(commands("README.md"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "red: exit code 1" in done.stdout
    assert "sums passed" in done.stderr
    assert (tmp_path / "recordings" / "weather.yaml").exists()


@pytest.mark.timeout(180)
def test_the_commands_of_the_examples_run_as_they_are_printed(tmp_path: Path) -> None:
    done = run(commands("examples/README.md") + "\nkill %1", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "replay: recorded recordings/tools.db" in done.stderr


def test_every_script_can_be_run() -> None:
    named = re.findall(r"`(scripts/\S+\.sh)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    assert all(os.access(ROOT / name, os.X_OK) for name in named)
