"""Everything that wiretape raises on purpose, as one small tree.

A message is one clear sentence for the person at the terminal: what was expected, what came, what to do. The class decides
the exit code (INTERFACE.md): 1 behaviour or gate failed, 2 wrong use or configuration, 3 technical. Mistakes of a caller
inside the program raise Python's own exceptions instead.

WiretapeError
├── UsageError          2  the command, a file name or a flag is wrong
│   └── InvalidFile     2  a scenario, settings or rule file does not fit: file, line, field, what was expected
└── TechnicalError      3  the machine or a file let us down
    ├── StoreError      3  a recording that cannot be read or written
    └── CaptureError    3  the sidecar could not start, or nothing was captured
"""

from __future__ import annotations

__all__ = ["CaptureError", "InvalidFile", "StoreError", "TechnicalError", "UsageError", "WiretapeError"]


class WiretapeError(Exception):
    """Base of all; `exit_code` is what the command ends with, `code` the finer word for machines."""

    exit_code = 3
    code = "error"


class UsageError(WiretapeError):
    exit_code = 2
    code = "usage"


class InvalidFile(UsageError):
    """A file that people write does not fit. `line` counts from 1 and is None where it cannot be known.

    All faults of a file (or of several) are told at once: `also` carries the others, and the message has a line for each.
    """

    code = "invalid_file"

    def __init__(
        self, path: str, problem: str, *, line: int | None = None, field: str = "", also: tuple[InvalidFile, ...] = ()
    ) -> None:
        place = f"{path}:{line}" if line is not None else path
        self.sentence = f"{place}: {field}: {problem}" if field else f"{place}: {problem}"
        super().__init__("\n".join((self.sentence, *(str(fault) for fault in also))))
        self.path, self.problem, self.line, self.field, self.also = path, problem, line, field, also


class TechnicalError(WiretapeError):
    exit_code = 3
    code = "technical"


class StoreError(TechnicalError):
    code = "store"


class CaptureError(TechnicalError):
    code = "capture"
