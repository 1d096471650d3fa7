"""Fields that a scenario or wiretape.toml calls volatile, set aside before requests are compared.

What a model reads is never set aside, whatever a rule says. Headers are no part of a comparison, so a rule for one sets nothing
aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import unquote_plus

from wiretape.traces import codings
from wiretape.traces.canonical import NotJson, Number, parse
from wiretape.traces.settings import NEVER_VOLATILE, Volatile
from wiretape.traces.types import Json, Request

__all__ = ["set_aside"]

_STEP = re.compile(
    r"\.\.(?P<deep>[\w-]+)|\.(?P<name>[\w-]+|\*)|\[(?P<index>\d+|\*)\]|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]"
)


def set_aside(request: Request, rules: Iterable[Volatile]) -> tuple[Request, tuple[str, ...]]:
    """The request without its volatile fields, and the rules that took something out of it."""
    applied: list[str] = []
    for rule in rules:
        if not _fits(rule.url, request.url):
            continue
        stripped = _without_query(request, rule.query) if rule.query else _without_json(request, rule.json_path)
        if stripped != request:
            applied.append(f"query {rule.query}" if rule.query else f"{rule.json_path}")
            request = stripped
    return request, tuple(applied)


def _fits(pattern: str, url: str) -> bool:
    shape = ".*".join(map(re.escape, pattern.split("*")))
    return re.fullmatch(shape, url.partition("?")[0]) is not None or re.fullmatch(shape, url) is not None


def _without_query(request: Request, name: str) -> Request:
    place, question, query = request.url.partition("?")
    kept = [pair for pair in query.split("&") if unquote_plus(pair.partition("=")[0]) != name]
    return replace(request, url=place + (f"?{'&'.join(kept)}" if kept else "")) if question else request


def _without_json(request: Request, path: str | None) -> Request:
    plain = codings.undo(request.body or b"", request.headers) if path else None
    if not plain:
        return request
    try:
        tree = parse(plain)
    except NotJson:
        return request
    steps = list(_STEP.finditer(path or ""))
    found = [place for place in _places(tree, steps) if place and place[0] not in NEVER_VOLATILE]
    if not found:
        return request
    for place in found:
        _remove(tree, place)
    headers = tuple(pair for pair in request.headers if pair[0].lower() != "content-encoding")
    return replace(request, headers=headers, body=_text(tree).encode("utf-8", "surrogatepass"))


def _places(tree: Json, steps: list[re.Match[str]], place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where a path leads: names, positions, `*` for all of them, `..name` at any depth."""
    if not steps:
        yield place
        return
    step, rest = steps[0], steps[1:]
    if name := step["deep"]:
        yield from (found for key, child in _children(tree) if key == name for found in _places(child, rest, (*place, key)))
        yield from (found for key, child in _children(tree) for found in _places(child, steps, (*place, key)))
        return
    wanted = step["name"] or step["quoted"] or step["index"]
    for key, child in _children(tree):
        if wanted == "*" or wanted == str(key):
            yield from _places(child, rest, (*place, key))


def _children(tree: Json) -> list[tuple[str | int, Json]]:
    if isinstance(tree, dict):
        return list(tree.items())
    return list(enumerate(tree)) if isinstance(tree, list) else []


def _remove(tree: Json, place: tuple[str | int, ...]) -> None:
    """Members go; elements of lists stay as null, so that the others keep their positions."""
    for key in place[:-1]:
        tree = dict(_children(tree)).get(key)
    if isinstance(tree, dict):
        tree.pop(place[-1], None)
    elif isinstance(tree, list):
        tree[int(place[-1])] = None


def _text(tree: Json) -> str:
    if isinstance(tree, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_text(value)}" for name, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(_text, tree)) + "]"
    return str(tree) if isinstance(tree, Number) else json.dumps(tree, ensure_ascii=False)
