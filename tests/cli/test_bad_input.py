"""Whatever is wrong gets one sentence, the right exit code, and nothing is lost."""

from __future__ import annotations

import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import trustme
from support.command import REPLAY, agent, replay
from support.upstream import Asked, Upstream, Wire, whole


@pytest.fixture
def project(tmp_path: Path, model: Upstream) -> Path:
    assert replay("record", "orders", "--", *agent(model.url), cwd=tmp_path).returncode == 0
    return tmp_path


def says(done: object, code: int, *words: str) -> None:
    assert done.returncode == code, done.stderr  # type: ignore[attr-defined]
    for word in words:
        assert word in done.stderr  # type: ignore[attr-defined]


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        says(replay("proxy", "--mode", "passthrough", "--port", port, cwd=tmp_path), 3, port, "--port")
        says(replay("proxy", "--mode", "passthrough", "--port", "0", "--control-port", port, cwd=tmp_path), 3, "--control-port")


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    says(replay("record", "x", "--", "no-such-command-anywhere", cwd=tmp_path), 2, "no-such-command-anywhere", "PATH")
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    says(replay("record", "x", "--", tmp_path / "plain", cwd=tmp_path), 2, "not executable")
    assert not list((tmp_path / "recordings").glob("x.*"))


def test_a_child_that_a_signal_ends(tmp_path: Path, model: Upstream) -> None:
    asked = '{"messages": [{"role": "tool"}]}'
    killed = (
        f"import os, urllib.request as u\nu.urlopen('{model.url}', b'{asked}')\nos.kill(os.getpid(), {int(signal.SIGKILL)})"
    )
    assert replay("record", "killed", "--", sys.executable, "-c", killed, cwd=tmp_path).returncode == 128 + signal.SIGKILL
    assert "1 exchanges" in replay("ls", cwd=tmp_path).stdout


def test_a_name_that_exists(project: Path, model: Upstream) -> None:
    before = (project / "recordings" / "orders.db").read_bytes()
    says(replay("record", "orders", "--", *agent(model.url), cwd=project), 2, "--update")
    assert (project / "recordings" / "orders.db").read_bytes() == before


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "x.db"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    says(replay("record", name, "--", "true", cwd=tmp_path), 2, "called")


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    for words in (
        ["show", "nope"],
        ["run", "nope", "--", "true"],
        ["check", "nope"],
        ["diff", "nope", "nope"],
        ["accept", "nope"],
    ):
        says(replay(*words, cwd=tmp_path), 2, "nope")


def test_an_empty_folder_is_nothing_to_check(tmp_path: Path) -> None:
    says(replay("check", ".", cwd=tmp_path), 3, "nothing to check")


def test_a_scenario_without_its_recording_is_never_green(project: Path) -> None:
    (project / "recordings" / "orders.db").unlink()
    assert replay("check", "recordings", cwd=project).returncode == 3


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"not a database at all" * 9, "another kind"),
        (lambda data: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
        (lambda data: data[:100], "damaged"),
        (lambda data: data[:100] + bytes([data[100] ^ 0xFF]) + data[101:], "damaged"),
    ],
    ids=["foreign", "pointer", "cut", "flipped"],
)
def test_a_file_that_cannot_be_read_is_left_alone(project: Path, damage: object, words: str) -> None:
    path = project / "recordings" / "orders.db"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    before = path.read_bytes()
    says(replay("show", "orders", cwd=project), 3)
    assert replay("check", "recordings", cwd=project).returncode == 3
    says(replay("proxy", "--mode", "record", "--store", path, "--port", "0", cwd=project), 3)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version(project: Path) -> None:
    path = project / "recordings" / "orders.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    says(replay("show", "orders", cwd=project), 3, "99", "pgrade")
    says(replay("proxy", "--mode", "record", "--store", path, "--port", "0", cwd=project), 3, "99")
    assert path.read_bytes() == before


def test_a_scenario_that_does_not_fit_is_told_with_file_line_and_field(project: Path) -> None:
    (project / "recordings" / "orders.yaml").write_text("wiretape: 1\nid: orders\ntitle: t\nrisk: enormous\n")
    done = replay("check", "recordings", cwd=project)
    assert done.returncode == 2
    for word in ("orders.yaml:4", "risk", "enormous"):
        assert word in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["record", "x"],
        ["record", "x", "--no-such", "--", "true"],
        ["record", "x", "--label", "nothing", "--", "true"],
        ["record", "x", "--redact", "off", "--", "true"],
        ["record", "x", "--connect-to", "odd", "--", "true"],
        ["run", "x", "--match", "closely", "--", "true"],
        ["run", "x", "--match", "sequence", "--", "true"],
        ["run", "x", "--pace", "slow", "--", "true"],
        ["check"],
        ["check", ".", "--fail-on", "sometimes"],
        ["show", "x", "--format", "xml"],
        ["show", "x", "--", "true"],
        ["proxy", "--mode", "sideways"],
        ["proxy", "--mode", "record", "--port", "0"],
        ["proxy", "--mode", "replay", "--port", "0"],
        ["no-such-verb"],
        [],
    ],
)
def test_wrong_use_is_two(project: Path, words: list[str]) -> None:
    if words[:1] == ["show"] or words[:1] == ["run"]:
        words = ["orders" if word == "x" else word for word in words]
    says(replay(*words, cwd=project), 2)


def test_a_full_disk_lets_the_traffic_go_on_and_marks_the_recording(tmp_path: Path) -> None:
    def big(wire: Wire, asked: Asked) -> None:
        wire.send(whole(random.Random(1).randbytes(400_000), "Content-Type: application/octet-stream"))

    up = Upstream(big)
    ask = f"assert len(u.urlopen('{up.url}/' + str(n)).read()) == 400_000"
    code = f"import urllib.request as u\nfor n in range(4):\n    {ask}\nprint('all came')"
    limit = 300_000

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = replay("record", "big", "--", sys.executable, "-c", code, cwd=tmp_path, preexec_fn=full)
    assert done.stdout == "all came\n", done.stderr
    says(done, 3, "incomplete")
    up.stop()


def test_nothing_captured_is_three_with_a_diagnosis(tmp_path: Path) -> None:
    says(replay("record", "none", "--", "true", cwd=tmp_path), 3, "nothing was captured", "HTTPS_PROXY")
    assert not (tmp_path / "recordings" / "none.db").exists()


def test_a_client_that_refuses_the_certificate_is_named_and_is_no_capture(tmp_path: Path) -> None:
    code = "import http.client, os, ssl, urllib.parse as p\n" + (
        "proxy = p.urlsplit(os.environ['HTTPS_PROXY'])\n"
        "connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=ssl.create_default_context(cadata=PEM))\n"
        "connection.set_tunnel('api.example.test', 443)\n"
        "try:\n    connection.request('GET', '/')\nexcept ssl.SSLError:\n    pass\n"
    )
    trusting = f"PEM = {trustme.CA().cert_pem.bytes().decode()!r}\n{code}"
    done = replay("record", "refused", "--", sys.executable, "-c", trusting, cwd=tmp_path)
    says(done, 3, "nothing was captured", "api.example.test", "certificate", "SSL_CERT_FILE")


def test_a_failing_command_keeps_its_own_code(tmp_path: Path, model: Upstream) -> None:
    assert replay("record", "seven", "--", *agent(model.url, code=7), cwd=tmp_path).returncode == 7
    assert (tmp_path / "recordings" / "seven.db").exists()
    assert replay("record", "none", "--", "sh", "-c", "exit 9", cwd=tmp_path).returncode == 9


def test_what_cannot_be_kept_is_said_before_the_command_runs(project: Path, model: Upstream) -> None:
    (project / "plain").write_text("")
    asked, command = len(model.asked), ["--", *agent(model.url)]
    says(replay("run", "orders", "--save", "orders", *command, cwd=project), 2, "this recording exists")
    says(replay("run", "orders", "--save", "a/b", *command, cwd=project), 2, "a name holds no /")
    says(replay("run", "orders", "--json", "gone/x.json", *command, cwd=project), 2, "there is no folder gone")
    says(replay("check", "recordings", "--json", "recordings", cwd=project), 2, "is a folder")
    says(replay("record", "x", "--dir", "plain", *command, cwd=project), 2, "cannot be made")
    says(replay("record", "x", "--dir", "/proc/xx", *command, cwd=project), 2, "cannot be made")
    for address in ("http://[bad", "http://host:port", "socks5://host:1"):
        says(replay("record", "x", *command, cwd=project, env={"HTTPS_PROXY": address}), 2, "proxy")
    assert not (project / "recordings" / "x.db").exists()
    (project / "recordings" / "orders.db").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    says(replay("record", "orders", "--update", *command, cwd=project), 3, "Git LFS", "without --update")
    assert len(model.asked) == asked


def test_a_folder_of_the_sidecar_that_cannot_be_made(tmp_path: Path) -> None:
    done = replay("proxy", "--mode", "passthrough", "--port", "0", "--ca-dir", "/proc/zz", cwd=tmp_path)
    says(done, 3, "/proc/zz")


def test_an_output_that_is_full(project: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*REPLAY, "show", "orders"], cwd=project, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (3, "replay: No space left on device.\n")


def test_names_are_looked_up_where_the_setting_says(project: Path, model: Upstream) -> None:
    (project / "recordings").rename(project / "kept")
    kept = {"WIRETAPE_DIR": "kept"}
    for words in (["show", "orders"], ["ls"], ["accept", "orders"], ["diff", "orders", "orders"]):
        assert replay(*words, cwd=project, env=kept).returncode == 0, words
    assert replay("run", "orders", "--", *agent(model.url), cwd=project, env=kept).returncode == 0
    says(replay("check", "orders", cwd=project, env=kept), 2, "Did you mean kept/orders.db?")
    says(replay("show", "kept/orders.trace", cwd=project), 2, "kept/orders.db")


def test_a_command_that_failed_before_it_asked_anything(project: Path) -> None:
    says(replay("run", "orders", "--", "false", cwd=project), 3, "the command ended with 1 before any request")
