"""Secrets that are left in recordings: found, told without being told, and taken out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.command import replay
from support.stores import read

from wiretape.scenarios.config import load_config
from wiretape.scenarios.retelling import tell
from wiretape.scenarios.scanning import mend, scan
from wiretape.scenarios.session import new_writer
from wiretape.traces.settings import RedactSettings
from wiretape.traces.types import End, Exchange, Request, Response

KEY = "sk-" + "a1B2c3D4" * 5
GOLDEN = Path(__file__).parents[2] / "recordings"


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """Made with `--redact off`."""
    writer = new_writer(tmp_path / "s.db", "s", RedactSettings(mode="off"), {"by": "hand"}, 1.0)
    body = f'data: {{"choices":[{{"delta":{{"content":"{KEY[:9]}"}}}}]}}\n\n'
    body += f'data: {{"choices":[{{"delta":{{"content":"{KEY[9:]}"}}}}]}}\n\n'
    request = Request("POST", "http://x.test/a", (("Authorization", f"Bearer {KEY}"),), json.dumps({"password": "p1"}).encode())
    response = Response(200, (("Content-Type", "text/event-stream"),), body.encode(), chunks=((5, len(body)),))
    tell(writer, Exchange(1, request, response, started_at=2.0, end=End.COMPLETE), noise=False)
    clean = Exchange(2, Request("GET", "http://x.test/b", ()), Response(200, (), b"ok", chunks=((5, 2),)), end=End.COMPLETE)
    tell(writer, clean, noise=False)
    writer.close()
    return tmp_path / "s.db"


def test_it_says_where_and_never_what(leaking: Path) -> None:
    found = [each.where for each in scan([leaking], load_config(leaking.parent))]
    assert found == [
        "s, exchange 1: request header Authorization",
        "s, exchange 1: request body",
        "s, exchange 1: response body",
    ]
    assert KEY not in repr(found)


def test_it_takes_them_out_and_leaves_the_rest(leaking: Path) -> None:
    before = read(leaking, "s")
    mend(leaking, load_config(leaking.parent))
    assert KEY[:9].encode() not in leaking.read_bytes()
    after = read(leaking, "s")
    assert list(scan([leaking], load_config(leaking.parent))) == []
    assert after[1].response == before[1].response
    assert [(each.seq, each.request.url, each.end) for each in after] == [(e.seq, e.request.url, e.end) for e in before]


def test_the_golden_recordings_hold_none() -> None:
    assert list(scan([GOLDEN], load_config(GOLDEN.parent))) == []


def test_a_mended_golden_recording_still_passes(tmp_path: Path) -> None:
    for ending in (".db", ".trace", ".yaml"):
        shutil.copy(GOLDEN / f"sums{ending}", tmp_path)
    mend(tmp_path / "sums.db", load_config(tmp_path))
    assert replay("check", "sums.db", cwd=tmp_path).returncode == 0


def test_the_command_ends_with_1_until_they_are_gone(leaking: Path) -> None:
    found = replay("scan", "s.db", cwd=leaking.parent)
    assert (found.returncode, len(found.stdout.splitlines())) == (1, 3)
    fixed = replay("scan", "s.db", "--fix", cwd=leaking.parent)
    assert (fixed.returncode, "nothing is left" in fixed.stderr) == (0, True)
    assert replay("scan", "s.db", cwd=leaking.parent).returncode == 0
