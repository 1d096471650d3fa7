"""A socket agent recorded and run again by the command, knowing nothing but its environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command import replay
from support.sockets import echo, upstream

AGENT = """
import sys
from websockets.sync.client import connect
for word in sys.argv[2:]:
    with connect(sys.argv[1], open_timeout=30) as socket:
        socket.send(word)
        print(socket.recv(20))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a recording of two sockets, and their URL; the upstream is gone."""
    folder = tmp_path_factory.mktemp("sockets")
    with upstream(echo) as port:
        url = f"ws://127.0.0.1:{port}/ws"
        done = replay("record", "talk", "--", *agent(url, "one", "two"), cwd=folder)
        assert (done.returncode, done.stdout) == (0, "one\ntwo\n"), done.stderr
    return folder, url


def agent(url: str, *words: str) -> list[str]:
    return [sys.executable, "-c", AGENT, url, *words]


def run(recorded: tuple[Path, str], *words: str, options: tuple[str, ...] = ()) -> tuple[int, str, dict[str, Any]]:
    folder, url = recorded
    done = replay("run", "talk", "--json", "report.json", *options, "--", *agent(url, *words), cwd=folder)
    return done.returncode, done.stdout, json.loads((folder / "report.json").read_text())


def test_the_same_sockets_pass(recorded: tuple[Path, str]) -> None:
    code, said, report = run(recorded, "one", "two", options=("--strict",))
    assert (code, said) == (0, "one\ntwo\n")
    assert (report["exchanges"], report["levels"]) == ({"served": 2, "unused": 0, "missed": 0, "noise": 0}, {"exact": 2})


def test_a_socket_that_was_not_opened_is_unused_and_fails_a_strict_run(recorded: tuple[Path, str]) -> None:
    code, _, report = run(recorded, "two", options=("--strict",))
    assert (code, report["exchanges"]["served"], report["exchanges"]["unused"]) == (1, 1, 1)


def test_another_message_is_a_miss_in_the_report(recorded: tuple[Path, str]) -> None:
    code, said, report = run(recorded, "three")
    assert code == 1
    assert json.loads(said)["error"]["type"] == "replay_miss"
    assert report["exchanges"] == {"served": 0, "unused": 2, "missed": 1, "noise": 0}
    [miss] = report["misses"]
    assert "Nearest is message 1 of exchange 1" in miss["message"]
