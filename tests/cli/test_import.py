"""`replay import` as users run it, of files that the other recorders themselves wrote."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import agent, replay
from support.foreign import FOREIGN
from support.stores import until
from support.upstream import Upstream

UNHEARD = "import urllib.request as u\ntry: u.urlopen('http://127.0.0.1:9/unheard', timeout=20)\nexcept OSError: pass\n"


def curious(url: str) -> list[str]:
    """An agent that first asks where nobody answers."""
    python, option, code, *more = agent(url)
    return [python, option, UNHEARD + code, *more]


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@pytest.fixture
def flows(tmp_path: Path, model: Upstream) -> Path:
    """What mitmdump kept of an agent that asked its model twice, after a request that nobody answered."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = tmp_path / "agent.flows"
    dump = Path(sys.executable).with_name("mitmdump")
    words = [dump, "-q", "-w", path, "--listen-port", str(port), "--set", f"confdir={tmp_path / 'mitm'}"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), "mitmdump listens")
        proxied = {"http_proxy": f"http://127.0.0.1:{port}", "no_proxy": "", "NO_PROXY": "", "PATH": "/usr/bin:/bin"}
        asked = subprocess.run(curious(model.url), env=proxied, capture_output=True, text=True, timeout=60, check=True)
        assert asked.stdout == "Order 7 is shipped.\n"
    finally:
        process.terminate()
        process.wait(20)
    return path


def test_it_imports_shows_and_replays_what_mitmproxy_recorded(tmp_path: Path, flows: Path, model: Upstream) -> None:
    done = replay("import", "mitmproxy", flows, "--into", "recordings/agent.db", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        f"{flows} -> recordings/agent.db#agent: 3 taken (0 with loss), 0 refused\n    1 taken GET http://127.0.0.1:9/unheard\n"
    )
    shown = json.loads(replay("show", "agent", "--format", "json", cwd=tmp_path).stdout)
    kinds = ["http_call", "error", "user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]
    assert [step["kind"] for step in shown["steps"]] == kinds
    ends = [each["end"] for each in json.loads(replay("show", "agent", "--exchanges", "--format", "json", cwd=tmp_path).stdout)]
    assert ends == ["refused", "complete", "complete"]
    asked = len(model.asked)
    ran = replay("run", "agent", "--", *curious(model.url), cwd=tmp_path)
    assert (ran.returncode, len(model.asked)) == (0, asked), ran.stderr
    assert "Order 7 is shipped." in ran.stdout


def test_it_imports_what_mitmproxy_exports_as_an_archive(tmp_path: Path, flows: Path, model: Upstream) -> None:
    """Both files are of the same traffic, so both recordings behave the same."""
    dump = Path(sys.executable).with_name("mitmdump")
    har = tmp_path / "archive.har"
    words = [dump, "-q", "-n", "-r", flows, "--set", f"hardump={har}", "--set", f"confdir={tmp_path / 'mitm'}"]
    subprocess.run(words, stdin=subprocess.DEVNULL, timeout=60, check=True)
    for format, file in (("mitmproxy", flows), ("har", har)):
        done = replay("import", format, file, "--into", "f.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    same = replay("diff", "f.db#agent", "f.db#archive", cwd=tmp_path)
    assert (same.returncode, same.stdout) == (0, "same behaviour\n")
    first, second = (
        json.loads(replay("show", f"f.db#{name}", "--exchanges", "--format", "json", cwd=tmp_path).stdout)
        for name in ("agent", "archive")
    )
    for field in ("method", "url", "request_body_base64", "status", "response_body_base64", "end"):
        assert [each[field] for each in first] == [each[field] for each in second], field


def test_it_prints_each_entry_as_text_and_as_json(tmp_path: Path) -> None:
    text = replay("import", "vcr", FOREIGN / "vcrpy-requests.yaml", "--into", "f.db", cwd=tmp_path)
    assert text.returncode == 0, text.stderr
    assert "8 taken (2 with loss), 0 refused" in text.stdout
    assert "    4 taken with loss GET http://127.0.0.1:41873/gzip: the content coding (gzip)" in text.stdout
    bad = tmp_path / "bad.yaml"
    bad.write_text("a: 1\nb: !!python/object:os.system {}\n")
    words = ["import", "vcr", FOREIGN / "vcrpy-httpx.yaml", bad, "--into", "f.db", "--format", "json"]
    done = replay(*words, cwd=tmp_path)
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert [(each["status"], each["recording"]) for each in told["files"]] == [("imported", "vcrpy-httpx"), ("refused", None)]
    assert told["files"][0]["items"][0] == {
        "item": 1,
        "seq": 1,
        "what": "POST http://127.0.0.1:41873/v1/items",
        "status": "taken",
        "losses": [],
        "reason": None,
    }
    assert told["files"][1]["error"]["code"] == "invalid_file"
    assert "bad.yaml:2" in done.stderr
    assert "vcrpy-httpx  complete" in replay("ls", "f.db", cwd=tmp_path).stdout


def test_it_lets_a_conversation_without_exchanges_be_judged_and_not_replayed(tmp_path: Path) -> None:
    call = {"type": "tool_call", "name": "find", "args": {"user": "n"}, "id": "c1"}
    talk = [
        {"role": "user", "type": "text", "content": "My time off?"},
        {"role": "assistant", "type": "tool_call", "content": json.dumps(call)},
        {"role": "assistant", "type": "text", "content": "January 5."},
    ]
    (tmp_path / "messages_a.json").write_text(json.dumps(talk))
    assert replay("import", "wxo", "messages_a.json", "--into", "recordings/a.db", cwd=tmp_path).returncode == 0
    called, absent = "{oracle: tool-called, tool: find}", "{oracle: tool-not-called, tool: x}"
    oracles = f"[{called}, {absent}, {{oracle: final-answer-contains, value: January 5}}]"
    scenario = tmp_path / "recordings" / "a.yaml"
    scenario.write_text(f"wiretape: 1\nid: a\ntitle: t\noracles: {oracles}\n")
    assert replay("accept", "a", cwd=tmp_path).returncode == 0
    checked = replay("check", "recordings", cwd=tmp_path)
    assert (checked.returncode, "oracles skipped" in checked.stdout) == (0, True), checked.stdout
    scenario.write_text(scenario.read_text().replace("January 5", "June 1"))
    assert replay("check", "recordings", cwd=tmp_path).returncode == 1
    served = replay("proxy", "--mode", "replay", "--store", "recordings/a.db", "--port", "0", cwd=tmp_path)
    assert (served.returncode, "no exchange" in served.stderr) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["pcap", "x", "--into", "f.db"], 2, "go-vcr, har, jsonl, mitmproxy, vcr, wxo"),
        (["har", "x"], 2, "--into"),
        (["har", "--into", "f.db"], 2, "FILE"),
        (["har", "gone.har", "--into", "f.db"], 2, "gone.har"),
        (["har", "x", "--into", "f.db", "--format", "xml"], 2, "--format"),
        (["har", "x", "--into", "f.db", "--redact", "off"], 2, "--yes-store-secrets"),
        (["har", "empty", "--into", "f.db"], 3, "empty"),
        (["vcr", "empty", "--into", "f.db"], 3, "empty"),
        (["mitmproxy", "binary", "--into", "f.db"], 2, "binary"),
        (["har", "binary", "--into", "f.db"], 2, "binary"),
        (["wxo", "binary", "--into", "f.db"], 2, "binary"),
    ],
)
def test_it_says_what_is_wrong_in_a_sentence_and_writes_nothing(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    done = replay("import", *words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "binary"}
