"""Live values in a recorded answer, where its recorded ones stood: in whole texts, in JSON inside texts, and in what a stream
says in pieces, wherever these were cut.

All other bytes stay as they were, and each change lies in the piece where its value began. Nothing is put into what is signed
or encrypted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from wiretape.replay.bindings import Bindings
from wiretape.replay.leaves import Leaf, leaves
from wiretape.replay.rewritten import rewritten
from wiretape.replay.tokens import SEALED, number_token
from wiretape.traces import codings
from wiretape.traces.edits import Edit, edited, merged, window
from wiretape.traces.types import Message, Request, Response, header

__all__ = ["edits", "put_back", "put_into_messages", "put_into_request", "put_into_text"]

_SPOKEN = frozenset(
    {
        "arguments",
        "code",
        "completion",
        "content",
        "delta",
        "input",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "refusal",
        "response",
        "summary",
        "text",
        "thinking",
        "transcript",
    }
)
"""Members that a stream says in pieces: what several events hold of them is one text."""

_URLS = frozenset({"content-location", "link", "location"})
_LINE = re.compile(r"(?m)^data:[ ]?([^\r\n]*)")
_ROW = re.compile(r"[^\r\n]+")


def put_back(response: Response, bindings: Bindings) -> Response:
    """The recorded answer for the live run."""
    if not bindings:
        return response
    response = replace(response, headers=tuple((name, _header(name, value, bindings)) for name, value in response.headers))
    plain = codings.undo(response.body, response.headers) if response.body else None
    if not plain:
        return response
    return rewritten(response, plain, edits(plain, header(response.headers, "content-type") or "", bindings))


def put_into_request(request: Request, bindings: Bindings) -> Request:
    """The recorded request as the live run would make it; its content coding is left off."""
    plain = codings.undo(request.body or b"", request.headers)
    if not bindings or not plain:
        return request
    headers = tuple(pair for pair in request.headers if pair[0].lower() != "content-encoding")
    kind = header(headers, "content-type") or ""
    return replace(request, headers=headers, body=b"".join(edited(plain, edits(plain, kind, bindings))))


def put_into_messages(messages: Sequence[Message], bindings: Bindings) -> list[Message]:
    """What a server says on a socket in one go, as it goes on from message to message."""
    if not bindings:
        return list(messages)
    spoken = [each.data + b"\n" if each.type == "text" else b"" for each in messages]
    whole = b"".join(spoken)
    spans = list(accumulate((len(each) for each in spoken), initial=0))
    documents = [(start, end - 1) for start, end in pairwise(spans) if end > start]
    found = merged(_edits(whole.decode("latin-1"), documents, bindings))
    return [
        replace(each, data=b"".join(window(whole, found, start, end - 1))) if end > start else each
        for each, start, end in zip(messages, spans, spans[1:], strict=False)
    ]


def put_into_text(text: str, bindings: Bindings) -> str:
    """A text of our own, such as a trace: JSON, or any other."""
    data = text.encode("utf-8", "surrogatepass")
    return b"".join(edited(data, edits(data, "", bindings))).decode("utf-8", "surrogatepass")


def edits(plain: bytes, content_type: str, bindings: Bindings) -> list[Edit]:
    """What to replace in a body without content coding; sorted, free of overlaps."""
    kind, text = content_type.lower(), plain.decode("latin-1")
    if b"\0" in plain[:4096] or kind.startswith(("audio/", "image/", "video/", "application/vnd.amazon")):
        return []
    if "event-stream" in kind or plain.startswith((b"data:", b"event:", b"id:", b": ")):
        documents = [found.span(1) for found in _LINE.finditer(text)]
    elif "ndjson" in kind or "jsonl" in kind or "json-seq" in kind:
        documents = [found.span() for found in _ROW.finditer(text)]
    else:
        documents = [(0, len(text))]
    return merged(_edits(text, documents, bindings))


def _header(name: str, value: str, bindings: Bindings) -> str:
    return "".join(_replaced(value, bindings)) if name.lower() in _URLS else value


def _replaced(text: str, bindings: Bindings) -> Iterator[str]:
    at = 0
    for start, end, live in bindings.replacements(text):
        yield text[at:start] + live
        at = end
    yield text[at:]


# ---------------------------------------------------------------- pieces of text and their places


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A text that stands in pieces."""

    pieces: tuple[Leaf, ...]

    def edits(self, bindings: Bindings) -> Iterator[Edit]:
        text = "".join(each.text for each in self.pieces)
        ends = list(accumulate(len(each.text) for each in self.pieces))
        for start, end, live in _found(text, bindings):
            first = bisect_right(ends, start)
            for at in range(first, len(self.pieces)):
                before = ends[at] - len(self.pieces[at].text)
                if before >= end:
                    break
                places = self.pieces[at].places
                one, other = places[max(start - before, 0)], places[min(end, ends[at]) - before]
                yield one, other, _quoted(live).encode() if at == first else b""


def _edits(text: str, documents: Iterable[tuple[int, int]], bindings: Bindings) -> Iterator[Edit]:
    """In documents that are JSON each, or plain text; several of them are a stream."""
    documents, spoken = list(documents), dict[tuple[str, ...], list[Leaf]]()
    for start, end in documents:
        if not _is_json(text[start:end]):
            spoken.setdefault((), []).append(Leaf(text[start:end], range(start, end + 1), "", (), is_number=True))
            continue
        whole = len(documents) == 1 or '"jsonrpc"' in text[start:end]
        for leaf in leaves(text, start, end):
            if leaf.sealed or leaf.name in SEALED:
                continue
            if leaf.is_number:
                yield from ((first, last, live.encode()) for first, last, live in _number(leaf, bindings))
            elif leaf.name in _SPOKEN and not whole:
                spoken.setdefault(leaf.path, []).append(leaf)
            else:
                yield from _Spoken((leaf,)).edits(bindings)
    for pieces in spoken.values():
        yield from _Spoken(tuple(pieces)).edits(bindings)


def _number(leaf: Leaf, bindings: Bindings) -> Iterator[tuple[int, int, str]]:
    token = number_token(leaf.name, leaf.text)
    if token and (live := bindings.live(token.kind, token.value)):
        yield leaf.places[0], leaf.places[-1], live


def _found(text: str, bindings: Bindings) -> Iterator[tuple[int, int, str]]:
    """In a text, or in the strings and numbers of the JSON that it is."""
    if not _is_json(text):
        yield from bindings.replacements(text)
        return
    for leaf in leaves(text, 0, len(text)):
        if leaf.name in SEALED:
            continue
        inner = _number(leaf, bindings) if leaf.is_number else _found(leaf.text, bindings)
        for start, end, live in inner:
            yield (start, end, live) if leaf.is_number else (leaf.places[start], leaf.places[end], _quoted(live))


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
