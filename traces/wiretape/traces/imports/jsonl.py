"""What `exports/jsonl.py` wrote, as the same values (docs/exports.md has the form).

Pure and total: lines in, values out, or an InvalidFile that names the line. A line is in memory at a time.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from wiretape.traces.assemble import AgentEvent
from wiretape.traces.errors import InvalidFile
from wiretape.traces.exports.jsonl import FORMAT
from wiretape.traces.imports.items import Item
from wiretape.traces.types import End, Exchange, RecordingInfo

__all__ = ["read", "values"]

type Line = dict[str, Any]

_AS_THEY_ARE = (
    *("seq", "kind", "session", "source", "started_at", "end", "error"),
    *("upstream", "rule", "match", "noise", "fingerprint"),
)
_EXCHANGE = TypeAdapter(Exchange)
_EVENT = TypeAdapter(tuple[float, str, dict[str, Any]])


def read(file: BinaryIO, path: str) -> Iterator[Item]:
    """The entries of a file, as every importer gives them: nothing of it is lost."""
    for number, value in enumerate(values(file, path)):
        if isinstance(value, RecordingInfo):
            yield Item(number, recording=value)
        elif isinstance(value, Exchange):
            open_ = value.end is None
            losses = ("it had not ended when it was exported",) if open_ else ()
            yield Item(number, replace(value, end=End.INTERRUPTED) if open_ else value, losses=losses)
        else:
            at, session, payload = value
            yield Item(number, event=payload, at=at, session=session)


def values(lines: Iterable[bytes], path: str) -> Iterator[RecordingInfo | Exchange | AgentEvent]:
    """The recording first, then its exchanges by number, and the agent's events. `path` is for the error's sentence."""
    seq, number = 0, 0
    for number, line in enumerate(lines, 1):
        try:
            found = _value(line, first=number == 1)
            if isinstance(found, Exchange):
                seq = _next(found, seq)
        except ValidationError as error:
            raise InvalidFile(path, _told(error), line=number) from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidFile(path, _why(error), line=number) from None
        yield found
    if not number:
        raise InvalidFile(path, "expected lines of a wiretape recording (`replay export --format jsonl`), got an empty file")


def _value(line: bytes, *, first: bool) -> RecordingInfo | Exchange | AgentEvent:
    value = json.loads(line)
    kind = value.pop("type", None) if isinstance(value, dict) else None
    if first != (kind == "recording"):
        raise ValueError("expected one line of type `recording`, and it comes first")
    if kind == "recording":
        if (version := value.pop("wiretape", None)) != FORMAT:
            raise ValueError(f"expected format {FORMAT}, got {version!r}: read it with the version of wiretape that wrote it")
        return RecordingInfo.model_validate(value)
    if kind == "exchange":
        return _exchange(value)
    if kind == "event":
        return _EVENT.validate_python((value["at"], value["session"], value["payload"]))
    raise ValueError(f"expected the type recording, exchange or event, got {kind!r}")


def _next(exchange: Exchange, before: int) -> int:
    if exchange.seq <= before:
        raise ValueError(f"expected an exchange of a number above {before}, got {exchange.seq}")
    response = exchange.response
    if response and response.chunks and sum(length for _, length in response.chunks) != len(response.body):
        raise ValueError("expected chunks whose lengths add up to the response's body")
    return exchange.seq


def _exchange(line: Line) -> Exchange:
    request = {
        "method": line["method"],
        "url": line["url"],
        "headers": line["request_headers"],
        "body": _bytes(line["request_body_base64"]),
        "http_version": line["http_version"],
    }
    found = {name: line[name] for name in _AS_THEY_ARE} | {"request": request, "timings": line["timings_us"]}
    found["response"] = None if line["status"] is None else _response(line)
    found["messages"] = [_message(each) for each in line["messages"]]
    return _EXCHANGE.validate_python(found)


def _response(line: Line) -> Line:
    return {
        "status": line["status"],
        "headers": line["response_headers"],
        "body": _bytes(line["response_body_base64"]),
        "reason": line["reason"],
        "http_version": line["response_http_version"],
        "trailers": line["trailers"],
        "chunks": line["chunks"],
    }


def _message(given: Line) -> Line:
    data = given["data"].encode() if "data" in given else _bytes(given["data_base64"])
    return {"at": given["at"], "sender": given["from"], "type": given["type"], "data": data, "code": given["code"]}


def _bytes(text: str | None) -> bytes | None:
    try:
        return None if text is None else base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("expected base64") from None


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"expected the field {error}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "this is not a whole line of JSON"
    return str(error) if type(error) is ValueError else "this does not have the form of a wiretape recording"
