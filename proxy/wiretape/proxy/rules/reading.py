"""Rule files and single rules → values, or every fault with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML

from wiretape.proxy.rules.model import Answer, Rule, RuleFile
from wiretape.traces.errors import InvalidFile
from wiretape.traces.tree import Tree, gathered, join, parse
from wiretape.traces.written import checked, read_text

__all__ = ["load_rules", "read_rule", "save_rules"]


def load_rules(path: Path) -> RuleFile:
    """YAML or JSON. UsageError where it is not there, InvalidFile with every fault, missing files of answers among them."""
    tree = parse(read_text(path), str(path), "version: 1")
    if isinstance(tree.value, dict) and "version" not in tree.value:
        raise InvalidFile(str(path), "the field is required, but is not there", line=1, field="version")
    rules = checked(RuleFile, tree, str(path), begins="version: 1")
    if faults := list(_missing(rules, tree, path)):
        raise gathered(faults)
    return rules


def read_rule(text: str, name: str) -> Rule:
    """One rule by itself, as the control API takes it; `name` is what sentences call it."""
    return checked(Rule, parse(text, name, "id: NAME"), name, begins="id: NAME")


def save_rules(path: Path, file: RuleFile) -> None:
    """All at once or not at all. Comments that stood in the file are lost."""
    value = {"version": 1, "seed": file.seed, "rules": [rule.as_json() for rule in file.rules]}
    text = StringIO()
    if path.suffix == ".json":
        json.dump(value, text, ensure_ascii=False, indent=2)
    else:
        yaml = YAML(typ="safe", pure=True)
        yaml.default_flow_style = False
        yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # declared as None alone
        yaml.dump(value, text)
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text.getvalue(), encoding="utf-8")
    draft.replace(path)


def _missing(rules: RuleFile, tree: Tree, path: Path) -> Iterator[InvalidFile]:
    for at, rule in enumerate(rules.rules):
        for place, answer in _files(rule):
            if answer.file and not (path.parent / answer.file).is_file():
                where = ("rules", at, *place, "file")
                problem = f"there is no file {path.parent / answer.file}"
                yield InvalidFile(str(path), problem, line=tree.line(where), field=join(where))


def _files(rule: Rule) -> Iterator[tuple[tuple[str | int, ...], Answer]]:
    cases: list[tuple[tuple[str | int, ...], Answer | None]] = [(("answer",), rule.answer)]
    cases += [(("cases", at, "answer"), case.answer) for at, case in enumerate(rule.cases)]
    for place, answer in cases:
        if answer is not None:
            yield place, answer
            yield from (((*place, "sequence", at), each) for at, each in enumerate(answer.sequence or ()))
