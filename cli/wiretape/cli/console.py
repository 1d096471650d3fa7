"""What verbs print with: people's text, colour only on a terminal, JSON for machines on standard output."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass, replace
from typing import IO, Any

from rich.console import Console

from wiretape.oracles.reports.escape import terminal

__all__ = ["Output", "printable", "say_error"]


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
        """What was asked for, on standard output."""
        print(text)  # noqa: T201

    def json(self, value: Any) -> None:
        self.result(json.dumps(value, ensure_ascii=False, indent=2))


def say_error(sentence: str) -> None:
    print(f"replay: {sentence}", file=sys.stderr)  # noqa: T201


def printable(text: str) -> str:
    """Text from a recording without anything that a terminal would obey."""
    return "\n".join(terminal(line, limit=len(text)) for line in text.split("\n"))
