"""YAML and JSON text → plain values, each with the line that it stands on.

ruamel.yaml reads the grammar (YAML 1.2, pure Python, so that every node has its mark) and nothing is constructed by tag:
scalars become what the core schema says (traces/scalars.py), a key is always text. JSON is read as the YAML that it is, with
its surrogate pairs joined. Files come from strangers: size, depth and the values that aliases multiply are bounded, and each
fault is one sentence with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import ComposerError, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from wiretape.traces.errors import InvalidFile
from wiretape.traces.scalars import joined, plain
from wiretape.traces.types import Json

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "Place", "Tree", "gathered", "join", "parse"]

type Place = tuple[str | int, ...]
"""Where a value stands: keys and list positions from the top; () is the whole file."""

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_VALUES = 50_000
"""After aliases are followed: an anchor bomb of ten lines otherwise becomes gigabytes."""

_STANDARD = "tag:yaml.org,2002:"
_PLAIN = frozenset(_STANDARD + name for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "map", "seq"))
_BREAKS = re.compile("[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Tree:
    """What stands in a file."""

    value: Json
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int | None:
        """Of the value, or of the nearest one around it."""
        return next((self.lines[place[:end]] for end in range(len(place), -1, -1) if place[:end] in self.lines), None)


def join(place: Place) -> str:
    """`oracles[2].tool`: how people write a place."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place]
    return "".join(parts).removeprefix(".")


def gathered(faults: Iterable[InvalidFile]) -> InvalidFile:
    """One exception that tells all of these (and what each of them carries), by file and line, none twice."""
    single = {(each.path, each.line or 0, each.field, each.problem) for fault in faults for each in (fault, *fault.also)}
    made = [InvalidFile(path, problem, line=line or None, field=place) for path, line, place, problem in sorted(single)]
    return InvalidFile(made[0].path, made[0].problem, line=made[0].line, field=made[0].field, also=tuple(made[1:]))


def parse(text: str, path: str, begins: str) -> Tree:
    """Raises InvalidFile with every fault; `path` is what the sentences call the file, `begins` how such a file begins."""
    if len(text) > MAX_BYTES:
        raise InvalidFile(path, f"the file is larger than {MAX_BYTES:,} bytes; nobody writes that much")
    root = _compose(_unbroken(text, path), path)
    if root is None:
        raise InvalidFile(path, f"the file is empty; expected a mapping that begins with `{begins}`", line=1)
    reading = _Reading(path)
    value = reading.read(root, (), None)
    if reading.faults:
        raise gathered(reading.faults)
    return Tree(value, reading.lines)


def _unbroken(text: str, path: str) -> str:
    """Without U+0085, U+2028 and U+2029 as themselves: YAML 1.2 and JSON have them as text, ruamel.yaml as line ends."""
    found = _BREAKS.search(text)
    if found is None:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        line = text.count("\n", 0, found.start()) + 1
        code = f"{ord(found[0]):04X}"
        problem = f'the invisible character U+{code}; take it out, or write "\\u{code}" in double quotes'
        raise InvalidFile(path, problem, line=line) from None
    return _BREAKS.sub(lambda each: f"\\u{ord(each[0]):04x}", text)


def _compose(text: str, path: str) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = MAX_DEPTH
    yaml.composer.warn_double_anchors = False
    try:
        root: Node | None = yaml.compose(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidFile(path, "a control character; expected text", line=line) from None
    except MarkedYAMLError as error:
        raise InvalidFile(path, _grammar(error), line=_line(error.problem_mark)) from None
    except (YAMLError, ValueError, OverflowError, RecursionError) as error:
        # ruamel lets a few of Python's own through, as for the escape "\U99999999"
        raise InvalidFile(path, f"this is not YAML ({' '.join(str(error).split())[:120]})") from None
    return root


def _line(mark: Any) -> int | None:
    return None if mark is None else mark.line + 1


def _grammar(error: MarkedYAMLError) -> str:
    problem = error.problem or ""
    if isinstance(error, MaxDepthExceededError):
        return f"nested more than {MAX_DEPTH} levels deep"
    if isinstance(error, ComposerError) and "another document" in problem:
        return "a second document begins here (`---`); expected one a file"
    if r"'\t'" in problem:
        return "a tab stands where YAML wants spaces; indent with spaces"
    if "cannot start any token" in problem:
        return f"this is not YAML: {problem}; put the text in quotes"
    if "mapping values are not allowed here" in problem:
        return "this is not YAML: a second `key:` in one value, or a wrong indent; put text with a colon in quotes"
    return f"this is not YAML: {problem}"


@dataclass(slots=True)
class _Reading:
    """Nodes → values, collecting lines and faults as it goes."""

    path: str
    lines: dict[Place, int] = field(default_factory=dict)
    faults: list[InvalidFile] = field(default_factory=list)
    count: int = 0
    inside: set[int] = field(default_factory=set)
    """The nodes that are being read: one that is met again inside itself never ends."""

    def fault(self, node: Node, place: Place, problem: str) -> None:
        self.faults.append(InvalidFile(self.path, problem, line=_line(node.start_mark), field=join(place)))

    def read(self, node: Node, place: Place, line: int | None) -> Json:
        """`line` is the key's, for a value: people look for `key:`."""
        self.count += 1
        if self.count > MAX_VALUES:
            raise InvalidFile(
                self.path, f"more than {MAX_VALUES:,} values, aliases (`*name`) followed", line=_line(node.start_mark)
            )
        if id(node) in self.inside:
            self.fault(node, place, "an alias (`*name`) repeats what it stands in, without end")
            return None
        if len(place) > MAX_DEPTH:
            raise InvalidFile(self.path, f"nested more than {MAX_DEPTH} levels deep", line=_line(node.start_mark))
        self.lines[place] = line or _line(node.start_mark) or 1
        if node.tag not in _PLAIN:
            self.fault(
                node, place, f"the tag {str(node.tag).removeprefix(_STANDARD)} is not read; expected plain YAML without tags"
            )
            return None
        self.inside.add(id(node))
        try:
            return self._value(node, place)
        finally:
            self.inside.discard(id(node))

    def _value(self, node: Node, place: Place) -> Json:
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            return [self.read(item, (*place, index), None) for index, item in enumerate(node.value)]
        return self._scalar(node, place) if isinstance(node, ScalarNode) else None

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Json]:
        made: dict[str, Json] = {}
        merged: list[Node] = []
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self.fault(key, place, "a key is a list or a mapping; expected text")
            elif key.tag == _STANDARD + "merge":
                merged.append(value)
            else:
                self._entry(key, value, place, made)
        for source in merged:
            self._merge(source, place, made)
        return made

    def _entry(self, key: ScalarNode, value: Node, place: Place, made: dict[str, Json]) -> None:
        name = self._text(key, place)
        within = (*place, name)
        if name in made:
            self.fault(key, within, f"the key is here twice, first on line {self.lines[within]}")
        else:
            made[name] = self.read(value, within, _line(key.start_mark))

    def _merge(self, source: Node, place: Place, made: dict[str, Json]) -> None:
        """`<<: *defaults`: what the mapping itself says wins (https://yaml.org/type/merge.html)."""
        parts = source.value if isinstance(source, SequenceNode) else [source]
        for part in parts:
            if not isinstance(part, MappingNode):
                self.fault(part, (*place, "<<"), "expected a mapping to merge")
                continue
            for key, value in part.value:
                if isinstance(key, ScalarNode) and key.value not in made:
                    self._entry(key, value, place, made)

    def _scalar(self, node: ScalarNode, place: Place) -> Json:
        if node.tag == _STANDARD + "str":
            return self._text(node, place)
        try:
            return plain(node.value)
        except ValueError as error:
            self.fault(node, place, str(error))
            return None

    def _text(self, node: ScalarNode, place: Place) -> str:
        try:
            return joined(node.value)
        except UnicodeDecodeError:
            self.fault(node, place, "half a surrogate pair; expected text")
            return ""
