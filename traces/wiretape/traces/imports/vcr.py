"""Cassettes of vcrpy (YAML and JSON, version 1), and those of Ruby's VCR and of betamax, which share most of its form.

A request's body is text, bytes, JSON or nothing; an answer's stands under `string` (`base64_string` where it is no text), in
older httpx ones under `content`. pydantic-ai keeps JSON bodies parsed, under `parsed_body`. Neither has times of pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import BinaryIO

from wiretape.traces.errors import InvalidFile, StoreError
from wiretape.traces.imports import parts
from wiretape.traces.imports.documents import YAML_BYTES, from_base64, read_yaml
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Item, Losses, Read, items, whole
from wiretape.traces.types import End, Exchange, Headers, Json

__all__ = ["header_fields", "read"]

_PARSED = "the spelling of its JSON body, which the file holds parsed"


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    found = read_yaml(whole(file, path, YAML_BYTES), path)
    known = isinstance(found, dict)
    name = next((each for each in ("interactions", "http_interactions") if known and isinstance(found.get(each), list)), None)
    if name is None:
        raise InvalidFile(path, "expected a cassette of vcrpy, a mapping with `interactions`, got something else")
    end = "version" if name == "interactions" else "recorded_with"
    if end not in found:
        raise StoreError(f"{path}: expected `{end}` beside the exchanges; the file was cut off. Make it anew.")
    if name == "interactions" and found[end] != 1:
        raise InvalidFile(path, "expected a cassette of version 1; let vcrpy migrate it", field=end)
    return items(Fields(path, "", found).each(name), _exchange)


def header_fields(given: Fields, name: str = "headers") -> tuple[Headers, Losses]:
    """A mapping of names to values or lists of them."""
    values = given.within(name).values
    listed = ((str(field), value if isinstance(value, list) else [value]) for field, value in values.items())
    return parts.fields((field, _text(each)) for field, value in listed for each in value)


def _text(value: Json) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _exchange(entry: Fields) -> Read:
    asked, answered = entry.required("request"), entry.required("response")
    headers, dropped = header_fields(asked)
    body, parsed = _body(asked, asked["body"])
    parts.refuse_lost(asked, headers, body)
    request, changed = parts.request(asked, asked.text("uri"), asked.text("method"), headers, body)
    headers, answer_dropped = header_fields(answered)
    body, answer_parsed = _body(answered, answered["content"] or answered["body"] or None)
    status, reason = _status(answered)
    if request.method != "HEAD" and status not in (204, 304):
        parts.refuse_lost(answered, headers, body)
    http_version, other = parts.version(answered.text("http_version", ""))
    response, answer_changed = parts.response(status, reason, headers, body, http_version=http_version)
    exchange = Exchange(seq=0, request=request, response=response, started_at=_recorded(entry), end=End.COMPLETE)
    return exchange, (*dropped, *parsed, *changed, *answer_dropped, *answer_parsed, *answer_changed, *other)


def _body(given: Fields, body: Json) -> tuple[bytes, Losses]:
    found, losses = _plain(given, body)
    if not found and "parsed_body" in given.values:
        return _written(given, given["parsed_body"]), (_PARSED,)
    return found, losses


def _plain(given: Fields, body: Json) -> tuple[bytes, Losses]:
    if isinstance(body, dict) and body and body.keys() <= {"string", "base64_string", "encoding"}:
        if body.get("base64_string") is not None:
            return _decoded(given, body["base64_string"]), ()
        body = body.get("string")
    if isinstance(body, dict | list):
        return _written(given, body), (_PARSED,)
    if isinstance(body, bytes):
        return body, ()
    if body is None or isinstance(body, str):
        return parts.encoded(body or "", "")
    raise given.fault("body", "expected text, !!binary, JSON or nothing")


def _written(given: Fields, value: Json) -> bytes:
    """As HTTP clients write it: without spaces, in UTF-8."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError):
        raise given.fault("parsed_body", "expected JSON") from None


def _decoded(given: Fields, text: Json) -> bytes:
    body = from_base64(text) if isinstance(text, str) else None
    if body is None or (text and not body):
        raise given.fault("body.base64_string", "expected base64")
    return body


def _status(given: Fields) -> tuple[int, str]:
    status = given["status"]
    if isinstance(status, dict):
        inner = given.within("status")
        code, reason = inner.whole("code", 0), inner.text("message", "")
    else:
        code, reason = given.whole("status_code" if status is None else "status", 0), ""
    if not 100 <= code <= 999:
        raise given.fault("status", "expected a status of three digits")
    return code, reason


def _recorded(entry: Fields) -> float:
    """`recorded_at` as an HTTP date (Ruby) or in ISO form (betamax, in UTC); vcrpy has none."""
    text = entry.text("recorded_at", "")
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            found = parse(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            continue
    return 0.0
