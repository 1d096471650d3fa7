"""Where two requests differ, for a miss report: each place as JSONPath with its recorded and its live value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from wiretape.traces.canonical import as_values, body_tree, query_pairs, url_place
from wiretape.traces.secrets import unnumbered
from wiretape.traces.types import Json, Request

__all__ = ["ABSENT", "FieldDifference", "differences"]

ABSENT = "(absent)"
_SHOWN = 120
"""Characters of a value that are shown."""

_MISSING = object()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    path: str
    """`method`, `url`, `query.NAME`, `body`, or a JSONPath into the body such as `$.messages[0].content`."""
    recorded: str
    live: str
    """Short JSON texts, or `(absent)`."""


def differences(recorded: Request, live: Request, limit: int = 20) -> tuple[FieldDifference, ...]:
    """At most so many, in the order in which the requests are read. The numbers of placeholders differ between runs: they are
    named only where nothing else differs."""
    found = tuple(islice(_all(_unnumbered(recorded), _unnumbered(live)), limit))
    return found or tuple(islice(_all(recorded, live), limit))


def _unnumbered(request: Request) -> Request:
    url = unnumbered(request.url.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    return replace(request, url=url, body=request.body and unnumbered(request.body))


def _all(recorded: Request, live: Request) -> Iterator[FieldDifference]:
    if recorded.method != live.method:
        yield FieldDifference("method", recorded.method, live.method)
    if url_place(recorded.url) != url_place(live.url):
        yield FieldDifference("url", url_place(recorded.url), url_place(live.url))
    yield from _query(recorded, live)
    yield from _bodies(recorded, live)


def _query(recorded: Request, live: Request) -> Iterator[FieldDifference]:
    old, new = query_pairs(recorded.url), query_pairs(live.url)
    for name in dict.fromkeys(name for name, _ in old + new):
        before, after = ([value for key, value in pairs if key == name] for pairs in (old, new))
        if before != after:
            yield FieldDifference(f"query.{name}", _values(before), _values(after))


def _values(values: list[str]) -> str:
    return ", ".join(values) if values else ABSENT


def _bodies(recorded: Request, live: Request) -> Iterator[FieldDifference]:
    if recorded.body is None or live.body is None:
        if recorded.body != live.body:
            yield FieldDifference(
                "body", *(ABSENT if each.body is None else _shown_bytes(each.body) for each in (recorded, live))
            )
        return
    old, new = body_tree(recorded), body_tree(live)
    if isinstance(old, bytes) or isinstance(new, bytes):
        if old != new:
            yield FieldDifference("body", *(_shown_bytes(each.body or b"") for each in (recorded, live)))
        return
    yield from _trees("$", as_values(old), as_values(new))


def _trees(path: str, old: Json, new: Json) -> Iterator[FieldDifference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _trees(f"{path}{_member(name)}", old.get(name, _MISSING), new.get(name, _MISSING))
    elif isinstance(old, list) and isinstance(new, list):
        for at, (before, after) in enumerate(zip_longest(old, new, fillvalue=_MISSING)):
            yield from _trees(f"{path}[{at}]", before, after)
    elif old != new or type(old) is not type(new):
        yield FieldDifference(path, *_pair(old, new))


def _member(name: str) -> str:
    return f".{name}" if name.replace("_", "a").isalnum() and name.isascii() else f"[{json.dumps(name, ensure_ascii=False)}]"


def _pair(old: Json, new: Json) -> tuple[str, str]:
    """Both values; of long texts the place where they part."""
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _SHOWN:
        common = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        start = max(0, common - 30)
        return _excerpt(old, start), _excerpt(new, start)
    return _shown(old), _shown(new)


def _excerpt(text: str, start: int) -> str:
    before, after = "…" if start else "", "…" if start + _SHOWN < len(text) else ""
    return json.dumps(f"{before}{text[start : start + _SHOWN]}{after}", ensure_ascii=False)


def _shown(value: Json) -> str:
    if value is _MISSING:
        return ABSENT
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _shown_bytes(data: bytes) -> str:
    text = data[:_SHOWN].decode("utf-8", "replace")
    return json.dumps(text + ("…" if len(data) > _SHOWN else ""), ensure_ascii=False)
