"""What the decoders share about values: JSON that may be anything, digests by meaning, the provider's words.

Nothing here raises but `parse`, and that only ValueError. What comes out can always be written as JSON in UTF-8: lone
surrogates (an emoji cut in two by a stream) are mended, numbers beyond JSON refused, nesting bounded.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping

from wiretape.traces.types import Asked, Declared, Handed, Json

__all__ = [
    "arguments_of",
    "asked",
    "attachment",
    "clean",
    "compact",
    "count",
    "declared",
    "dicts",
    "digest",
    "error_words",
    "handed",
    "mend",
    "parse",
    "several",
    "string",
    "text_alone",
    "usage_of",
]

_DEEPEST = 100
"""Levels of nesting: deeper JSON is raw text to us, since writing it again would exhaust somebody's stack."""
_LONGEST_WORDS = 2000
_PAYLOADS = ("data", "file_data", "image_url", "url", "image", "file_url", "document_url", "file_id", "id", "text")


def parse(text: str | bytes | bytearray) -> Json:
    """JSON of any size, integers exact; ValueError for what is none, NaN and infinities and over-deep nesting included."""
    if not isinstance(text, str):
        text = text.decode("utf-8-sig", "replace")
    try:
        value = _DECODER.decode(text.strip(" \t\r\n"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("{") + text.count("[") > _DEEPEST and _depth(value) > _DEEPEST:
        raise ValueError("nested too deeply")
    return value


def several(text: bytes, *, arrays: bool) -> list[Json]:
    """The values that stand one after another (NDJSON), or in an array that may be cut; what is not whole is left out.

    Linear: reading goes on behind each value and ends at the first that is none. A number or a word at the very end may be cut.
    """
    rest = text.decode("utf-8-sig", "replace")
    at, values = _behind(rest, 0, "[" if arrays and rest.lstrip().startswith("[") else ""), list[Json]()
    while at < len(rest):
        try:
            value, at = _DECODER.raw_decode(rest, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict | list) or _depth(value) > _DEEPEST:
            break
        values.append(value)
        at = _behind(rest, at, "," if arrays else "")
    return values


def _behind(text: str, at: int, mark: str) -> int:
    """Behind white space and, where it is there, one mark."""
    for skipped in (" \t\r\n", mark, " \t\r\n"):
        while at < len(text) and text[at] in skipped:
            at += 1
            if skipped == mark:
                break
    return at


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is beyond a double")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def _depth(value: Json) -> int:
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        depth += 1
        level = [child for parent in level for child in _children(parent)]
    return depth


def _children(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def mend(text: str) -> str:
    """Joins surrogate pairs that came in two pieces; one left alone becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean(value: Json) -> Json:
    """The same JSON with every string mended."""
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, dict):
        return {mend(key): clean(item) for key, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, list) else value


def string(value: Json) -> str | None:
    """A string that says something, else None."""
    return mend(value) if isinstance(value, str) and value else None


def count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def dicts(value: Json) -> Iterator[dict[str, Json]]:
    """The objects in a list; nothing where it is no list."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(value: Json) -> str:
    """SHA-256 over sorted JSON, prompt-cache markers set aside: they move from turn to turn and mean nothing."""
    text = json.dumps(_unmarked(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _unmarked(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if not _is_marker(key, item)}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _is_marker(key: str, value: Json) -> bool:
    return key == "cache_control" and (value is None or (isinstance(value, dict) and value.get("type") == "ephemeral"))


# ---------------------------------------------------------------- tools


def arguments_of(text: str) -> Json:
    """Parsed; {} where a finished call has none, None where the text does not parse."""
    if not text.strip():
        return {}
    try:
        return clean(parse(text))
    except ValueError:
        return None


def asked(
    tool: Json, call_id: Json, given: Json, *, finished: bool = True, by_provider: bool = False, free: bool = False
) -> Asked:
    """`given`: the arguments as text or as JSON; `free`: as text that need be no JSON and is the argument itself.

    A call that was cut before its first argument has unknown ones, not {}.
    """
    text = mend(given or "") if given is None or isinstance(given, str) else compact(clean(given))
    known = finished or bool(text.strip())
    arguments = (text if free else arguments_of(text)) if known else None
    return Asked(
        tool=string(tool) or "", call_id=string(call_id), arguments=arguments, arguments_text=text, by_provider=by_provider
    )


def handed(call_id: Json, content: Json, *, tool: Json = None, is_error: bool = False) -> Handed:
    return Handed(call_id=string(call_id), tool=string(tool), content=clean(text_alone(content)), is_error=is_error)


def text_alone(content: Json) -> Json:
    """The text where every part is text, one line a part; else the content as it stands."""
    if not isinstance(content, list) or not content:
        return content
    texts = [part["text"] for part in dicts(content) if part.get("type") in _TEXTS and isinstance(part.get("text"), str)]
    return "\n".join(texts) if len(texts) == len(content) else content


_TEXTS = ("text", "input_text", "output_text")


def declared(tool: Mapping[str, Json], schema: Json, **hints: bool | None) -> Declared:
    """`tool` holds name and description; one without a name goes by its type."""
    name = string(tool.get("name")) or string(tool.get("type")) or ""
    parameters = clean(schema) if isinstance(schema, dict) else None
    meaning = {"name": name, "description": tool.get("description"), "parameters": parameters}
    return Declared(name=name, parameters=parameters, digest=digest(meaning), **hints)


# ---------------------------------------------------------------- numbers, errors, attachments


def usage_of(given: Json, names: Mapping[str, tuple[tuple[str, ...], ...]]) -> dict[str, int]:
    """The counts that are there, by our names. `names`: ours → the paths to try, best first."""
    found: dict[str, int] = {}
    for ours, paths in names.items():
        numbers = (count(_at(given, path)) for path in paths)
        number = next((n for n in numbers if n is not None), None)
        if number is not None:
            found[ours] = number
    return found


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def error_words(value: Json) -> str | None:
    """`code: message` as the provider says it, from any of the shapes that errors come in; None where it is none."""
    if isinstance(value, str):
        return mend(value)[:_LONGEST_WORDS] or None
    if isinstance(value, list):
        return error_words(value[0]) if value else None
    if not isinstance(value, dict):
        return None
    inner = value.get("error") or value.get("errors")
    if isinstance(inner, dict | list):
        return error_words(inner)
    labels = (string(value.get(key)) for key in ("code", "type", "status"))
    label = next((each for each in labels if each and each != "error"), None)
    said = next((value[key] for key in ("message", "error", "detail", "msg") if value.get(key)), None)
    if said is None and label is None:
        return None
    text = said if isinstance(said, str) else compact(said) if said is not None else ""
    return mend(": ".join(part for part in (label, text) if part))[:_LONGEST_WORDS]


def attachment(part: Mapping[str, Json]) -> str:
    """`type sha256:…` of an image, file or sound: over its own bytes where the part holds them, else over what names it."""
    payload = _payload(part)
    return f"{string(part.get('type')) or 'file'} sha256:{hashlib.sha256(payload).hexdigest()}"


def _payload(part: Mapping[str, Json]) -> bytes:
    level: list[Mapping[str, Json]] = [part]
    while level:
        for key in _PAYLOADS:
            text = next((text for each in level if (text := string(each.get(key)))), None)
            if text:
                return _bytes_of(key, text)
        level = [child for each in level for child in each.values() if isinstance(child, dict)]
    return compact(_unmarked(part)).encode("utf-8", "replace")


def _bytes_of(key: str, text: str) -> bytes:
    head, comma, data = text.partition(",")
    inline = bool(comma) and head.startswith("data:") and head.endswith(";base64")
    if not inline and key not in ("data", "file_data"):
        return text.encode()
    try:
        return base64.b64decode(data if inline else text, validate=True)
    except (binascii.Error, ValueError):
        return text.encode()
