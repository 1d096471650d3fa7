"""The job behind `replay init`: what a project needs so that recordings are reviewed and judged."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path

__all__ = ["prepare"]

_ATTRIBUTES = ("*.db binary", "*.trace text eol=lf")

_IGNORED = (".*.db.lock", "*.db-wal", "*.db-shm", ".*.replacing/")

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
        with: {{python-version: "3.13"}}
      {install}
      - run: replay check recordings/
      # Today's agent against a recording, offline. Install it first; no key is needed, though some SDKs want any value.
      # - run: replay run first -- python agent.py
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
        _lines(folder / ".gitattributes", _ATTRIBUTES, "how recordings are kept"),
        _lines(folder / ".gitignore", _IGNORED, "what a recorder leaves beside them"),
        _write(folder / ".github" / "workflows" / "recordings.yml", _JOB.format(install=_install())),
        _write(folder / "recordings" / "first.yaml", _SCENARIO),
    )


def _install() -> str:
    """The step that installs what runs here: a release by its version, else from where it came (PEP 610)."""
    wiretape = distribution("wiretape")
    origin = json.loads(wiretape.read_text("direct_url.json") or "{}")
    if not origin:
        return f"- run: pip install wiretape=={wiretape.version}"
    if commit := origin.get("vcs_info", {}).get("commit_id"):
        return f"- run: pip install 'wiretape @ git+{origin['url']}@{commit}'"
    return (
        "# wiretape was installed from a folder of yours, which this job cannot see: keep its source in this repository as\n"
        "      # wiretape/ (a submodule, a copy), or name another place that pip reads.\n      - run: pip install ./wiretape"
    )


def _lines(path: Path, wanted: tuple[str, ...], what: str) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in wanted if line not in text.splitlines()]
    if not missing:
        return f"{path} already says {what}"
    separator = "" if not text or text.endswith("\n") else "\n"
    path.write_text(text + separator + "".join(f"{line}\n" for line in missing), encoding="utf-8")
    return f"added {' and '.join(missing)} to {path}"


def _write(path: Path, text: str) -> str:
    if path.exists():
        return f"left {path} as it is"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"wrote {path}"
