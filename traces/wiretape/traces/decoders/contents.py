"""The content of messages, which is a string or a list of typed parts in every dialect, and history elements made of it.

A string and a list with one text part mean the same, and clients do switch (to hang a cache marker on a part), so both give
one digest. Thinking is no part of it: clients drop it from older turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wiretape.traces.decoders.values import attachment, clean, dicts, digest, mend, string
from wiretape.traces.types import Asked, Handed, Json, Said

__all__ = ["has_thinking", "parts_of", "raw", "said", "system_before", "texts_of"]

_TEXT = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Types of parts that people read → the key that holds the text."""
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text"})
_ATTACHMENTS = frozenset(
    {
        "audio",
        "container_upload",
        "document",
        "document_url",
        "file",
        "image",
        "image_url",
        "input_audio",
        "input_file",
        "input_image",
        "video",
        "video_url",
    }
)


def parts_of(content: Json) -> list[Json]:
    """One form for all: text as `{"type": "text", "text"}`, other parts as they stand, thinking left out."""
    items = content if isinstance(content, list) else [content]
    return [part for item in items for part in _part(item)]


def _part(item: Json) -> list[Json]:
    if isinstance(item, str):
        return [{"type": "text", "text": item}] if item else []
    if not isinstance(item, dict):
        return [] if item is None else [item]
    if string(item.get("type")) in _THINKING:
        return []
    text = _text(item)
    return [item] if text is None else [{"type": "text", "text": text}]


def _text(part: dict[str, Json]) -> str | None:
    kind = part.get("type", "text")
    key = _TEXT.get(kind) if isinstance(kind, str) else None
    text = part.get(key) if key else None
    return text if isinstance(text, str) else None


def texts_of(content: Json) -> list[str]:
    """The visible texts in order."""
    if isinstance(content, str):
        return [content]
    items = content if isinstance(content, list) else []
    texts = (item if isinstance(item, str) else _text(item) if isinstance(item, dict) else None for item in items)
    return [text for text in texts if text is not None]


def raw(value: Json) -> str:
    """A piece of a text that a stream cut anywhere, inside a surrogate pair too: to be joined first and mended then."""
    return value if isinstance(value, str) else ""


def system_before(messages: Sequence[dict[str, Json]]) -> tuple[list[Json], Sequence[dict[str, Json]]]:
    """The parts of the system and developer messages at the start, and the messages after them."""
    start = next((n for n, each in enumerate(messages) if each.get("role") not in ("system", "developer")), len(messages))
    return [part for each in messages[:start] for part in parts_of(each.get("content"))], messages[start:]


def has_thinking(content: Json) -> bool:
    return any(string(part.get("type")) in _THINKING for part in dicts(content))


def said(role: str, content: Json, *, asked: Sequence[Asked] = (), handed: Sequence[Handed] = ()) -> Said:
    """`content` without the parts that became `asked` and `handed`."""
    between = "" if role == "assistant" else "\n"
    parts = parts_of(content)
    meaning = {
        "role": role,
        "parts": parts,
        "asked": [_call(each) for each in asked],
        "handed": [_result(each) for each in handed],
    }
    return Said(
        role=role,
        digest=digest(meaning),
        text=mend(between.join(texts_of(content))),
        asked=tuple(asked),
        handed=tuple(handed),
        attachments=tuple(_attachments(parts)),
    )


def _attachments(parts: Iterable[Json]) -> Iterable[str]:
    for part in parts:
        if isinstance(part, dict) and string(part.get("type")) in _ATTACHMENTS:
            yield attachment(clean(part))


def _call(call: Asked) -> list[Json]:
    return [call.call_id, call.tool, call.arguments_text if call.arguments is None else call.arguments]


def _result(result: Handed) -> list[Json]:
    return [result.call_id, result.content, result.is_error]
