"""The documentation names everything that is there, and nothing that is not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest
import typer

from wiretape.cli.main import VERBS, module_of
from wiretape.proxy.control import ROUTES
from wiretape.proxy.events import EVENT_FIELDS
from wiretape.proxy.faults import FAULTS
from wiretape.proxy.gateway import BUILT_IN
from wiretape.proxy.rules.conditions import CONDITIONS
from wiretape.proxy.rules.model import Answer, Match, Rule
from wiretape.proxy.rules.placeholders import PLACEHOLDERS
from wiretape.scenarios.mocking import ACTIONS
from wiretape.traces.decoders import DECODERS
from wiretape.traces.decoders.sockets import SOCKETS
from wiretape.traces.exports import EXPORTS
from wiretape.traces.exports.exchanges import as_json
from wiretape.traces.types import End, Exchange, Request

DOCS = Path(__file__).parent.parent / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_verb_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^## (\S+)$", text("commands.md"), re.MULTILINE)) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_that_the_documentation_names_exists(verb: str) -> None:
    import importlib  # noqa: PLC0415

    app = typer.Typer()
    app.command(verb)(importlib.import_module(module_of(verb)).run)
    known = {name for parameter in typer.main.get_command(app).params for name in parameter.opts}
    section = text("commands.md").split(f"## {verb}\n", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section.replace("run --save", "").replace("`--` is", "")))
    assert named - known - {"--"} == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_documented(verb: str) -> None:
    import importlib  # noqa: PLC0415

    app = typer.Typer(add_completion=False)
    app.command(verb)(importlib.import_module(module_of(verb)).run)
    options = {name for parameter in typer.main.get_command(app).params for name in parameter.opts if name.startswith("--")}
    section = text("commands.md").split(f"## {verb}\n", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section))
    assert options - named - {"--help"} == set()


def test_every_name_of_the_gateway_is_documented_with_its_address() -> None:
    assert dict(re.findall(r"^\| `(\w+)` \| `(\S+)` \|", text("gateway.md"), re.MULTILINE)) == dict(BUILT_IN)


def test_every_route_is_documented_and_no_other() -> None:
    named = set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/\S+)`", text("control.md")))
    assert named == set(ROUTES)


def test_every_event_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^\| `([a-z_]+)` \|", text("control.md"), re.MULTILINE)) == set(EVENT_FIELDS)


def test_every_decoder_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", text("providers.md"), re.MULTILINE)) == {*DECODERS, *SOCKETS}


@pytest.mark.parametrize(("section", "names"), [("Faults", FAULTS), ("Conditions", CONDITIONS)])
def test_every_fault_and_condition_is_documented_and_no_other(section: str, names: Iterable[str]) -> None:
    told = text("rules.md").split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", told, re.MULTILINE) == list(names)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_setting_of_a_fault_is_documented_with_its_words(fault: str) -> None:
    row = next(line for line in text("rules.md").splitlines() if line.startswith(f"| `{fault}` |"))
    words = {word for field in FAULTS[fault].model_fields.values() for word in get_args(field.annotation)}
    named = {*FAULTS[fault].model_fields, *(word for word in words if isinstance(word, str))}
    assert {name for name in named if f"`{name}`" not in row} == set()


def test_every_word_of_a_rule_is_documented() -> None:
    page = text("rules.md")
    named = {*Rule.model_fields, *Match.model_fields, *(name.replace("json_value", "json") for name in Answer.model_fields)}
    assert {name for name in named if not re.search(rf"\b{name}\b", page)} == set()
    assert {name for name in PLACEHOLDERS if not re.search(rf"{{{{{name}(\.x)?}}}}", page)} == set()


def test_every_action_of_mock_is_documented_and_no_other() -> None:
    section = text("commands.md").split("## mock\n", 1)[1].split("\n## ", 1)[0]
    assert set(re.findall(r"`mock ([a-z-]+)", section)) == set(ACTIONS)


def test_every_end_has_its_line_in_the_tables_of_fidelity() -> None:
    requests, sockets = text("fidelity.md").split("\n## Sockets\n")
    assert re.findall(r"^\| `([a-z_]+)` \|", requests, re.MULTILINE) == [end.value for end in End]
    named = re.findall(r"^\| `([a-z_]+)`", sockets, re.MULTILINE)
    assert list(dict.fromkeys(named)) == [end.value for end in End if end is not End.TIMEOUT]  # sockets have no time limit


def test_every_export_is_documented_and_no_other() -> None:
    assert re.findall(r"^## (\S+)$", text("exports.md"), re.MULTILINE) == sorted(EXPORTS)


def test_every_field_of_an_exchange_is_documented_and_no_other() -> None:
    table = text("exports.md").split("| field of an exchange |")[1].split("\n\n")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(as_json(Exchange(1, Request("GET", "http://a/"))))
