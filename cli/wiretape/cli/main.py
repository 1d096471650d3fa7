"""The command `replay`: finds the verb, splits off the child's command, turns errors into one sentence and an exit code.

A verb's module is imported only when it is asked for, so that commands which only read never pay for the proxy.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from keyword import iskeyword
from typing import Any

import typer
import typer.core
import typer.exceptions

from wiretape.cli.console import Output, say_error
from wiretape.traces.errors import UsageError, WiretapeError

__all__ = ["CHILD_VERBS", "VERBS", "main", "module_of"]

VERBS: dict[str, str] = {
    "record": "Run a command and record what it says to its models and tools.",
    "run": "Run a command against a recording, offline, and compare its behaviour.",
    "learn": "Find the request fields that vary between runs.",
    "check": "Judge stored recordings: the command for CI.",
    "proxy": "Run the sidecar by itself until it is told to stop.",
    "mock": "Look at and change the mock rules of the running sidecar.",
    "tap": "Put the sidecar between an MCP client and its stdio server.",
    "env": "Print the variables that send a client through the running sidecar.",
    "show": "Show a recording: its trace, or its exchanges.",
    "diff": "Compare the behaviour in two recordings.",
    "accept": "Take a new rendering, or a saved run, as the golden trace.",
    "scan": "Look for secrets that are left in recordings.",
    "rebuild": "Decode recordings again, after an update.",
    "export": "Write a recording in another form: har, jsonl, text or otlp.",
    "ls": "List recordings.",
    "import": "Make recordings of other recorders' files.",
    "init": "Prepare a project: .gitattributes, a CI job, a first scenario.",
    "doctor": "Say why a client does not go through the proxy.",
    "version": "Print the version.",
}
"""Verb → what it does in a line; `module_of` names its module, whose function is `run`."""

CHILD_VERBS: dict[str, str | None] = {
    "record": "replay record NAME -- python agent.py",
    "run": "replay run NAME -- python agent.py",
    "learn": "replay learn NAME -- python agent.py",
    "tap": "replay tap --name files -- npx -y @modelcontextprotocol/server-filesystem .",
    "doctor": None,
}
"""Verbs that take a command after `--` → how one that needs it is called; None where it does not."""


def main(argv: Sequence[str] | None = None) -> None:
    """Never returns; docs/commands.md has the exit codes."""
    sys.exit(_run(list(sys.argv[1:] if argv is None else argv)))


def _run(argv: list[str]) -> int:
    own, child = _split(argv)
    verb = next((word for word in own if not word.startswith("-")), None)
    try:
        _check_child(verb, own, child)
        code = _app(verb)(own, prog_name="replay", obj=Output(child=child), standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.exceptions.TyperException as error:
        if isinstance(error, typer.Abort):
            return 130
        say_error(_sentence(error, verb))
        return 2
    except WiretapeError as error:
        say_error(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _silence()  # whoever read our output has seen enough
        return 0
    except OSError as error:
        _silence()
        say_error(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}.")
        return 3
    except Exception as error:  # no traceback reaches a user who did not ask for it
        say_error(
            f"this is a bug of wiretape, please report it ({type(error).__name__}: {' '.join(str(error).split())[:200]})."
        )
        if "-v" in own or "--verbose" in own:
            traceback.print_exc()
        return 3


def _silence() -> None:
    """Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def module_of(verb: str) -> str:
    """A verb that Python keeps for itself has its module under the name with an underscore."""
    return f"wiretape.cli.{verb}_" if iskeyword(verb) else f"wiretape.cli.{verb}"


def _sentence(error: Exception, verb: str | None) -> str:
    """What typer says of a wrong word, with the place to look."""
    said = getattr(error, "format_message", lambda: str(error))() or "expected a command."
    return f"{said} See `replay {f'{verb} ' if verb in VERBS else ''}--help`."


def _split(argv: list[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in argv:
        return argv, None
    at = argv.index("--")
    return argv[:at], argv[at + 1 :]


def _check_child(verb: str | None, own: list[str], child: list[str] | None) -> None:
    if verb is None or "--help" in own:
        return
    if verb not in CHILD_VERBS and child is not None:
        raise UsageError(f"`replay {verb}` runs no command: leave out `--` and what follows it.")
    if (example := CHILD_VERBS.get(verb)) and not child:
        raise UsageError(f"`replay {verb}` needs the command to run after `--`, as in: {example}")


def _app(verb: str | None) -> Any:
    app = typer.Typer(
        name="replay",
        help="The flight recorder for AI agents: record what passes over the wire, replay it offline, judge it in CI.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_global)
    wanted = [verb] if verb in VERBS else list(VERBS)
    for name in wanted:
        module = import_module(module_of(name))
        command = app.command(name, cls=_class_of(name), help=module.run.__doc__ or VERBS[name], short_help=VERBS[name])
        command(module.run)
    return typer.main.get_command(app)


class _WithChild(typer.core.TyperCommand):
    """A verb whose command stands behind `--`."""

    child = "-- CMD…"

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), self.child]


class _WithOptionalChild(_WithChild):
    child = "[-- CMD…]"


def _class_of(verb: str) -> type[typer.core.TyperCommand]:
    if verb not in CHILD_VERBS:
        return typer.core.TyperCommand
    return _WithChild if CHILD_VERBS[verb] else _WithOptionalChild


def _print_version(asked: bool) -> None:
    if asked:
        print(f"wiretape {version('wiretape')}")  # noqa: T201
        raise typer.Exit


def _global(
    context: typer.Context,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Say only what went wrong."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say more about what happens."),
    no_color: bool = typer.Option(False, "--no-color", help="No colour, also on a terminal."),
    _: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    context.obj = context.obj.with_flags(quiet=quiet, verbose=verbose, color=not no_color)
