"""The preload for Node, in the Node that is here, led through a recording sidecar."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.sidecar import recording, stored
from support.upstream import Upstream, always, whole

PRELOAD = Path(__file__).parents[2] / "proxy/wiretape/proxy/preload/node.cjs"

FETCH = "fetch(ADDRESS).then(r => r.text()).then(t => console.log(t))"
GET = "require('http').get(ADDRESS, r => r.on('data', d => console.log(String(d))))"


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
@pytest.mark.parametrize("program", [FETCH, GET], ids=["fetch", "http"])
def test_a_node_program_is_led_through_whatever_its_version(tmp_path: Path, program: str) -> None:
    up = Upstream(always(whole(b"the answer", "Connection: close")))
    with recording(tmp_path / "rec.db") as side:
        env = {
            **os.environ,
            "NODE_OPTIONS": f"--require={PRELOAD}",
            "HTTP_PROXY": side.sidecar.url,
            "HTTPS_PROXY": side.sidecar.url,
        }
        source = f"const ADDRESS = '{up.url}/x'\n{program}"
        done = subprocess.run(["node", "-e", source], env=env, capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.returncode) == ("the answer\n", 0), done.stderr
    assert [each.request.url for each in stored(tmp_path / "rec.db")] == [f"{up.url}/x"]
    up.stop()
