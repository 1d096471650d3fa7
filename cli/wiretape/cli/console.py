"""What verbs print with: people's text, colour only on a terminal, JSON for machines on standard output."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from rich.console import Console

from wiretape.oracles.reports.escape import terminal
from wiretape.traces.errors import TechnicalError, UsageError

__all__ = ["Output", "printable", "refuse_unwritable", "say_error"]


@dataclass(frozen=True)
class Output:
    """A command's ways of speaking; `child` is the command that followed `--`."""

    child: list[str] | None = None
    quiet: bool = False
    verbose: bool = False
    color: bool = True

    def with_flags(self, *, quiet: bool, verbose: bool, color: bool) -> Output:
        level = logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING
        logging.basicConfig(level=logging.WARNING, format="replay: %(message)s", stream=sys.stderr)
        logging.getLogger("wiretape").setLevel(level)
        return replace(self, quiet=quiet, verbose=verbose, color=color)

    @property
    def command(self) -> list[str]:
        return self.child or []

    def console(self, stream: IO[str] | None = None) -> Console:
        """A rich console on standard output, or on another stream."""
        plain = not self.color or bool(os.environ.get("NO_COLOR"))
        return Console(file=stream or sys.stdout, no_color=plain, highlight=False, soft_wrap=True, emoji=False, markup=False)

    def say(self, text: str) -> None:
        """A line for people, on standard error; nothing with --quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)  # noqa: T201

    def result(self, text: str) -> None:
        """What was asked for, on standard output; what it cannot encode (half a character of a recording) is spelled out."""
        coding = sys.stdout.encoding or "utf-8"
        print(text.encode(coding, "backslashreplace").decode(coding))  # noqa: T201

    def json(self, value: Any) -> None:
        self.result(json.dumps(value, ensure_ascii=False, indent=2))

    def report(self, path: Path, text: str) -> None:
        """A report into the file that was asked for; `-` is standard output. TechnicalError where it cannot be written."""
        if str(path) == "-":
            self.result(text.rstrip("\n"))
            return
        try:
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise TechnicalError(f"{path}: the report could not be written ({error.strerror}).") from None


def refuse_unwritable(path: Path | None) -> None:
    """UsageError where no report can be written there: asked before the work, whose result would be lost."""
    if path is None or str(path) == "-":
        return
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected a file for the report, or - for standard output.")
    if not folder.is_dir():
        raise UsageError(f"{path}: there is no folder {folder} for the report. Make it, or name another file.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"{path}: the report cannot be written there. Name another file.")


def say_error(sentence: str) -> None:
    print(f"replay: {sentence}", file=sys.stderr)  # noqa: T201


def printable(text: str) -> str:
    """Text from a recording without anything that a terminal would obey."""
    return "\n".join(terminal(line, limit=len(text)) for line in text.split("\n"))
