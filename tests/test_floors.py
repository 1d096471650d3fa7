"""Imports run downhill only, and the tree has its shape: read from the source, nothing is imported.

    4 cli   3 scenarios   2 proxy   1 replay, oracles   0 traces

A module imports from its own floor or a lower one. `replay` and `oracles` never meet below `scenarios`; `proxy` never imports
`oracles`; the decoders import nothing of ours but the values and one another; mitmproxy stays where it is wrapped. An import
inside a function counts as any other, and may not cross a floor at all: it would hide what a module needs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = {"traces": 0, "replay": 1, "oracles": 1, "proxy": 2, "scenarios": 3, "cli": 4}
NEVER = {("replay", "oracles"), ("oracles", "replay"), ("proxy", "oracles")}
WRAP_MITMPROXY = {
    "wiretape.proxy.addon",
    "wiretape.proxy.certs",
    "wiretape.proxy.mended",
    "wiretape.proxy.relay",
    "wiretape.proxy.touched",
    "wiretape.traces.imports.mitmproxy",
}
DECODERS = "wiretape.traces.decoders"
DECODERS_MAY = {"wiretape.traces.types", "wiretape.traces.errors"}
LONGEST_MODULE, LONGEST_FUNCTION = 400, 40
DEFENDED = {"wiretape.traces.types": "the values that all floors speak about are one vocabulary, and hold no logic"}
"""Modules that are longer, and why."""


class Import(NamedTuple):
    line: int
    target: str
    """The module; of `from a import b`, `a.b` where that is a module of ours, else `a`."""
    in_function: bool = False


class Module(NamedTuple):
    name: str
    text: str
    is_package: bool = False

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        return self.name.split(".")[1]


def module_of(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    package = parts[-1] == "__init__"
    return Module(".".join(parts[:-1] if package else parts), path.read_text(encoding="utf-8"), package)


FILES = [path for room in FLOORS for path in sorted((ROOT / room / "wiretape").rglob("*.py"))]
PRELOADED = [path for path in FILES if path.parent.name == "preload"]
"""No modules of ours: they are put before a child's own, into whatever Python it has."""
MODULES = [module_of(path) for path in FILES if path not in PRELOADED]
NAMES = {module.name for module in MODULES}
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


# ---------------------------------------------------------------- reading the source


def imports(module: Module) -> Iterator[Import]:
    tree = module.tree
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        for target in targets(node, module):
            yield Import(getattr(node, "lineno", 0), target, id(node) in inside)


def targets(node: ast.AST, module: Module) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = absolute(node, module)
        return [full if (full := f"{base}.{alias.name}") in NAMES else base for alias in node.names]
    if isinstance(node, ast.Call) and called(node) in ("import_module", "__import__") and node.args:
        first = node.args[0]
        return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def absolute(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    above = package[: len(package) - (node.level - 1)]
    return ".".join([*above, node.module] if node.module else above)


def called(node: ast.Call) -> str:
    function = node.func
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def complaints(module: Module) -> list[str]:
    found = []
    for each in imports(module):
        if problem := uphill(module, each) or misplaced(module, each):
            found.append(f"line {each.line}: {each.target}: {problem}")
    return found


def uphill(module: Module, found: Import) -> str | None:
    parts = found.target.split(".")
    if parts[0] != "wiretape" or len(parts) < 2 or parts[1] not in FLOORS:
        return None
    here, there = FLOORS[module.room], FLOORS[parts[1]]
    if there > here:
        return f"{module.room} is below {parts[1]}"
    if (module.room, parts[1]) in NEVER:
        return f"{module.room} never imports {parts[1]}"
    if found.in_function and there != here:
        return "an import inside a function crosses a floor"
    return None


def misplaced(module: Module, found: Import) -> str | None:
    if found.target.split(".")[0] == "mitmproxy" and module.name not in WRAP_MITMPROXY:
        return f"mitmproxy is imported in {', '.join(sorted(WRAP_MITMPROXY))} alone"
    of_ours = found.target.startswith("wiretape.")
    if (
        module.name.startswith(DECODERS)
        and of_ours
        and not found.target.startswith(DECODERS)
        and found.target not in DECODERS_MAY
    ):
        return "decoders import nothing of ours but types, errors and one another"
    return None


def exported(module: Module) -> list[str] | None:
    for node in module.tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        names = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if value is not None and any(isinstance(name, ast.Name) and name.id == "__all__" for name in names):
            return list(ast.literal_eval(value))
    return None


def sorted_as_ruff_does(names: list[str]) -> list[str]:
    """CONSTANTS, then Classes, then functions; numbers by their value (ruff's RUF022)."""

    def key(name: str) -> tuple[int, list[tuple[int, int | str]]]:
        rank = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
        return rank, [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name)]

    return sorted(names, key=key)


def binds_names(module: Module) -> bool:
    return any(not isinstance(node, ast.Expr) and not _is_future(node) for node in module.tree.body)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def bound(module: Module) -> set[str]:
    """Names at the top of a module, those under `if` and `try` too."""
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return found


def lengths(module: Module) -> Iterator[tuple[str, int]]:
    """(function, lines of its body without the docstring); a verb's parameters are its options, however many."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


# ---------------------------------------------------------------- the tree


@every_module
def test_it_imports_downhill_only(module):
    assert complaints(module) == []


@pytest.mark.parametrize("path", PRELOADED, ids=lambda path: path.name)
def test_it_preloads_nothing_that_needs_ours(path):
    assert [each.target for each in imports(module_of(path)) if each.target.split(".")[0] in ("wiretape", "mitmproxy")] == []


@every_module
def test_it_says_what_it_exports_in_order(module):
    names = exported(module)
    if names is None:
        assert module.is_package or module.name.split(".")[-1].startswith("_"), "a public module has an __all__"
        assert not module.is_package or not binds_names(module), "a package that binds names has an __all__"
    else:
        assert names == sorted_as_ruff_does(names)
        assert len(set(names)) == len(names)
        assert set(names) <= bound(module)


@every_module
def test_it_stays_small(module):
    assert len(module.text.splitlines()) <= LONGEST_MODULE or module.name in DEFENDED
    assert {name: lines for name, lines in lengths(module) if lines > LONGEST_FUNCTION} == {}


def test_it_defends_no_module_that_needs_no_defence():
    longer = {module.name for module in MODULES if len(module.text.splitlines()) > LONGEST_MODULE}
    assert set(DEFENDED) <= longer


def test_it_has_all_rooms_and_their_types():
    assert {module.room for module in MODULES} == set(FLOORS)
    assert [room for room in FLOORS if not (ROOT / room / "wiretape" / room / "py.typed").is_file()] == []


def test_it_has_one_namespace_without_an_init_of_its_own():
    assert [path for room in FLOORS for path in [ROOT / room / "wiretape" / "__init__.py"] if path.exists()] == []
    beside = {path.name for room in FLOORS for path in (ROOT / room / "wiretape").iterdir() if path.name != "__pycache__"}
    assert beside == set(FLOORS)


def test_it_has_an_init_in_each_folder_of_modules():
    folders = {path.parent for path in FILES if path not in PRELOADED}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


# ---------------------------------------------------------------- the checks themselves


@pytest.mark.parametrize(
    ("name", "source", "problem"),
    [
        ("traces.diff", "import wiretape.oracles", "traces is below oracles"),
        ("traces.diff", "from wiretape import cli", "traces is below cli"),
        ("replay.miss", "from wiretape.oracles.base import judge", "replay never imports oracles"),
        ("oracles.gate", "from wiretape.replay import matcher", "oracles never imports replay"),
        ("proxy.app", "from wiretape.oracles import judge", "proxy never imports oracles"),
        ("proxy.app", "from wiretape.scenarios.model import Scenario", "proxy is below scenarios"),
        ("proxy.app", "if TYPE_CHECKING:\n    from wiretape.cli import main", "proxy is below cli"),
        ("proxy.app", "def f():\n    import wiretape.traces.types", "an import inside a function crosses a floor"),
        ("proxy.app", "f = lambda: __import__('wiretape.traces')", "an import inside a function crosses a floor"),
        ("proxy.app", "import_module('wiretape.cli')", "proxy is below cli"),
        ("proxy.app", "from .. import scenarios", "proxy is below scenarios"),
        ("proxy.app", "from mitmproxy import http", "mitmproxy is imported in"),
        ("cli.main", "def f():\n    import mitmproxy.master", "mitmproxy is imported in"),
        ("traces.decoders.mcp", "from wiretape.traces.redact import Redactor", "decoders import nothing of ours but"),
        ("traces.decoders.mcp", "from ..redact import Redactor", "decoders import nothing of ours but"),
    ],
)
def test_it_sees_an_import_that_runs_uphill(name, source, problem, monkeypatch):
    monkeypatch.setattr(f"{__name__}.NAMES", NAMES | {"wiretape.cli", "wiretape.scenarios", "wiretape.replay.matcher"})
    (found,) = complaints(Module(f"wiretape.{name}", source))
    assert problem in found


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("proxy.app", "from wiretape.traces.types import Exchange\nfrom wiretape.replay import matcher\nfrom . import front"),
        ("scenarios.run", "import wiretape.oracles, wiretape.replay, wiretape.proxy.sidecar"),
        ("cli.main", "def f():\n    from wiretape.cli import check"),
        ("proxy.addon", "from mitmproxy import http"),
        ("traces.imports.mitmproxy", "from mitmproxy.io import FlowReader"),
        (
            "traces.decoders.mcp",
            "from wiretape.traces.types import McpView\nfrom wiretape.traces.decoders.sse import Lines\nimport json",
        ),
    ],
)
def test_it_lets_other_imports_be(name, source):
    assert complaints(Module(f"wiretape.{name}", source)) == []


def test_it_sorts_names_as_ruff_does():
    names = ["DECODERS", "X9", "X10", "Decoder", "Z", "a9", "a10", "detect"]
    assert sorted_as_ruff_does(list(reversed(names))) == names
