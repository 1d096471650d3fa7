"""Which sidecar a process belongs to: the nearest of those who run among its parents. MCP clients strip the environment of the
servers that they start, but not their descent."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from wiretape.proxy.runs import RunFile, running

__all__ = ["listed_parents", "parents", "run_of"]


def run_of(pid: int, name: str | None = None) -> RunFile | None:
    """The run of that name (or pid), else the nearest among the parents."""
    found = running()
    if name is not None:
        return next((run for run in found if name in (run.run, str(run.pid))), None)
    by_pid = {run.pid: run for run in found}
    return next((by_pid[parent] for parent in parents(pid) if parent in by_pid), None)


def parents(pid: int) -> Iterator[int]:
    """From the nearest to the first process of all."""
    above = _above if Path("/proc/self/stat").exists() else listed_parents().get
    seen = {pid}
    while (parent := above(pid)) and parent not in seen:
        seen.add(parent)
        yield parent
        pid = parent


def _above(pid: int) -> int | None:
    """By Linux's /proc. The command's name stands in parentheses and may hold anything, also these."""
    with suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    return None


def listed_parents() -> dict[int, int]:
    """Process → its parent, as `ps` tells them where there is no /proc. Empty where it does not."""
    command = ["ps", "-A", "-o", "pid=", "-o", "ppid="]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603  # ours
    except (OSError, subprocess.SubprocessError):
        return {}
    pairs = (line.split() for line in listed.stdout.splitlines())
    return {int(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2}
