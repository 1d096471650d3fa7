"""Cassettes of go-vcr (gopkg.in/dnaeon/go-vcr, modules v1 to v4): YAML of version 1, or 2 since module v3.

A body is text, or `!!binary` where it is none. Go's transport takes gzip off by itself and then says `uncompressed`, its
headers being gone already. `form` holds the query's parameters too and is used only where a form's body is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO
from urllib.parse import urlencode

from wiretape.traces.errors import InvalidFile, StoreError
from wiretape.traces.imports import parts
from wiretape.traces.imports.documents import YAML_BYTES, read_yaml
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, Losses, Read, items, whole
from wiretape.traces.imports.vcr import header_fields
from wiretape.traces.types import End, Exchange, Headers, Timings, header

__all__ = ["read"]

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
"""Go's units of time in seconds."""


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    found = read_yaml(whole(file, path, YAML_BYTES), path)
    if not isinstance(found, dict) or not isinstance(found.get("interactions"), list):
        raise InvalidFile(path, "expected a cassette of go-vcr, a mapping with `interactions`, got something else")
    if found.get("version") not in (1, 2, 3, 4):
        raise InvalidFile(path, "expected a cassette of version 1 to 4", field="version")
    return items(Fields(path, "", found).each("interactions"), _exchange)


def _exchange(entry: Fields) -> Read:
    asked, answered = entry.required("request"), entry.required("response")
    headers, dropped = header_fields(asked)
    body, rebuilt = _asked(asked, headers)
    request, changed = parts.request(
        asked, asked.text("url"), asked.text("method", "") or "GET", headers, body, parts.version(asked.text("proto", ""))[0]
    )
    ended = _duration(answered)
    headers, answer_dropped = header_fields(answered)
    body = _body(answered)
    status, reason = _status(answered, entry), _reason(answered)
    if request.method != "HEAD" and status not in (204, 304):
        parts.refuse_lost(answered, headers, body, answered.number("content_length", 0))
    http_version, other = parts.version(answered.text("proto", ""))
    trailers, _ = header_fields(answered, "trailer")
    response, answer_changed = parts.response(status, reason, headers, body, at=ended or 0, http_version=http_version)
    response = replace(response, trailers=trailers)
    exchange = Exchange(seq=0, request=request, response=response, timings=Timings(ended=ended), end=End.COMPLETE)
    return exchange, (*dropped, *rebuilt, *changed, *answer_dropped, *answer_changed, *other)


def _asked(given: Fields, headers: Headers) -> tuple[bytes, Losses]:
    body, form = _body(given), given.within("form")
    if not body and form.values and "x-www-form-urlencoded" in (header(headers, "content-type") or ""):
        return urlencode(form.values, doseq=True).encode(), ("the spelling of its form, written anew from `form`",)
    parts.refuse_lost(given, headers, body, given.number("content_length", 0))
    return body, ()


def _body(given: Fields) -> bytes:
    body = given["body"]
    return body if isinstance(body, bytes) else parts.encoded(given.text("body", ""), "")[0]


def _status(given: Fields, entry: Fields) -> int:
    """It stands behind the body, twice: one that is cut off shows that the file was."""
    code = given.whole("code", 0)
    if not 100 <= code <= 999 or not given.text("status", str(code)).startswith(str(code)):
        raise StoreError(f"{entry.path}: {entry.place}: an answer without its status; the file was cut off. Make it anew.")
    return code


def _reason(given: Fields) -> str:
    return given.text("status", "").partition(" ")[2]


def _duration(given: Fields) -> int | None:
    """`1.234s`, `1m0.5s` as Go writes it, or nanoseconds, in microseconds."""
    value = given["duration"]
    if isinstance(value, int) and not isinstance(value, bool):
        return parts.micros(given.number("duration", 0) / 1e9)
    text = value if isinstance(value, str) else ""
    found = re.findall(r"(\d{1,15}(?:\.\d{1,15})?)(ns|us|µs|ms|s|m|h)", text)
    return parts.micros(sum(float(number) * _UNITS[unit] for number, unit in found)) if found else None
