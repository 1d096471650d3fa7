"""`replay tap` between a real MCP client and a real MCP server, each a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.command import REPLAY, replay
from support.upstream import Upstream, always, whole

SERVER = """
import os, sys, urllib.request
from pydantic import BaseModel
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations

server = MCPServer("examples", log_level="ERROR")

class Sure(BaseModel):
    yes: bool

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def add(a: int, b: int, context: Context) -> int:
    await context.report_progress(1, 2, "halfway")
    return a + b

@server.tool()
async def erase(path: str, context: Context) -> str:
    said = await context.elicit("Really?", Sure)
    return "erased" if said.action == "accept" and said.data.yes else "kept"

@server.tool()
def fetch(url: str) -> str:
    return urllib.request.urlopen(url).read().decode()

@server.tool()
def die() -> str:
    os._exit(3)

print("the server is up", file=sys.stderr, flush=True)
server.run("stdio")
"""

CLIENT = """
import json, sys
import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

mode, accept, calls, command = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:]

async def asked(context, params):
    return ElicitResult(action="accept", content={"yes": accept == "yes"})

async def progressed(done, total, message):
    print("progress", done, total, message)

async def main():
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode, elicitation_callback=asked) as client:
        await client.list_tools()
        for name, arguments in calls:
            result = await client.call_tool(name, arguments, progress_callback=progressed)
            print(name, result.content[0].text)

try:
    anyio.run(main)
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    print("failed:", error)
    sys.exit(1)
"""

GONE = ["/nonexistent/server"]

type Calls = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return [sys.executable, str(path)]


def client(calls: Calls, command: Sequence[str], mode: str = "auto", accept: str = "yes") -> list[str]:
    """An MCP client that has the tap in its configuration."""
    tap = [*REPLAY, "tap", "--name", "files", "--", *command]
    return [sys.executable, "-c", CLIENT, mode, accept, json.dumps(calls), *tap]


def shown(recording: str, cwd: Path, *options: str) -> Any:
    return json.loads(replay("show", recording, *options, "--format", "json", cwd=cwd).stdout)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_is_recorded_and_replayed_without_it(tmp_path: Path, server: list[str], mode: str) -> None:
    calls = [("add", {"a": 1, "b": 2}), ("erase", {"path": "x"})] if mode == "legacy" else [("add", {"a": 1, "b": 2})]
    recorded = replay("record", "one", "--", *client(calls, server, mode), cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    assert "the server is up" in recorded.stderr
    assert "progress 1.0 2.0 halfway" in recorded.stdout
    again = replay("run", "one", "--strict", "--", *client(calls, GONE, mode), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == recorded.stdout


def test_its_calls_are_steps_carried_out_by_the_server_of_that_name(tmp_path: Path, server: list[str]) -> None:
    replay(
        "record", "one", "--", *client([("add", {"a": 1, "b": 2}), ("erase", {"path": "x"})], server, "legacy"), cwd=tmp_path
    )
    steps = shown("one", tmp_path)["steps"]
    kinds = [step["kind"] for step in steps]
    assert kinds == ["tool_call", "tool_result", "tool_call", "approval_request", "approval_decision", "tool_result"]
    assert [(step["server"], step["state"], step["read_only"]) for step in steps if step["kind"] == "tool_call"] == [
        ("files", "executed", True),
        ("files", "executed", None),
    ]
    assert [(step["content"], step["seen"]) for step in steps if step["kind"] == "tool_result"] == [
        ("3", "wire"),
        ("erased", "wire"),
    ]


def test_the_conversation_is_one_exchange(tmp_path: Path, server: list[str]) -> None:
    replay("record", "one", "--", *client([("add", {"a": 1, "b": 2})], server), cwd=tmp_path)
    (exchange,) = shown("one", tmp_path, "--exchanges")
    assert [exchange[name] for name in ("kind", "method", "url", "upstream", "end", "error")] == [
        "stdio",
        "STDIO",
        "stdio://files",
        "files",
        "complete",
        None,
    ]
    said = [(each["from"], each["type"], each["code"]) for each in exchange["messages"]]
    assert said[0] == ("client", "text", None)
    assert said[-2:] == [("client", "close", None), ("server", "close", 0)]
    assert json.loads(exchange["messages"][0]["data"])["method"] == "server/discover"


def test_a_changed_call_is_a_miss_that_says_what_differs(tmp_path: Path, server: list[str]) -> None:
    replay("record", "one", "--", *client([("add", {"a": 1, "b": 2})], server), cwd=tmp_path)
    again = replay("run", "one", "--json", "r.json", "--", *client([("add", {"a": 5, "b": 2})], GONE), cwd=tmp_path)
    assert again.returncode == 1
    assert "failed: replay miss: tools/call of stdio://files: no recorded message says the same here." in again.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["exchanges"] == {"served": 1, "unused": 0, "missed": 1, "noise": 0}
    assert report["misses"][0]["differences"] == [{"path": "$.params.arguments.a", "recorded": "1", "live": "5"}]


def test_another_reply_to_the_servers_question_is_a_miss(tmp_path: Path, server: list[str]) -> None:
    calls = [("erase", {"path": "x"})]
    replay("record", "one", "--", *client(calls, server, "legacy"), cwd=tmp_path)
    again = replay("run", "one", "--", *client(calls, GONE, "legacy", accept="no"), cwd=tmp_path)
    assert again.returncode == 1
    assert "a reply to stdio://files" in again.stdout
    assert "$.result.content.yes: recorded true, live false" in again.stdout


def test_a_server_that_is_not_started_again_is_unused(tmp_path: Path, server: list[str]) -> None:
    once = shlex.join(client([], server))
    replay("record", "one", "--", "sh", "-c", f"{once} && {once}", cwd=tmp_path)
    again = replay("run", "one", "--strict", "--json", "r.json", "--", *client([], GONE), cwd=tmp_path)
    assert again.returncode == 1
    assert json.loads((tmp_path / "r.json").read_text())["exchanges"] == {"served": 1, "unused": 1, "missed": 0, "noise": 0}


def test_what_the_server_asks_for_itself_is_kept_beside_the_agents_behaviour(tmp_path: Path, server: list[str]) -> None:
    upstream = Upstream(always(whole(b"hello")))
    calls = [("fetch", {"url": f"http://127.0.0.1:{upstream.port}/page"})]
    recorded = replay("record", "one", "--", *client(calls, server), cwd=tmp_path)
    upstream.stop()
    assert recorded.stdout == "fetch hello\n"
    talk, fetched = shown("one", tmp_path, "--exchanges")
    assert (talk["kind"], talk["noise"]) == ("stdio", False)
    assert (fetched["url"], fetched["session"], fetched["noise"]) == (calls[0][1]["url"], "tap.files", True)
    again = replay("run", "one", "--strict", "--", *client(calls, GONE), cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


def test_a_server_that_dies_dies_again(tmp_path: Path, server: list[str]) -> None:
    calls = [("die", {})]
    recorded = replay("record", "one", "--", *client(calls, server), cwd=tmp_path)
    assert recorded.returncode == 1
    (exchange,) = shown("one", tmp_path, "--exchanges")
    assert exchange["end"] == "upstream_truncated"
    assert exchange["error"] == "the server ended with 3 while its client was there"
    again = replay("run", "one", "--", *client(calls, GONE), cwd=tmp_path)
    assert again.stdout == recorded.stdout


# ---------------------------------------------------------------- the tap itself, between pipes

ECHO = [sys.executable, "-c", "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"]

WAITS = """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(9))
print("up", flush=True)
time.sleep(30)
"""

SECRET = "abcdefgh-12345678-ijklmnop"

BARE = """
import json, os, subprocess, sys
tap = subprocess.Popen(sys.argv[1:], env={"PATH": os.environ["PATH"]}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number in range(3):
    request = {"jsonrpc": "2.0", "id": f"{os.getpid()}-{number}", "method": "tools/call", "params": {"name": "t"}}
    tap.stdin.write(json.dumps(request).encode() + b"\\n")
    tap.stdin.flush()
    answer = json.loads(tap.stdout.readline())
    print(answer["id"] == request["id"], answer["result"])
tap.stdin.close()
print(tap.wait())
"""
"""A client that hands nothing on."""

COUNTS = """
import json, sys
for number, line in enumerate(sys.stdin):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"content": number}}), flush=True)
sys.exit(5)
"""


def tapped(
    command: Sequence[str], *, options: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A tap that runs, as a client starts it: with nothing but PATH and HOME, and what its configuration says."""
    bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    tap, pipe = [*REPLAY, "tap", "--name", "echo", *options, "--", *command], subprocess.PIPE
    return subprocess.Popen(tap, stdin=pipe, stdout=pipe, stderr=pipe, env={**bare, **(env or {})})


def sidecar(tmp_path: Path, *options: str) -> tuple[subprocess.Popen[bytes], int]:
    ready = tmp_path / "ready.json"
    command = [*REPLAY, "proxy", "--port", "0", "--store", "s.db", "--ready-file", str(ready), *options]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not ready.exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    return process, json.loads(ready.read_text())["pid"]


def test_without_a_run_the_server_runs_as_it_is() -> None:
    tap = tapped([sys.executable, "-c", "import os, sys; print(os.getpid()); sys.exit(7)"])
    out, error = tap.communicate(timeout=30)
    assert (int(out), tap.returncode) == (tap.pid, 7)
    assert error == b"replay: tap echo: no recording and no replay runs here, so the server runs as it is.\n"


def test_bytes_go_both_ways_unchanged_and_the_end_is_told(tmp_path: Path) -> None:
    process, pid = sidecar(tmp_path)
    tap = tapped(ECHO, options=["--run", str(pid)])
    sent = b'{"a": 1}\r\n\xff\xfe\n' + b"x" * 300_000 + b"\nno end"
    out, _ = tap.communicate(sent, timeout=30)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert (out, tap.returncode) == (sent, 0)
    (exchange,) = shown("s.db", tmp_path, "--exchanges")
    told = [each for each in exchange["messages"] if each["from"] == "server"]
    assert [each["type"] for each in told] == ["text", "binary", "text", "text", "close"]
    assert (told[0]["data"], told[3]["data"], len(told[2]["data"])) == ('{"a": 1}\r', "no end", 300_000)


def test_a_side_that_is_closed_is_closed_for_the_other(tmp_path: Path) -> None:
    process, pid = sidecar(tmp_path)
    shuts_up = "import os, sys; os.write(1, b'bye\\n'); os.close(1); sys.stdin.read()"
    tap = tapped([sys.executable, "-c", shuts_up], options=["--run", str(pid)])
    assert tap.stdin
    assert tap.stdout
    assert tap.stdout.read() == b"bye\n"
    assert tap.poll() is None
    tap.stdin.close()
    assert tap.wait(30) == 0
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def test_traffic_goes_on_when_the_sidecar_dies(tmp_path: Path) -> None:
    process, pid = sidecar(tmp_path)
    tap = tapped(ECHO, options=["--run", str(pid)])
    assert tap.stdin
    assert tap.stdout
    tap.stdin.write(b"one\n")
    tap.stdin.flush()
    assert tap.stdout.readline() == b"one\n"
    process.kill()
    process.wait(30)
    for _ in range(3):
        tap.stdin.write(b"two\n")
        tap.stdin.flush()
        assert tap.stdout.readline() == b"two\n"
        time.sleep(0.1)
    out, error = tap.communicate(timeout=30)
    assert (out, tap.returncode) == (b"", 0)
    assert b"the server goes on unrecorded" in error


def test_the_run_is_found_though_the_client_strips_the_environment(tmp_path: Path) -> None:
    agent = [sys.executable, "-c", BARE, *REPLAY, "tap", "--name", "counts", "--"]
    recorded = replay("record", "one", "--", *agent, sys.executable, "-c", COUNTS, cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == "".join(f"True {{'content': {number}}}\n" for number in range(3)) + "5\n"
    (exchange,) = shown("one", tmp_path, "--exchanges")
    assert (exchange["end"], exchange["error"]) == ("client_closed", "the server ended with 5 when its client left")
    again = replay("run", "one", "--strict", "--", *agent, *GONE, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.parametrize(
    ("sent", "code", "end", "last"),
    [
        (signal.SIGUSR1, 9, "upstream_truncated", 9),
        (signal.SIGTERM, 143, "client_closed", 143),
        (signal.SIGKILL, -9, "interrupted", None),
    ],
)
def test_a_signal_is_passed_on_and_the_exit_code_comes_back(
    tmp_path: Path, sent: signal.Signals, code: int, end: str, last: int | None
) -> None:
    process, pid = sidecar(tmp_path)
    tap = tapped([sys.executable, "-c", WAITS], options=["--run", str(pid)])
    assert tap.stdout
    assert tap.stdout.readline() == b"up\n"
    time.sleep(0.5)  # what a killed tap had no time to tell is not known
    tap.send_signal(sent)
    assert tap.wait(30) == code
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    (exchange,) = shown("s.db", tmp_path, "--exchanges")
    assert (exchange["end"], exchange["messages"][-1]["code"]) == (end, last)


def test_a_replay_that_lost_its_sidecar_starts_no_server(tmp_path: Path) -> None:
    process, pid = sidecar(tmp_path)
    counts = [sys.executable, "-c", COUNTS]
    tapped(counts, options=["--run", str(pid)]).communicate(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', timeout=30)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    (tmp_path / "ready.json").unlink()
    process, pid = sidecar(tmp_path, "--mode", "replay")
    tap = tapped(["touch", str(tmp_path / "started")], options=["--run", str(pid)])
    assert tap.stdin
    assert tap.stdout
    tap.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
    tap.stdin.flush()
    assert json.loads(tap.stdout.readline())["id"] == 2
    process.kill()
    process.wait(30)
    _, error = tap.communicate(timeout=30)
    assert (tap.returncode, (tmp_path / "started").exists()) == (3, False)
    assert error.startswith(b"replay: tap echo: the sidecar of run ")


def test_secrets_of_the_servers_own_environment_are_not_kept(tmp_path: Path) -> None:
    process, pid = sidecar(tmp_path)
    tap = tapped(["sh", "-c", "cat; echo $GITHUB_TOKEN"], options=["--run", str(pid)], env={"GITHUB_TOKEN": SECRET})
    out, _ = tap.communicate(json.dumps({"said": SECRET}).encode(), timeout=30)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    assert out.count(SECRET.encode()) == 2
    assert SECRET not in json.dumps(shown("s.db", tmp_path, "--exchanges"))


def test_a_name_that_is_no_name_is_refused(tmp_path: Path) -> None:
    done = replay("tap", "--name", "a/b", "--", "true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "replay: --name: expected letters, digits, dots, dashes and underscores, got 'a/b'.\n",
    )
