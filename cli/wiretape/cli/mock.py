"""`replay mock`."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

import typer

from wiretape.cli.console import Output, printable
from wiretape.proxy.remote import find
from wiretape.scenarios.mocking import ACTIONS, act
from wiretape.traces.errors import UsageError

__all__ = ["run"]


def run(
    context: typer.Context,
    action: Annotated[str, typer.Argument(metavar="|".join(ACTIONS))],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ID|FILE|NAME] [PLACE]")] = None,
    tool: Annotated[str, typer.Option("--tool", metavar="T", help="With from-recording: whose results become rules.")] = "",
    control: Annotated[str | None, typer.Option("--control", metavar="URL", help="The control API's address.")] = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="Which sidecar, where several run.")] = None,
    format: Annotated[str, typer.Option("--format", metavar="text|json")] = "text",
) -> None:
    """Look at and change the mock rules of the running sidecar; a change holds for the very next request.

    replay mock on refunds-down
    """
    if action not in ACTIONS:
        raise UsageError(f"expected one of {', '.join(ACTIONS)}, got {action}.")
    if format not in ("text", "json"):
        raise UsageError(f"--format: expected text or json, got {format!r}.")
    rules = act(find(control, run_id, os.environ), action, arguments or [], tool)
    if format == "json":
        context.obj.json(rules)
    else:
        _print(context.obj, action, rules)


def _print(output: Output, action: str, rules: list[dict[str, Any]]) -> None:
    if not rules:
        output.say("replay: there are no rules. Add some with `replay mock add FILE`.")
    for rule in rules:
        if action == "show":
            output.result(printable(json.dumps(rule, ensure_ascii=False, indent=2)))
        else:
            output.result(printable(_line(action, rule)))


def _line(action: str, rule: dict[str, Any]) -> str:
    state = "removed" if action == "rm" else "on " if rule["enabled"] else "off"
    about = " ".join(f"{key}={value}" for key, value in rule.get("match", {}).items()) or "everything"
    times = f", met {rule['answered']} times" if "answered" in rule else ""
    return f"{state} {rule['id']}: {rule['where']} {about}{times}"
