"""The main job, start to end, on this machine alone: record an agent, replay it offline, judge it, and see a change go red.

`make demo` runs it. No key, no account, no network: the provider answers with recorded real answers (examples/provider).
"""

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
REPLAY = str(Path(sys.executable).with_name("replay"))
AGENT = ["python", "examples/openai_agent.py"]
BOLD, DIM, GREEN, RED, PLAIN = (
    ("\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m")
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    else ("",) * 5
)

SCENARIO = """\
wiretape: 1
id: demo
title: Tells the weather, then adds and multiplies
risk: high
oracles:
  - {oracle: tool-called, tool: weather}
  - {oracle: tool-called, tool: add, args: {a: 2, b: 3}}
  - {oracle: tool-called, tool: multiply}
  - {oracle: max-tool-calls, limit: 3}
  - {oracle: final-answer-contains, value: "6"}
  - {oracle: no-error}
"""


def chapter(number: int, title: str) -> None:
    print(f"\n{BOLD}{number}. {title}{PLAIN}")


def note(text: str) -> None:
    print(f"{DIM}{text}{PLAIN}")


def replay(*words: str, expect: int, shown: tuple[str, ...] | None = None) -> None:
    """Run `replay` as a user would, show the command line, and insist on its exit code."""
    print(f"{BOLD}$ replay {shlex.join(shown or words)}{PLAIN}", flush=True)
    done = subprocess.run([REPLAY, *words], cwd=ROOT, env=_environment(), check=False)
    colour = GREEN if done.returncode == 0 else RED
    print(f"{colour}exit code {done.returncode}{PLAIN}", flush=True)
    if done.returncode != expect:
        sys.exit(f"the demo expected exit code {expect} here; that is a defect of this build")


def _environment() -> dict[str, str]:
    """So that `python` is this environment's own, and the agent believes in the real providers."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_BASE_URL")}
    return {**kept, "PATH": path}


class Stage:
    """The provider, the MCP server and the HTTP tool (examples/stage.py) as one process."""

    def __init__(self, folder: Path) -> None:
        ready = folder / "stage.json"
        self._process = subprocess.Popen([sys.executable, "-m", "examples.stage", "--ready-file", str(ready)], cwd=ROOT)
        deadline = time.monotonic() + 30
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the provider of the demo did not start")
            time.sleep(0.05)
        found = json.loads(ready.read_text())
        self.options = ["--upstream-ca", found["upstream_ca"]]
        self.ports = [int(rule.rsplit(":", 1)[1]) for rule in found["connect_to"]]
        for rule in found["connect_to"]:
            self.options += ["--connect-to", rule]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)
        for port in self.ports:
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    sys.exit(f"something still listens on port {port}")


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wiretape-demo-") as place:
        _demo(Path(place))
    print(f"\n{DIM}{time.monotonic() - began:.0f} s{PLAIN}")


def _demo(place: Path) -> None:
    folder = place / "recordings"
    folder.mkdir()
    database = str(folder / "demo.db")

    chapter(1, "Record a real agent: the openai SDK, streaming, one MCP tool and two HTTP tools")
    note("A local provider, MCP server and HTTP tool are running; --connect-to leads api.openai.com and the tools to them.")
    stage = Stage(place)
    (folder / "demo.yaml").write_text(SCENARIO)
    shown = ("record", "demo", "--dir", str(folder), "…", "--", *AGENT)
    try:
        replay("record", "demo", "--dir", str(folder), *stage.options, "--", *AGENT, expect=0, shown=shown)
    finally:
        stage.stop()

    chapter(2, "Look at its trace")
    replay("show", database, expect=0)

    chapter(3, "Provider and tools are stopped now. Run the agent again, against the recording")
    replay("run", database, "--", *AGENT, expect=0)

    chapter(4, "Judge the stored recordings: what CI runs")
    replay("check", str(folder), "recordings", expect=0)

    chapter(5, "Change one thing about the agent: it stops after its first question")
    changed = [*AGENT, "--questions", "1"]
    replay("run", database, "--", *changed, expect=1)

    chapter(6, "Change one word of its system prompt: a recorded answer to another prompt would be stale, so it is a miss")
    changed = [*AGENT, "--tone", "grumpy"]
    note("(The agent's own traceback is left out here: its SDK raises the miss as the provider's error that it knows.)")
    replay(
        "run",
        database,
        "--",
        "sh",
        "-c",
        f"{shlex.join(changed)} 2>/dev/null",
        expect=1,
        shown=("run", database, "--", *changed),
    )


if __name__ == "__main__":
    main()
