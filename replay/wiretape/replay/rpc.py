"""JSON-RPC on replay: the live id in the recorded answer, and what a server may say to messages that were never recorded.

Ids belong to a connection: they are no part of a request's key, and an answer carries the live one with its exact JSON text,
be it a string, a number of any size or 1.0. All other bytes stay as they were. (MCP, streamable HTTP; JSON-RPC 2.0, section 5.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from wiretape.replay.rewritten import rewritten
from wiretape.traces import codings
from wiretape.traces.decoders import detect
from wiretape.traces.edits import edited
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.types import Exchange, Headers, Json, Request, Response

__all__ = ["Rpc", "courtesy", "with_live_id", "with_live_ids"]

_RAW_ID = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|null|true|false')


@dataclass(frozen=True, slots=True)
class Rpc:
    """What a line of JSON-RPC is, ids and tokens as JSON text; all of it empty for a line that is none."""

    method: str = ""
    """Of the first message, where it has one."""
    asks: tuple[str, ...] = ()
    """The ids of requests: one, or those of a batch."""
    answers: tuple[str, ...] = ()
    """The ids that are answered."""
    tokens: tuple[str, ...] = ()
    """Of progress: asked for, or told of."""

    @classmethod
    def of(cls, line: bytes) -> Rpc:
        found = [each for each in _messages(Request("POST", "x://", (), line)) if isinstance(each, dict)]
        methods = [each["method"] for each in found if isinstance(each.get("method"), str)]
        params = [each["params"] for each in found if isinstance(each.get("params"), dict)]
        metas = [each["_meta"] for each in params if isinstance(each.get("_meta"), dict)]
        return cls(
            methods[0] if methods else "",
            tuple(_json(each["id"]) for each in found if "method" in each and "id" in each),
            tuple(_json(each["id"]) for each in found if "method" not in each and "id" in each),
            tuple(_json(each["progressToken"]) for each in (*params, *metas) if "progressToken" in each),
        )


def _json(value: Json) -> str:
    return orjson.dumps(value).decode()


def with_live_id(line: bytes, recorded: bytes, live: bytes) -> bytes:
    """A server's line that came of the recorded request, for this live one. Ids of the server's own requests are its own."""
    swaps = dict(_swaps(*(Request("POST", "x://", (), each) for each in (recorded, live))))
    if not Rpc.of(line).answers:
        swaps = {place: text for place, text in swaps.items() if place[0] != "id"}
    return b"".join(edited(line, _edits(line, swaps))) if swaps else line


def courtesy(request: Request) -> tuple[int, Headers, bytes] | None:
    """What a server answers to traffic that needs no recording: notifications, a listening GET, the end of a session.

    (status, headers, body), or None where an answer has to be recorded.
    """
    if detect(request) != "mcp":
        return None
    if request.method in ("GET", "DELETE"):
        return 405, (("Allow", "POST"),), b""
    messages = _messages(request)
    if messages and all(isinstance(each, dict) and not ("method" in each and "id" in each) for each in messages):
        return 202, (), b""
    return None


def with_live_ids(exchange: Exchange, response: Response, live: Request) -> Response:
    """The recorded answer for this live request: each recorded id and progress token replaced where the live one differs."""
    if not (live.body and exchange.request.body and b"jsonrpc" in live.body):
        return response
    swaps = dict(_swaps(exchange.request, live))
    if not swaps:
        return response
    plain = codings.undo(response.body, response.headers)
    if plain is None:
        return response
    return rewritten(response, plain, _edits(plain, swaps))


def _swaps(recorded: Request, live: Request) -> Iterator[tuple[tuple[str, bytes], bytes]]:
    """(member, recorded text) → live text, of the messages that say the same."""
    old, new = (_by_meaning(each) for each in (recorded, live))
    if old.keys() != new.keys() and len(old) == len(new) == 1:
        # One message each: these belong together, whatever a rule set aside in them.
        old = dict(zip(new, old.values(), strict=True))
    for meaning, texts in new.items():
        for before, after in zip(old.get(meaning, []), texts, strict=False):
            for member in ("id", "progressToken"):
                if before.get(member) and after.get(member) and before[member] != after[member]:
                    yield (member, before[member]), after[member]


def _by_meaning(request: Request) -> dict[str, list[dict[str, bytes]]]:
    """Canonical key of each message → its raw id and progress token."""
    found: dict[str, list[dict[str, bytes]]] = {}
    text = codings.undo(request.body or b"", request.headers) or b""
    for message in _split(text):
        key = fingerprint(Request("POST", "x://", (), message)).canonical
        found.setdefault(key, []).append(_raw(message))
    return found


def _split(text: bytes) -> list[bytes]:
    """The messages of a batch as they were written; one that is no batch alone."""
    if text.lstrip()[:1] != b"[":
        return [text]
    decoder, decoded, out = json.JSONDecoder(), text.decode("utf-8", "surrogateescape"), list[bytes]()
    at = decoded.index("[") + 1
    while True:
        at += len(decoded[at:]) - len(decoded[at:].lstrip(" \t\r\n,"))
        if at >= len(decoded) or decoded[at] == "]":
            return out
        try:
            _, end = decoder.raw_decode(decoded, at)
        except ValueError:
            return out
        out.append(decoded[at:end].encode("utf-8", "surrogateescape"))
        at = end


def _raw(message: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for member in ("id", "progressToken"):
        depth = 1 if member == "id" else None
        place = next(_places(message, member, depth), None)
        if place:
            found[member] = message[place[0] : place[1]]
    return found


def _places(text: bytes, member: str, depth: int | None) -> Iterator[tuple[int, int]]:
    """Where the values of a member stand, at that depth of objects or at any."""
    level, wanted = 0, b'"%s"' % member.encode()
    for token in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', text):
        mark = token[0]
        if mark in (b"{", b"["):
            level += 1
        elif mark in (b"}", b"]"):
            level -= 1
        elif mark == wanted and depth in (None, level):
            value = re.compile(rb"\s*:\s*").match(text, token.end())
            raw = value and _RAW_ID.match(text, value.end())
            if raw:
                yield raw.start(), raw.end()


def _edits(plain: bytes, swaps: dict[tuple[str, bytes], bytes]) -> list[tuple[int, int, bytes]]:
    """In each JSON text of the answer: whole, or in the data lines of a stream."""
    edits = list[tuple[int, int, bytes]]()
    batch = plain.lstrip()[:1] == b"["
    for start, end in _texts(plain):
        text = plain[start:end]
        for member, depth in (("id", 2 if batch else 1), ("progressToken", None)):
            for first, last in _places(text, member, depth):
                if live := swaps.get((member, text[first:last])):
                    edits.append((start + first, start + last, live))
    return sorted(edits)


def _texts(plain: bytes) -> Iterator[tuple[int, int]]:
    if plain.lstrip()[:1] in (b"{", b"["):
        yield 0, len(plain)
        return
    for line in re.finditer(rb"(?m)^data:[ ]?([^\r\n]*)", plain):
        yield line.span(1)


def _messages(request: Request) -> list[Json]:
    text = codings.undo(request.body or b"", request.headers) or b""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    return found if isinstance(found, list) else [found]
