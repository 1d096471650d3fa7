"""JSON and YAML of strangers → plain values; of tags, `!!binary` alone is obeyed, and nothing is ever constructed.

YAML is read from ruamel.yaml's parse events, so that a file which is too large, too deep or multiplied by aliases is refused
while it is read. A file that ends in its middle is damaged (StoreError); one that is something else does not fit (InvalidFile).
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from wiretape.traces.errors import InvalidFile, StoreError
from wiretape.traces.scalars import joined, plain
from wiretape.traces.types import Json

__all__ = ["MAX_DEPTH", "MAX_VALUES", "YAML_BYTES", "from_base64", "read_json", "read_yaml"]

YAML_BYTES = 32 << 20
"""Pure Python reads some MB a second."""

MAX_VALUES = 500_000
"""After aliases are followed: an anchor bomb of ten lines otherwise becomes gigabytes."""

MAX_DEPTH = 100

_STANDARD = "tag:yaml.org,2002:"
_BINARY = (f"{_STANDARD}binary", "!binary")
_TEXT = (f"{_STANDARD}str", f"{_STANDARD}timestamp", "!")
_PLAIN = tuple(f"{_STANDARD}{name}" for name in ("int", "float", "bool", "null"))
_GROUPS = (None, "!", f"{_STANDARD}map", f"{_STANDARD}seq")


def read_json(data: bytes, path: str) -> Json:
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        raise InvalidFile(path, "expected JSON, got bytes that are no text") from None
    except json.JSONDecodeError as error:
        if _ends_early(error):
            raise _cut(path) from None
        raise InvalidFile(path, f"this is not JSON: {error.msg}", line=error.lineno) from None
    except (RecursionError, ValueError) as error:
        problem = "nested too deep" if isinstance(error, RecursionError) else "a number with too many digits"
        raise InvalidFile(path, problem) from None


def _ends_early(error: json.JSONDecodeError) -> bool:
    text = error.doc.strip()
    closing = {"{": "}", "[": "]"}.get(text[:1])
    if closing is None or error.msg.startswith("Extra data"):
        return False
    return text[-1] != closing or error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")


def _cut(path: str) -> StoreError:
    return StoreError(f"{path}: this file ends in its middle: it was cut off while it was written or copied. Make it anew.")


def from_base64(text: str) -> bytes | None:
    """None where it is no base64; line ends and spaces in it do not count."""
    try:
        return binascii.a2b_base64("".join(text.split()), strict_mode=True)
    except (binascii.Error, ValueError):
        return None


def read_yaml(data: bytes, path: str) -> Json:
    """JSON is read too, as what it is. `!!binary` becomes bytes; a date stays text; a key is always text."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return read_json(data, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidFile(path, "expected YAML in UTF-8, got other bytes") from None
    building = _Building(path)
    try:
        building.read(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        problem, mark = error.problem or "", error.problem_mark
        if "end of stream" in problem or "<stream end>" in problem:
            raise _cut(path) from None
        raise InvalidFile(path, f"this is not YAML: {problem}", line=mark.line + 1 if mark else None) from None
    except (YAMLError, ValueError, OverflowError, RecursionError) as error:  # ruamel lets some of Python's own through
        raise InvalidFile(path, f"this is not YAML: {' '.join(str(error).split())[:100]}") from None
    return building.root


@dataclass(slots=True)
class _Group:
    """A list or mapping that is not closed yet."""

    value: Any
    anchor: str | None
    before: int
    """How many values there were when it was opened."""
    key: str | None = None


@dataclass(slots=True)
class _Building:
    path: str
    root: Json = None
    count: int = 0
    documents: int = 0
    stack: list[_Group] = field(default_factory=list)
    anchors: dict[str, tuple[Json, int]] = field(default_factory=dict)
    """Name → (value, how many values it holds)."""

    def read(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    raise self._fault(event, "a second document begins here (`---`); expected one a file")
            elif isinstance(event, NodeEvent):
                self._node(event)
            elif isinstance(event, CollectionEndEvent):
                group = self.stack.pop()
                self._put(event, group.value)
                self._name(group.anchor, group.value, self.count - group.before)

    def _node(self, event: NodeEvent) -> None:
        if isinstance(event, AliasEvent):
            value, weight = self._alias(event)
            self._counted(event, weight)
            self._put(event, value)
        elif isinstance(event, ScalarEvent):
            self._counted(event, 1)
            value = self._scalar(event)
            self._put(event, value, str(event.value))
            self._name(event.anchor, value, 1)
        elif isinstance(event, CollectionStartEvent):
            self._open(event)

    def _open(self, event: CollectionStartEvent) -> None:
        tag = event.tag
        if tag not in _GROUPS:
            raise self._constructs(event, tag)
        if len(self.stack) >= MAX_DEPTH:
            raise self._fault(event, f"nested more than {MAX_DEPTH} levels deep")
        before = self.count
        self._counted(event, 1)
        self.stack.append(_Group({} if isinstance(event, MappingStartEvent) else [], event.anchor, before))

    def _put(self, event: Event, value: Json, written: str | None = None) -> None:
        """Where it belongs; `written` is what a scalar says as a key."""
        if not self.stack:
            self.root = value
            return
        group = self.stack[-1]
        if isinstance(group.value, list):
            group.value.append(value)
        elif group.key is not None:
            group.value[group.key], group.key = value, None
        elif written is None:
            raise self._fault(event, "a key is a list, a mapping or an alias; expected text")
        elif written in group.value:
            raise self._fault(event, "this key is here twice")
        else:
            group.key = written

    def _scalar(self, event: ScalarEvent) -> Json:
        tag, text = event.tag, str(event.value)
        try:
            if tag in _BINARY:
                return self._binary(event, text)
            if tag in _PLAIN or (tag is None and event.implicit[0]):
                return plain(text)
            if tag is None or tag in _TEXT:
                return joined(text)
        except UnicodeDecodeError:
            raise self._fault(event, "half a surrogate pair; expected text") from None
        except ValueError as error:
            raise self._fault(event, str(error)) from None
        raise self._constructs(event, tag)

    def _binary(self, event: ScalarEvent, text: str) -> bytes:
        found = from_base64(text)
        if found is None:
            raise self._fault(event, "the text under !!binary is no base64")
        return found

    def _alias(self, event: AliasEvent) -> tuple[Json, int]:
        if event.anchor not in self.anchors:
            raise self._fault(event, "an alias (`*name`) names nothing that stands before it, or what it stands in")
        return self.anchors[event.anchor]

    def _name(self, anchor: str | None, value: Json, weight: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = value, weight

    def _counted(self, event: Event, weight: int) -> None:
        self.count += weight
        if self.count > MAX_VALUES:
            raise self._fault(event, f"more than {MAX_VALUES:,} values, aliases (`*name`) followed; split the file")

    def _constructs(self, event: Event, tag: object) -> InvalidFile:
        name = str(tag).replace(_STANDARD, "!!")[:80]
        return self._fault(event, f"the tag {name} would construct an object; only plain values and !!binary are read")

    def _fault(self, event: Event, problem: str) -> InvalidFile:
        return InvalidFile(self.path, problem, line=event.start_mark.line + 1)
