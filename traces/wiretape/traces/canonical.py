"""What a request says, whatever its spelling: the structure behind the canonical key and behind the differences in a miss.

URLs by RFC 3986 section 6.2.2 (and `+` as a space in the query alone); JSON by its values, integers exact at any size and
1 equal to 1.0 and 1e0;
JSON inside strings by its structure with numbers as written; forms and multipart by their fields; content codings undone.
What does not parse, has duplicate keys or NaN is its raw bytes. Two things are no meaning: the order of declared tools and
prompt-cache markers. JSON-RPC ids and progress tokens belong to a connection, not to a request.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

from wiretape.traces import codings
from wiretape.traces.types import Headers, Json, Request, header

__all__ = ["NotJson", "Number", "as_values", "body_tree", "canonical", "is_cache_marker", "parse", "query_pairs", "url_place"]

_UNRESERVED = "-._~"
_PATH_SAFE = "/:@!$&'()*+,;=" + _UNRESERVED
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_DEEPEST = 200
"""Nesting beyond which a body is taken by its bytes."""


class NotJson(ValueError):
    """The text has no one JSON meaning."""


def canonical(request: Request) -> bytes:
    """One spelling for all requests that say the same."""
    query = sorted(query_pairs(request.url))
    head = [request.method.upper(), url_place(request.url), *(f"{name}={value}" for name, value in query)]
    return "\n".join(head).encode("utf-8", "surrogatepass") + b"\n\n" + _body(request)


def url_place(url: str) -> str:
    """Scheme, authority and path in normal form, the default port left out."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    try:
        port = parts.port
    except ValueError:
        port = None
    shown = f":{port}" if port not in (None, _DEFAULT_PORTS.get(parts.scheme.lower())) else ""
    return f"{parts.scheme.lower()}://{host}{shown}{_path(parts.path or '/')}"


def _path(path: str) -> str:
    """Escapes of unreserved characters undone, the others in upper case; an escaped slash stays escaped."""
    pieces = re.split(r"(%[0-9A-Fa-f]{2})", path)
    return "".join(
        _escape(piece) if piece[:1] == "%" and len(piece) == 3 else quote(piece, safe=_PATH_SAFE + "%") for piece in pieces
    )


def _escape(escape: str) -> str:
    char = chr(int(escape[1:], 16))
    return char if char.isascii() and (char.isalnum() or char in _UNRESERVED) else escape.upper()


def query_pairs(url: str) -> list[tuple[str, str]]:
    """Names and values, decoded and encoded again in one way, in their order."""
    query = urlsplit(url).query
    return [_pair(pair) for pair in query.split("&")] if query else []


def _pair(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return _component(name), _component(value)


def _component(text: str) -> str:
    return quote(unquote_to_bytes(text.replace("+", " ")), safe=_UNRESERVED)


# bodies


def _body(request: Request) -> bytes:
    if request.body is None:
        return b"absent"
    tree = body_tree(request)
    if isinstance(tree, bytes):
        return b"bytes:" + tree
    return b"tree:" + _dump(tree)


def body_tree(request: Request) -> Json | bytes:
    """What a body says as a tree of JSON values, or its bytes, content coding undone, where it says nothing that we can
    read."""
    data = request.body or b""
    plain = codings.undo(data, request.headers)
    if plain is None or not plain.strip():
        return data if plain is None else plain
    kind = (header(request.headers, "content-type") or "").lower()
    if "multipart/" in kind:
        return _multipart(plain, request.headers)
    try:
        return _meaning(parse(plain))
    except NotJson:
        pass
    if "x-www-form-urlencoded" in kind:
        return {"form": [list(_pair(pair)) for pair in plain.decode("latin-1").split("&")]}
    return plain


def parse(text: bytes | str) -> Json:
    """Strict JSON: NotJson for duplicate keys, NaN, nesting without end, or anything that is not UTF-8. Numbers stay exact."""
    try:
        return json.loads(
            text.decode("utf-8") if isinstance(text, bytes) else text,
            parse_float=_number,
            parse_int=_integer,
            parse_constant=_refuse,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError):
        raise NotJson from None


class Number(str):
    """A number in its one spelling, apart from a string that reads the same."""

    __slots__ = ()


def _integer(text: str) -> Number:
    return Number("0" if text in ("0", "-0") else text)


def _number(text: str) -> Number:
    value = Decimal(text)
    if not value:
        return Number("0")
    normal = value.normalize()
    exponent = normal.as_tuple().exponent
    if isinstance(exponent, int) and 0 <= exponent <= 400:
        return Number(f"{normal:f}")
    return Number(str(normal).upper())


def _refuse(text: str) -> Json:
    raise NotJson(text)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("duplicate keys")
    return found


def _meaning(tree: Json) -> Json:
    """What is no meaning set aside."""
    if isinstance(tree, list) and tree and all(_is_rpc(each) for each in tree):
        return sorted((_rpc(each) for each in tree), key=_dump)
    if _is_rpc(tree):
        return _rpc(tree)
    if isinstance(tree, dict) and isinstance(tree.get("tools"), list):
        tree = {**tree, "tools": sorted(tree["tools"], key=_dump)}
    return tree


def _is_rpc(tree: Json) -> bool:
    return isinstance(tree, dict) and "jsonrpc" in tree


def _rpc(message: dict[str, Json]) -> Json:
    kept = {name: value for name, value in message.items() if name != "id"} | ({"id": None} if "id" in message else {})
    params = kept.get("params")
    if isinstance(params, dict) and isinstance(meta := params.get("_meta"), dict) and "progressToken" in meta:
        kept["params"] = {**params, "_meta": {**meta, "progressToken": None}}
    return kept


def _dump(tree: Json) -> bytes:
    """One spelling: sorted names, no white space, numbers and inner JSON marked apart from strings."""
    return json.dumps(_marked(tree, 0), ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _marked(tree: Json, depth: int) -> Json:
    if isinstance(tree, dict):
        return {name: _marked(value, depth + 1) for name, value in tree.items() if not is_cache_marker(name, value)}
    if isinstance(tree, list):
        return [_marked(each, depth + 1) for each in tree]
    if isinstance(tree, Number):
        return f"\x00n{tree}"
    if isinstance(tree, str):
        inner = _inner(tree) if depth < _DEEPEST else None
        return f"\x00s{tree}" if inner is None else ["\x00j", inner]
    return tree


def is_cache_marker(name: str, value: Json) -> bool:
    return name == "cache_control" and (value is None or (isinstance(value, dict) and "type" in value))


def _inner(text: str) -> Json:
    """The structure of JSON inside a string, its numbers as they are written; None where it is no object or list."""
    if text[:1].strip() not in ("{", "[") and text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text, parse_float=_written, parse_int=_written, parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return _plain(found)


def _written(text: str) -> Number:
    return Number(text)


def _plain(tree: Json) -> Json:
    if isinstance(tree, dict):
        return {name: _plain(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [_plain(each) for each in tree]
    return f"\x00w{tree}" if isinstance(tree, Number) else tree


def _multipart(data: bytes, headers: Headers) -> Json | bytes:
    """The parts in their order, the boundary left out."""
    found = re.search(r'boundary="?([^";,]+)"?', header(headers, "content-type") or "", re.IGNORECASE)
    if not found:
        return data
    mark = b"--" + found[1].encode("latin-1")
    parts = data.split(mark)
    if len(parts) < 3 or not parts[-1].startswith(b"--"):
        return data
    return {"parts": [part.strip(b"\r\n").decode("latin-1") for part in parts[1:-1]]}


def as_values(tree: Any) -> Json:
    """The tree as JSON values for people: numbers as numbers again."""
    if isinstance(tree, Number):
        return json.loads(tree) if len(tree) < 300 else str(tree)
    if isinstance(tree, dict):
        return {name: as_values(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [as_values(each) for each in tree]
    return tree
