"""The documentation names everything that is there, and nothing that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from wiretape.cli.main import VERBS
from wiretape.proxy.control import ROUTES
from wiretape.proxy.events import EVENT_FIELDS
from wiretape.proxy.gateway import BUILT_IN
from wiretape.traces.decoders import DECODERS
from wiretape.traces.decoders.sockets import SOCKETS
from wiretape.traces.types import End

DOCS = Path(__file__).parent.parent / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_verb_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^## (\S+)$", text("commands.md"), re.MULTILINE)) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_that_the_documentation_names_exists(verb: str) -> None:
    import importlib  # noqa: PLC0415

    app = typer.Typer()
    app.command(verb)(importlib.import_module(f"wiretape.cli.{verb}").run)
    known = {name for parameter in typer.main.get_command(app).params for name in parameter.opts}
    section = text("commands.md").split(f"## {verb}\n", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section.replace("run --save", "").replace("`--` is", "")))
    assert named - known - {"--"} == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_documented(verb: str) -> None:
    import importlib  # noqa: PLC0415

    app = typer.Typer(add_completion=False)
    app.command(verb)(importlib.import_module(f"wiretape.cli.{verb}").run)
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


def test_every_end_has_its_line_in_the_table_of_fidelity() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", text("fidelity.md"), re.MULTILINE) == [end.value for end in End]
