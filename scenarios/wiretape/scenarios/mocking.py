"""Mock rules as users have them: those of a running sidecar, which `replay mock` changes, and those of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretape.proxy.mocking import MockSettings
from wiretape.proxy.remote import Remote
from wiretape.proxy.rules.drafting import drafted, drafted_call
from wiretape.proxy.rules.model import Rule, RuleFile
from wiretape.proxy.rules.reading import load_rules
from wiretape.scenarios.config import Config
from wiretape.scenarios.evidence import Evidence, load
from wiretape.scenarios.model import Scenario
from wiretape.traces.errors import UsageError
from wiretape.traces.types import ToolCall, ToolResult

__all__ = ["ACTIONS", "Action", "act", "mock_settings"]

type Rules = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Action:
    arguments: tuple[str, ...]
    """What stands after it, for the sentence where something else does."""
    run: Callable[..., Rules]
    """(remote, tool, *arguments) → the rules that it is about, as they are now."""


def _list(remote: Remote, _: str) -> Rules:
    told = remote.ask("GET", "/v1/rules")
    return [{**rule, "answered": told["answered"][rule["id"]]} for rule in told["rules"]]


def _show(remote: Remote, _: str, id: str) -> Rules:
    return [remote.ask("GET", f"/v1/rules/{id}")]


def _add(remote: Remote, _: str, file: str) -> Rules:
    return [remote.ask("POST", "/v1/rules", rule.as_json()) for rule in load_rules(Path(file)).rules]


def _on(remote: Remote, _: str, id: str) -> Rules:
    return [remote.ask("PATCH", f"/v1/rules/{id}", {"enabled": True})]


def _off(remote: Remote, _: str, id: str) -> Rules:
    return [remote.ask("PATCH", f"/v1/rules/{id}", {"enabled": False})]


def _remove(remote: Remote, _: str, id: str) -> Rules:
    gone = _show(remote, "", id)
    remote.ask("DELETE", f"/v1/rules/{id}")
    return gone


def _move(remote: Remote, _: str, id: str, place: str) -> Rules:
    """`place` counts from 1."""
    ids = [rule["id"] for rule in _list(remote, "")]
    if not (place.isdecimal() and 1 <= int(place) <= len(ids)):
        raise UsageError(f"expected a place from 1 to {len(ids)}, got {place}.")
    others = [each for each in ids if each != _show(remote, "", id)[0]["id"]]
    remote.ask("PUT", "/v1/rules/order", [*others[: int(place) - 1], id, *others[int(place) - 1 :]])
    return _list(remote, "")


def _from_recording(remote: Remote, tool: str, recording: str) -> Rules:
    if not tool:
        raise UsageError("from-recording needs the tool whose results become rules: name it with --tool T.")
    with load(recording) as evidence:
        rules = _drafts(evidence, tool)
    if not rules:
        raise UsageError(f"{recording}: no result of a tool {tool} was recorded.")
    return [remote.ask("POST", "/v1/rules", rule) for rule in rules]


def _drafts(evidence: Evidence, tool: str) -> Rules:
    """A rule for each result: of the exchange that executed the tool where there is one, else of what the model was told."""
    steps = evidence.trace().steps
    calls = {step.call_id: step for step in steps if isinstance(step, ToolCall)}
    made = []
    for step in steps:
        if not isinstance(step, ToolResult) or step.tool != tool or step.exchange is None:
            continue
        call = calls.get(step.call_id)
        if step.seen == "wire":
            made.append(drafted(evidence.exchange(step.exchange)))
        elif not (call and call.executed_in):
            draft = drafted_call(tool, call.arguments if call else None, step.content, step.seq)
            made.append({**draft, "where": "prompt", "allow_write": True})
    return made


def mock_settings(scenario: Scenario | None, path: Path, config: Config) -> MockSettings:
    """The rules of a scenario, whose file is at `path`. UsageError where its environment refuses mocks."""
    if scenario is None or not scenario.mocks:
        return MockSettings()
    config.environment_of(scenario)
    rules = tuple(Rule(**{name: getattr(mock, name) for name in mock.model_fields_set}) for mock in scenario.mocks)
    return MockSettings(RuleFile(rules=rules), path, scenario=scenario.id)


ACTIONS: Mapping[str, Action] = {
    "list": Action((), _list),
    "show": Action(("ID",), _show),
    "add": Action(("FILE",), _add),
    "on": Action(("ID",), _on),
    "off": Action(("ID",), _off),
    "rm": Action(("ID",), _remove),
    "move": Action(("ID", "PLACE"), _move),
    "from-recording": Action(("NAME",), _from_recording),
}


def act(remote: Remote, name: str, arguments: list[str], tool: str) -> Rules:
    action = ACTIONS[name]
    if len(arguments) != len(action.arguments):
        expected = " ".join(("replay mock", name, *action.arguments))
        raise UsageError(f"expected `{expected}`, got {' '.join(arguments) or 'nothing'} after {name}.")
    return action.run(remote, tool, *arguments)
