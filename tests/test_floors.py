"""Imports run downhill only, read from the source itself: nothing is imported to find out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"traces": 0, "replay": 1, "oracles": 1, "proxy": 2, "scenarios": 3, "cli": 4}
NEVER = {("replay", "oracles"), ("oracles", "replay"), ("proxy", "oracles")}
MITMPROXY = {"proxy/wiretape/proxy/addon.py", "proxy/wiretape/proxy/certs.py", "traces/wiretape/traces/imports/mitmproxy.py"}
DECODERS_MAY = ("wiretape.traces.types", "wiretape.traces.errors", "wiretape.traces.decoders")
VALUES = ROOT / "traces/wiretape/traces/types.py"
"""A list of values without logic: it is longer than a module should be, and still one idea."""
MODULES = sorted(
    path for floor in FLOORS for path in (ROOT / floor / "wiretape" / floor).rglob("*.py") if "preload" not in path.parts
)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Every module that is imported, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}: relative import"
            yield node.module or ""


def floor_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "wiretape" and len(parts) > 1 else None


def test_it_finds_the_modules_of_every_floor() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(FLOORS)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_imports_from_its_own_floor_or_lower(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    for module in imports(path):
        floor = floor_of(module)
        if floor is None:
            continue
        assert FLOORS[floor] <= FLOORS[own], f"{name(path)} imports {module} from above"
        assert (own, floor) not in NEVER, f"{name(path)} imports {module}: these two never meet here"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_only_three_modules_import_mitmproxy(path: Path) -> None:
    if name(path) not in MITMPROXY:
        assert not [module for module in imports(path) if module.split(".")[0] == "mitmproxy"]


@pytest.mark.parametrize("path", [path for path in MODULES if "decoders" in path.parts], ids=name)
def test_a_decoder_imports_nothing_of_ours_but_values_and_other_decoders(path: Path) -> None:
    ours = [module for module in imports(path) if floor_of(module)]
    assert [module for module in ours if not module.startswith(DECODERS_MAY)] == []


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_keeps_to_its_size_and_names_what_is_public(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= (500 if path == VALUES else 400)
    named = [
        ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]
    if path.name != "__init__.py" and not path.name.startswith("_"):
        assert named, "no __all__"
    for names in named:
        # as ruff sorts them: constants, then classes, then the rest
        assert names == sorted(names, key=lambda each: (not each.isupper(), not each[:1].isupper(), each))


def test_the_namespace_has_no_package_of_its_own() -> None:
    assert not list(ROOT.glob("*/wiretape/__init__.py"))
    assert all((ROOT / floor / "wiretape" / floor / "py.typed").exists() for floor in FLOORS)
