"""The command `replay` as users run it, and small agents that know nothing but their environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REPLAY = [sys.executable, "-c", "from wiretape.cli.main import main; main()"]

AGENT = """
import json, sys, urllib.error, urllib.request
base, question, code = sys.argv[1], sys.argv[2], int(sys.argv[3])
messages = [{"role": "user", "content": question}]
for _ in range(4):
    body = json.dumps({"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "get_order",
        "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}}]}).encode()
    request = urllib.request.Request(base + "/v1/chat/completions", body, {"Content-Type": "application/json"})
    try:
        answer = json.load(urllib.request.urlopen(request, timeout=20))
    except urllib.error.HTTPError as error:
        print(error.read().decode())
        sys.exit(code)
    message = answer["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        sys.exit(code)
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "shipped"})
"""


def agent(base: str, question: str = "Where is 7?", code: int = 0) -> list[str]:
    return [sys.executable, "-c", AGENT, base, question, str(code)]


def replay(*words: str | Path, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*REPLAY, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **more.pop("env", {})},
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
        **more,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def chat_answer(text: str | None, calls: Sequence[tuple[str, str, str]] = ()) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return json.dumps(
        {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice]}
    ).encode()
