"""How a sidecar by itself is found, and where it writes: never into a golden recording."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.command import replay
from support.serving import serving

RECORDINGS = Path(__file__).parents[2] / "recordings"


def test_each_recording_that_is_added_to_a_store_has_a_name_of_its_own(tmp_path: Path) -> None:
    for _ in range(3):
        with serving(tmp_path, "--store", tmp_path / "s.db"):
            pass
    listed = replay("ls", "s.db", cwd=tmp_path).stdout
    assert [line.split()[0] for line in listed.splitlines()] == ["s.db#s", "s.db#s-2", "s.db#s-3"]


def test_it_refuses_to_add_to_a_golden_recording(tmp_path: Path) -> None:
    for ending in (".db", ".trace", ".yaml"):
        shutil.copy(RECORDINGS / f"sums{ending}", tmp_path)
    before = (tmp_path / "sums.db").read_bytes()
    done = replay("proxy", "--port", "0", "--store", "sums.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "it is a golden recording" in done.stderr
    assert (tmp_path / "sums.db").read_bytes() == before


def test_a_shell_is_led_through_the_sidecar_with_clients_that_read_no_proxy(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", tmp_path / "s.db") as side:
        printed = replay("env", cwd=tmp_path, env={**side.environment, "NODE_OPTIONS": "--no-warnings"}).stdout
        assert f"export HTTPS_PROXY={side.proxy}" in printed
        assert "NODE_OPTIONS='--no-warnings --require=" in printed
        assert "export WIRETAPE_EVENTS=http://wiretape.internal/events" in printed
        assert "NODE_OPTIONS" not in replay("env", "--format", "dotenv", cwd=tmp_path, env=side.environment).stdout


def test_a_shell_does_not_go_on_where_no_sidecar_runs(tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    done = replay("env", cwd=tmp_path, env={"XDG_RUNTIME_DIR": str(tmp_path / "runtime")})
    assert (done.returncode, done.stdout) == (2, "false\n")
    assert "no sidecar is running" in done.stderr
