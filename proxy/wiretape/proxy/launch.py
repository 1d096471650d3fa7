"""The child: started where it stands, its exit code and signals passed on.

It stays in our process group, so that on a terminal it is in the foreground: what the terminal sends (Ctrl-C, Ctrl-Z, a resize)
reaches it directly, and we only take care not to end before it does. What is sent to us alone is passed on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from wiretape.traces.errors import UsageError

__all__ = ["exit_code", "passing_signals", "run_child", "started"]

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


async def run_child(argv: Sequence[str], environment: Mapping[str, str], *, cwd: Path | None = None) -> int:
    """Run the command to its end: its exit code, or 128 + n where signal n ended it. UsageError where it cannot be started."""
    child = await started(argv, environment, cwd=cwd)
    with passing_signals(child):
        return exit_code(await child.wait())


async def started(
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    cwd: Path | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
) -> asyncio.subprocess.Process:
    """The command at work, with these descriptors instead of our own. UsageError where it cannot be started."""
    try:
        return await asyncio.create_subprocess_exec(*argv, env=dict(environment), cwd=cwd, stdin=stdin, stdout=stdout)
    except FileNotFoundError:
        raise UsageError(_not_found(argv[0], cwd)) from None
    except PermissionError:
        raise UsageError(
            f"{argv[0]} cannot be run: it is not executable. Put its interpreter before it, or chmod +x."
        ) from None
    except OSError as error:
        raise UsageError(f"{argv[0]} cannot be run: {error.strerror or error}.") from None


def exit_code(code: int) -> int:
    """As a shell tells it: 128 + n where signal n ended the child."""
    return 128 - code if code < 0 else code


def _not_found(command: str, cwd: Path | None) -> str:
    if cwd is not None and not cwd.is_dir():
        return f"{cwd}: there is no such folder to run the command in."
    return f"{command}: there is no such command on PATH. Check its spelling, or give its path."


@contextmanager
def passing_signals(child: asyncio.subprocess.Process) -> Iterator[None]:
    """While within: signals go to the child, or are left to it where the terminal sends them to both of us."""
    loop = asyncio.get_running_loop()
    terminal = _in_foreground()
    handled = []
    for number in (*_PASSED_ON, *_FROM_THE_TERMINAL):
        ours = terminal and number in _FROM_THE_TERMINAL
        with suppress(ValueError, RuntimeError):  # only the main thread may handle signals
            loop.add_signal_handler(number, (lambda: None) if ours else _pass_on(child, number))
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _pass_on(child: asyncio.subprocess.Process, number: signal.Signals) -> _Passing:
    return _Passing(child, number)


class _Passing:
    def __init__(self, child: asyncio.subprocess.Process, number: signal.Signals) -> None:
        self._child, self._number = child, number

    def __call__(self) -> None:
        with suppress(ProcessLookupError):
            self._child.send_signal(self._number)


def _in_foreground() -> bool:
    """Whether a terminal is there and its signals come to our group."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
