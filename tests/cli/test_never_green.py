"""What must not pass, whatever the risk; what is said of it; and with which code."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.command import agent, replay
from support.upstream import CHUNKED, Asked, Upstream, Wire, framed, whole

LOW = "wiretape: 1\nid: orders\nrisk: low\noracles:\n  - {oracle: no-error}\n"


@pytest.fixture
def project(tmp_path: Path, model: Upstream) -> Path:
    assert replay("record", "orders", "--", *agent(model.url), cwd=tmp_path).returncode == 0
    (tmp_path / "recordings" / "orders.yaml").write_text(LOW)
    return tmp_path


def change(project: Path, statement: str) -> None:
    with closing(sqlite3.connect(project / "recordings" / "orders.db")) as db:
        db.execute(statement)
        db.commit()


def checked(project: Path, code: int, *words: str) -> None:
    done = replay("check", "recordings", cwd=project)
    assert done.returncode == code, done.stdout + done.stderr
    for word in words:
        assert word in done.stdout + done.stderr


def test_a_request_without_a_fingerprint(project: Path) -> None:
    change(project, "UPDATE exchanges SET fingerprint = NULL WHERE seq = 2")
    checked(project, 1, "1 of its requests cannot be found again", "exchange 2", "has no fingerprint")


def test_a_trace_text_that_was_changed_at_low_risk(project: Path) -> None:
    trace = project / "recordings" / "orders.trace"
    trace.write_text(trace.read_text().replace("shipped", "lost"))
    checked(project, 1, "trace-text", "gate failed")


@pytest.mark.parametrize("oracle", ["{oracle: no-erorr}", "{oracle: max-tool-calls, limit: many}"])
def test_an_oracle_that_cannot_judge_at_low_risk(project: Path, oracle: str, model: Upstream) -> None:
    (project / "recordings" / "orders.yaml").write_text(f"{LOW}  - {oracle}\n")
    checked(project, 2, "gate failed", "error   orders")
    asked = len(model.asked)
    assert replay("run", "orders", "--", *agent(model.url), cwd=project).returncode == 2
    assert len(model.asked) == asked


@pytest.mark.parametrize(
    "text",
    ["turns: [{input: a, oracles: [{oracle: no-error}]}]", "script: {answer: a}", "environment: prod", "recording: other"],
)
def test_a_scenario_of_which_a_part_is_not_judged(project: Path, text: str) -> None:
    (project / "recordings" / "orders.yaml").write_text(LOW + text + "\n")
    assert replay("check", "recordings", cwd=project).returncode in (2, 3)


def test_a_run_whose_every_oracle_was_skipped(project: Path, model: Upstream) -> None:
    (project / "recordings" / "orders.yaml").write_text(LOW.replace("no-error", "approval-not-required"))
    done = replay("run", "orders", "--json", "-", "--", *agent(model.url), cwd=project)
    assert done.returncode == 3
    assert "approval-not-required was skipped: " in done.stderr
    assert "every oracle was skipped" in done.stderr
    assert '"status": "error"' in done.stdout


def test_a_trace_that_is_no_text(project: Path) -> None:
    trace = project / "recordings" / "orders.trace"
    trace.write_bytes(b"\xff\xfe")
    checked(project, 3, "not UTF-8")
    assert replay("accept", "orders", cwd=project).returncode == 0
    checked(project, 0)
    trace.unlink()
    trace.mkdir()
    checked(project, 3, "orders.trace")
    assert replay("accept", "orders", cwd=project).returncode == 3


def test_a_trace_or_a_scenario_without_its_evidence_and_a_link_that_leads_nowhere(project: Path) -> None:
    folder = project / "recordings"
    (folder / "orphan.trace").write_bytes((folder / "orders.trace").read_bytes())
    checked(project, 3, "orphan.trace: its recording orphan.db is not there")
    (folder / "orphan.trace").unlink()
    (folder / "link.db").symlink_to("gone.db")
    checked(project, 3, "link.db: this link leads to no file")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE responses SET status = 'x'",
        "UPDATE exchanges SET method = x'ff'",
        "UPDATE ends SET first_byte = 'x'",
        "UPDATE exchanges SET kind = 'pigeon'",
        "UPDATE recordings SET started_at = 1e300",
    ],
)
def test_a_cell_that_means_nothing(project: Path, statement: str) -> None:
    change(project, statement)
    checked(project, 3, "damaged")
    (project / "recordings" / "orders.yaml").unlink()
    for words in (["show", "orders"], ["show", "orders", "--exchanges"], ["diff", "orders", "orders"]):
        done = replay(*words, cwd=project)
        assert (done.returncode, len(done.stderr.splitlines())) == (3, 1), done.stderr


def test_an_exchange_that_was_interrupted(tmp_path: Path) -> None:
    def endless(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + framed(b"data: a\n\n"))
        wire.exactly(1)  # until the recorder gives up

    up = Upstream(endless)
    holder = f"""
import os, socket, time, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
wire = socket.create_connection((proxy.hostname, proxy.port))
wire.sendall(b"GET {up.url}/x HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
wire.recv(1000)
if os.fork() == 0:
    time.sleep(8)
    os._exit(0)
os._exit(0)
"""
    done = replay("record", "x", "--", sys.executable, "-c", holder, cwd=tmp_path)
    up.stop()
    assert done.returncode == 3, done.stderr
    assert f"exchange 1 (GET {up.url}/x) was interrupted before its end" in done.stderr


APPROVING = """
import json, os, sys, urllib.request
def tell(**event):
    urllib.request.urlopen(urllib.request.Request(os.environ["WIRETAPE_EVENTS"], json.dumps(event).encode())).read()
for word in sys.argv[2:]:
    tell(type="approval_decided", tool="refund", approved=word == "yes")
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "q"}]}).encode()
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/v1/chat/completions", body)).read()
"""


def test_an_approval_that_is_no_longer_given(tmp_path: Path) -> None:
    from support.command import chat_answer  # noqa: PLC0415

    up = Upstream(lambda wire, asked: wire.send(whole(chat_answer("Done."), "Content-Type: application/json")))
    command = ["--", sys.executable, "-c", APPROVING, up.url]
    assert replay("record", "x", *command, "yes", cwd=tmp_path).returncode == 0
    assert "approval-required" in (tmp_path / "recordings" / "x.yaml").read_text()
    assert replay("run", "x", *command, "yes", cwd=tmp_path).returncode == 0
    lost = replay("run", "x", "--save", "y", *command, cwd=tmp_path)
    assert lost.returncode == 1
    assert "refund was approved in the recording and is not approved now" in lost.stderr
    assert "refund was approved" in replay("diff", "x", "y", cwd=tmp_path).stdout
    refused = replay("run", "x", *command, "no", cwd=tmp_path)
    assert "refund was approved in the recording and refused now" in refused.stderr
    updated = replay("record", "x", "--update", *command, cwd=tmp_path)
    assert "changed: " in updated.stderr
    up.stop()


def test_a_command_that_ends_as_it_did_is_the_same_behaviour(tmp_path: Path, model: Upstream) -> None:
    done = replay("record", "x", "--", *agent(model.url, code=7), cwd=tmp_path)
    assert done.returncode == 7
    assert replay("run", "x", "--", *agent(model.url, code=7), cwd=tmp_path).returncode == 0
    other = replay("run", "x", "--", *agent(model.url), cwd=tmp_path)
    assert other.returncode == 1
    assert "the command ended with 0; it ended with 7 in the recording" in other.stderr
    assert replay("record", "x", "--update", "--", *agent(model.url, code=7), cwd=tmp_path).returncode == 7
    assert replay("record", "y", "--label", "exit_code=1", "--", "true", cwd=tmp_path).returncode == 2


ASKING = (
    "import json, sys, urllib.request\n"
    'body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "q"}]}).encode()\n'
    'data = None if sys.argv[2] == "/plain" else body\n'
    "try: urllib.request.urlopen(urllib.request.Request(sys.argv[1] + sys.argv[2], data)).read()\n"
    "except Exception: pass\n"
)


def test_an_upstream_that_is_not_there_is_the_same_behaviour_again_or_said_to_be_none(tmp_path: Path) -> None:
    """What was left of a body when nobody answered is not kept, and without it the request cannot be found."""
    command = ["--", sys.executable, "-c", ASKING, "http://127.0.0.1:9"]
    done = replay("record", "x", *command, "/plain", cwd=tmp_path)
    assert done.returncode == 0
    assert "exchange 1 (GET http://127.0.0.1:9/plain) never reached its upstream" in done.stderr
    assert replay("run", "x", *command, "/plain", cwd=tmp_path).returncode == 0
    lost = replay("record", "y", *command, "/v1/chat/completions", cwd=tmp_path)
    assert (lost.returncode, "has no fingerprint" in lost.stderr) in [(3, True), (0, False)]


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_what_the_upstream_broke_is_the_same_behaviour_again(tmp_path: Path, how: str) -> None:
    def breaking(wire: Wire, asked: Asked) -> None:
        wire.send(CHUNKED + framed(b'data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'))
        wire.reset() if how == "rst" else wire.sock.close()
        raise EOFError

    up = Upstream(breaking)
    for at, path in enumerate(["/v1/chat/completions", "/plain"]):
        command = ["--", sys.executable, "-c", ASKING, up.url, path]
        recorded = replay("record", f"x{at}", *command, cwd=tmp_path)
        assert recorded.returncode == 0
        assert {"fin": "closed the connection", "rst": "reset the connection"}[how] in recorded.stderr
        done = replay("run", f"x{at}", *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    up.stop()
