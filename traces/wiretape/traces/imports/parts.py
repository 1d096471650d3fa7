"""Requests and responses out of what foreign files hold, so that heads and bodies agree (DESIGN.md, principle 6).

Other recorders take content codings and charsets off bodies and leave the heads as they were. Here a body that is decoded
loses its `content-encoding`, a wrong `content-length` is put right, and both are told as losses.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from wiretape.traces import codings
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Losses, Unkept
from wiretape.traces.types import Headers, Request, Response, header

__all__ = [
    "STREAM",
    "encoded",
    "fields",
    "line",
    "micros",
    "refuse_lost",
    "request",
    "response",
    "sent",
    "streamed",
    "target",
    "version",
]

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_PLACEHOLDER = re.compile(r"<([A-Za-z][A-Za-z0-9_]*)>(/[!-~]*)?")
"""What filters of cassettes put in the place of a base URL, `<OLLAMA_API_BASE>/chat/completions`."""
_REPLACED = "its scheme and host, for which the file has a placeholder"
_EMPTY_CODED = 64
"""Bytes that a coding may make of nothing (gzip 20)."""
_LONGEST = 1e9
"""Seconds, some thirty years: a number beyond is none that anybody measured."""
STREAM = "the pieces that its event stream came in, and their times"


def request(
    source: Fields, url: str, method: str, headers: Headers, body: bytes, http_version: str = "HTTP/1.1"
) -> tuple[Request, Losses]:
    """Unkept for a URL that is no HTTP, InvalidFile for what is no request."""
    if not _TOKEN.fullmatch(method):
        raise source.fault("method", "expected an HTTP method")
    place, replaced = target(source, url)
    headers, losses = _settled(headers, body)
    return Request(method.upper(), place, headers, sent(body, headers), http_version), (*replaced, *losses)


def sent(body: bytes, headers: Headers) -> bytes | None:
    """A request's body, which is empty only where its head promises one."""
    framed = header(headers, "content-length") or header(headers, "transfer-encoding")
    return body if body or framed else None


def refuse_lost(source: Fields, headers: Headers, body: bytes, told: float = 0) -> None:
    """A fault where a body was not empty and comes out empty: by its head, or by the length that the file tells beside it."""
    promised = (header(headers, "content-length") or "").strip()
    least = _EMPTY_CODED if codings.codings(headers) else 0
    if not body and (told > 0 or (promised.isdecimal() and int(promised[:15]) > least)):
        raise source.fault("body", "it was not empty by its length, and none of it is in the file; record it anew")


def response(
    status: int, reason: str, headers: Headers, body: bytes, *, at: int = 0, http_version: str = "HTTP/1.1", cut: bool = False
) -> tuple[Response, Losses]:
    """`at`: when the body was there, in microseconds. `cut`: it ended early, so that its length is only promised."""
    headers, losses = _settled(headers, body, cut=cut) if body else (headers, ())
    if streamed(headers):
        losses = (*losses, STREAM)
    return Response(status, headers, body, line(reason), http_version, chunks=((at, len(body)),) if body else ()), losses


def micros(seconds: float) -> int:
    """Whole microseconds that a store can hold; what lies before the start is at it."""
    return round(min(max(seconds, 0), _LONGEST) * 1e6)


def streamed(headers: Headers) -> bool:
    return "event-stream" in (header(headers, "content-type") or "")


def line(text: str) -> str:
    """Without line ends, which would end it on the wire too."""
    return " ".join(text.split())


def fields(pairs: Iterable[tuple[str, str]]) -> tuple[Headers, Losses]:
    """Without HTTP/2's pseudo fields; those that browsers join by line ends apart again."""
    kept: list[tuple[str, str]] = []
    losses: list[str] = []
    for name, value in pairs:
        if _TOKEN.fullmatch(name):
            kept += [(name, _latin(part.strip("\r"))) for part in value.split("\n")]
        elif not name.startswith(":"):
            losses.append("a header whose name is none")
    return tuple(kept), tuple(losses)


def version(text: str) -> tuple[str, Losses]:
    """As INTERFACE.md writes it; a browser's `h2`, and nothing where it is unknown."""
    name = text.upper()
    if name in ("H2", "HTTP/2", "HTTP/2.0"):
        return "HTTP/2", ()
    if name in ("H3", "HTTP/3", "HTTP/3.0"):
        return "HTTP/2", ("HTTP/3, which stands as HTTP/2",)
    return ("HTTP/1.0" if name == "HTTP/1.0" else "HTTP/1.1"), ()


def encoded(text: str, content_type: str) -> tuple[bytes, Losses]:
    """The bytes of a body that the file holds as text, in the charset that its type names."""
    found = re.search(r"charset\s*=\s*\"?([\w.:-]+)", content_type, re.IGNORECASE)
    name = found[1] if found else "utf-8"
    try:
        if codecs.lookup(name)._is_text_encoding:
            # Half characters are how mitmproxy writes bytes that are no text.
            return text.encode(name, "surrogateescape"), ()
    except (LookupError, UnicodeError, ValueError):
        pass
    return text.encode("utf-8", "replace"), ("the spelling of its characters, which stand in UTF-8",)


def target(source: Fields, url: str) -> tuple[str, Losses]:
    """Absolute, without a fragment; a WebSocket's as that of the request which opens it."""
    scheme, separator, rest = url.partition("#")[0].partition("://")
    if found := _PLACEHOLDER.fullmatch(url):
        return f"http://{found[1].lower().replace('_', '-')}.invalid{found[2] or '/'}", (_REPLACED,)
    scheme = {"ws": "http", "wss": "https"}.get(scheme.lower(), scheme.lower())
    if not separator or scheme not in ("http", "https"):
        raise Unkept("its URL is no http, https, ws or wss")
    if not rest.isprintable() or " " in rest or not _has_host(f"{scheme}://{rest}"):
        raise source.fault("url", "expected an absolute URL")
    end = min((at for mark in "/?" if (at := rest.find(mark)) >= 0), default=len(rest))
    path = rest[end:] if rest[end:].startswith("/") else f"/{rest[end:]}"
    return f"{scheme}://{rest[:end]}{path}", ()


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _settled(headers: Headers, body: bytes, *, cut: bool = False) -> tuple[Headers, Losses]:
    losses: tuple[str, ...] = ()
    if body and codings.codings(headers) and not _coded(body, headers):
        losses = (f"the content coding ({', '.join(codings.codings(headers))}): the file holds the body decoded",)
        headers = _without(headers, "content-encoding")
    said = header(headers, "content-length")
    if said is None or (said.strip() == str(len(body)) and not cut):
        return headers, losses
    if cut:
        return _promised(headers, said, body), losses
    return _with_length(headers, str(len(body))), losses or ("the length that its head promised is not that of its body",)


def _promised(headers: Headers, said: str, body: bytes) -> Headers:
    """Of a body that was cut: a head by which a client sees it. A length that the body has already would hide it."""
    if said.strip().isdecimal() and len(said) < 16 and int(said) > len(body):
        return headers
    return (*_without(headers, "content-length"), ("Transfer-Encoding", "chunked"))


def _coded(body: bytes, headers: Headers) -> bool:
    """Whether a body has its codings still on; one that was cut or is too large to unpack too."""
    if magic := _MAGIC.get(codings.codings(headers)[-1]):
        return body.startswith(magic)
    return codings.undo(body, headers) is not None or len(codings.undo(body, headers, partial=True) or b"") >= codings.LIMIT


def _without(headers: Headers, name: str) -> Headers:
    return tuple(pair for pair in headers if pair[0].lower() != name)


def _with_length(headers: Headers, length: str) -> Headers:
    """In the place and spelling of the first one."""
    at = next(at for at, (name, _) in enumerate(headers) if name.lower() == "content-length")
    return (*headers[:at], (headers[at][0], length), *_without(headers[at + 1 :], "content-length"))


def _latin(value: str) -> str:
    """Each byte one character, as types.py has header fields."""
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode("latin-1")
    return value
