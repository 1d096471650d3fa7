"""The job behind `replay init`: what a project needs so that recordings are reviewed and judged."""

from __future__ import annotations

from pathlib import Path

__all__ = ["prepare"]

_ATTRIBUTES = ("*.db binary", "*.trace text eol=lf")

_JOB = """\
# Judges the recordings on every push: red when the agent's stored behaviour no longer satisfies its scenarios.
name: recordings
on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.13"}
      - run: pip install wiretape
      - run: replay check recordings/
"""

_SCENARIO = """\
# What must stay true of the recording `first`. Make it with:  replay record first -- python agent.py
wiretape: 1
id: first
title: Says what the agent is for
risk: high
oracles:
  - {oracle: no-error}
  # - {oracle: tool-called, tool: get_order}
  # - {oracle: final-answer-contains, value: refunded}
"""


def prepare(folder: Path) -> tuple[str, ...]:
    """One line a file: what was written, what was already there."""
    return (
        _attributes(folder / ".gitattributes"),
        _write(folder / ".github" / "workflows" / "recordings.yml", _JOB),
        _write(folder / "recordings" / "first.yaml", _SCENARIO),
    )


def _attributes(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in _ATTRIBUTES if line not in text.splitlines()]
    if not missing:
        return f"{path} already says how recordings are kept"
    separator = "" if not text or text.endswith("\n") else "\n"
    path.write_text(text + separator + "".join(f"{line}\n" for line in missing), encoding="utf-8")
    return f"added {' and '.join(missing)} to {path}"


def _write(path: Path, text: str) -> str:
    if path.exists():
        return f"left {path} as it is"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"wrote {path}"
