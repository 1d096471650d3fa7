"""Known secrets never reach the disk: what is replaced, and by which placeholder.

A secret is known by its name (a credential header, parameter or member), by its shape (a provider's key) or by its value (a
variable that the child received, or a value once seen under a secret name). Each gets a numbered placeholder, the same
wherever it stands; never a hash, which can be guessed. Everything else stays as it is, to the byte. Pure: text in, text out.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, quote_plus, unquote_plus

from wiretape.traces import codings
from wiretape.traces.edits import Edit, cut, edited, merged, window
from wiretape.traces.errors import UsageError
from wiretape.traces.secrets import (
    MARK,
    PLACEHOLDER,
    SHAPES,
    is_secret_header,
    is_secret_name,
    is_secret_parameter,
    shaped,
)
from wiretape.traces.settings import RedactSettings
from wiretape.traces.spans import StringValue, string_values
from wiretape.traces.types import Headers, Request, header

__all__ = ["Redactor", "StreamRedactor", "plain_path"]

_SHORTEST = 8
"""A value shorter than this is replaced where it stands under a secret name, and not searched for elsewhere; a cookie that
is shorter (`theme=dark`) is no secret."""

_LOGPROBS = frozenset({b"logprob", b"bytes", b"top_logprobs", b"score"})
"""A member `token` beside one of these is a piece of text, not a credential."""

_DEPTH = 4
"""How many layers of JSON inside JSON strings are looked into."""

_SCHEMES = ("bearer ", "basic ", "token ")
_DIGESTS = frozenset({"etag", "content-md5", "digest", "content-digest", "repr-digest", "x-amz-checksum-sha256"})
_URLS = frozenset({"location", "referer", "content-location", "link"})


class Redactor:
    """One for each recording: it numbers the placeholders and knows the secrets seen so far."""

    def __init__(self, settings: RedactSettings) -> None:
        self._off = settings.mode == "off"
        self._placeholders: dict[bytes, bytes] = {}
        self._values: dict[bytes, bytes] = {}
        """What is searched for: each form of a known value → its placeholder."""
        self._headers = frozenset(rule.header.lower() for rule in settings.rules if rule.header)
        self._paths = frozenset(plain_path(rule.json_path) for rule in settings.rules if rule.json_path)
        self.count = 0
        """Replacements made so far."""
        self.know(settings.values)

    def know(self, secrets: Iterable[str]) -> None:
        """Values to replace from now on, wherever they stand."""
        for value in sorted(secrets, key=len, reverse=True):
            self._know(value.encode())

    # whole things

    def request(self, request: Request) -> Request:
        if self._off:
            return request
        # Head first: what stands there under a secret name is then known in the body too.
        url, headers = self.url(request.url), self.headers(request.headers)
        body = request.body and self.body(request.body, request.headers)
        if body != request.body:
            headers = tuple((name, value) for name, value in headers if name.lower() not in _DIGESTS)
        return replace(request, url=url, headers=headers, body=body)

    def headers(self, headers: Headers) -> Headers:
        """Values by name, by shape and by value."""
        if self._off:
            return headers
        return tuple((name, self._header(name, value)) for name, value in headers)

    def url(self, url: str) -> str:
        if self._off:
            return url
        place, question, query = url.partition("?")
        pairs = "&".join(map(self._pair, query.split("&"))) if question else ""
        return self.text(f"{_without_password(place)}{question}{pairs}")

    def text(self, text: str) -> str:
        """By shape and by value alone."""
        data = text.encode("utf-8", "surrogateescape")
        return self._apply(data, self._searched(data)).decode("utf-8", "surrogateescape")

    def body(self, data: bytes, headers: Headers) -> bytes:
        """A whole body as it was on the wire; in the same content coding where it has one that is known."""
        if self._off or not data:
            return data
        if codings.codings(headers):
            plain = codings.undo(data, headers)
            if plain is None:
                return data
            redacted = self._apply(plain, self._edits(plain, headers))
            return data if redacted == plain else codings.redo(redacted, headers)
        return self._apply(data, self._edits(data, headers))

    def stream(self, headers: Headers) -> StreamRedactor:
        """For a response body that comes in pieces."""
        return StreamRedactor(self, headers)

    # headers, parameters

    def _header(self, name: str, value: str) -> str:
        low = name.lower()
        if low in _URLS:
            return self.url(value)
        if low == "cookie":
            return "; ".join(map(self._cookie, value.split("; ")))
        if low == "set-cookie":
            cookie, semicolon, rest = value.partition(";")
            return self._cookie(cookie) + semicolon + rest
        if is_secret_header(name) or low in self._headers:
            return self._credential(value)
        return self.text(value)

    def _cookie(self, pair: str) -> str:
        name, equals, value = pair.partition("=")
        return f"{name}={self._replaced(value)}" if len(value) >= _SHORTEST else f"{name}{equals}{value}"

    def _credential(self, value: str) -> str:
        scheme = next((value[: len(each)] for each in _SCHEMES if value.lower().startswith(each)), "")
        return scheme + self._replaced(value[len(scheme) :])

    def _pair(self, pair: str) -> str:
        name, equals, value = pair.partition("=")
        if not (value and is_secret_parameter(unquote_plus(name))):
            return pair
        return f"{name}{equals}{quote(self._replaced(unquote_plus(value)), safe='')}"

    def _replaced(self, secret: str) -> str:
        if not secret:
            return secret
        self.count += 1
        return self._know(secret.encode("utf-8", "surrogateescape")).decode()

    # secrets and their placeholders

    def _know(self, secret: bytes) -> bytes:
        """The placeholder of a secret, which is searched for from now on."""
        if PLACEHOLDER.search(secret):
            return secret
        if secret not in self._placeholders:
            prefix = next((prefix for prefix, shape in SHAPES if shape.fullmatch(secret)), "")
            placeholder = f"{prefix}{MARK}{len(self._placeholders) + 1:04}".encode()
            self._placeholders[secret] = placeholder
            if len(secret) >= _SHORTEST:
                for form in _forms(secret):
                    self._values.setdefault(form, placeholder)
        return self._placeholders[secret]

    # bodies: where to replace what

    def _edits(self, data: bytes, headers: Headers) -> list[Edit]:
        found = list(self._named(data, (header(headers, "content-type") or "").lower()))
        for start, end, _ in found:
            self._know(_unquoted(data[start:end]))
        return merged(found, self._searched(data))

    def _named(self, data: bytes, content_type: str) -> Iterator[Edit]:
        start = data.lstrip()[:1]
        if "event-stream" in content_type or "ndjson" in content_type or data.startswith((b"data:", b"event:", b"id:", b":")):
            yield from self._lines(data)
        elif start in (b"{", b"[", b'"'):
            yield from self._json(data, 0, len(data), _DEPTH)
        elif "multipart/" in content_type:
            yield from self._multipart(data)
        elif b"=" in data[:512] and b"\n" not in data[:512] and b"\x00" not in data[:512]:
            yield from self._form(data)

    def _lines(self, data: bytes) -> Iterator[Edit]:
        at = 0
        for line in data.splitlines(keepends=True):
            opened = min((place for mark in (b"{", b"[") if (place := line.find(mark)) >= 0), default=-1)
            if opened >= 0:
                yield from self._json(data, at + opened, at + len(line), _DEPTH)
            at += len(line)

    def _json(self, data: bytes, start: int, end: int, depth: int) -> Iterator[Edit]:
        for value in string_values(data, start, end):
            text = data[value.start : value.end]
            if text and (_is_credential(value) or value.path in self._paths):
                if not PLACEHOLDER.search(text):
                    yield value.start, value.end, self._know(_unquoted(text))
            elif depth and text.lstrip()[:1] in (b"{", b"[") and b'\\"' in text:
                yield from self._inner(value.start, value.end, text, depth)
            elif b"\\u" in text:
                yield from self._escaped(value.start, value.end, text)

    def _escaped(self, start: int, end: int, text: bytes) -> Iterator[Edit]:
        """A secret that some of its characters' escapes hide."""
        plain = _unquoted(text)
        if edits := self._searched(plain):
            yield start, end, _quoted(self._apply(plain, edits))

    def _inner(self, start: int, end: int, text: bytes, depth: int) -> Iterator[Edit]:
        """JSON inside a JSON string: unquoted, edited, quoted again."""
        inner = _unquoted(text)
        edits = merged(list(self._json(inner, 0, len(inner), depth - 1)), [])
        if edits:
            yield start, end, _quoted(self._apply(inner, edits))

    def _form(self, data: bytes) -> Iterator[Edit]:
        at = 0
        for pair in data.split(b"&"):
            name, _, value = pair.partition(b"=")
            if value and is_secret_parameter(unquote_plus(name.decode("latin-1"))) and not PLACEHOLDER.search(value):
                start = at + len(pair) - len(value)
                yield start, at + len(pair), self._know(unquote_plus(value.decode("latin-1")).encode())
            at += len(pair) + 1

    def _multipart(self, data: bytes) -> Iterator[Edit]:
        at = 0
        while (found := data.find(b'name="', at)) >= 0:
            name, _, _ = data[found + 6 : found + 262].partition(b'"')
            start = data.find(b"\r\n\r\n", found)
            if start < 0:
                return
            end = data.find(b"\r\n--", start + 4)
            end = len(data) if end < 0 else end
            if is_secret_name(name.decode("latin-1")) and end > start + 4:
                yield start + 4, end, self._know(data[start + 4 : end])
            at = end

    def _searched(self, data: bytes) -> list[Edit]:
        """By shape, then by value."""
        found: list[Edit] = [(match.start(), match.end(), self._know(match[0])) for match in shaped(data)]
        for value, placeholder in self._values.items():
            at = data.find(value)
            while at >= 0:
                found.append((at, at + len(value), placeholder))
                at = data.find(value, at + len(value))
        return merged(found, [])

    def _apply(self, data: bytes, edits: list[Edit]) -> bytes:
        if not edits or self._off:
            return data
        self.count += len(edits)
        return b"".join(edited(data, edits))


class StreamRedactor:
    """Pieces in, redacted pieces out: one for each, in order, their lengths may change.

    Lines of event streams go out as soon as they are whole, since no secret spans a line end. JSON and encoded bodies are
    held until the end; what is no text goes out as it is.
    """

    _LONGEST_LINE = 1 << 18

    def __init__(self, redactor: Redactor, headers: Headers) -> None:
        self._redactor = redactor
        self._headers = headers
        kind = (header(headers, "content-type") or "").lower()
        coded = bool(codings.codings(headers))
        self._by_line = not coded and any(word in kind for word in ("event-stream", "ndjson", "jsonl", "text/plain"))
        self._opaque = redactor._off or (
            not coded and kind.startswith(("image/", "audio/", "video/", "application/vnd.amazon"))
        )
        self._sizes: deque[int] = deque()
        """Lengths of the pieces whose bytes are not all out yet: the first is what is left of it to come."""
        self._held = bytearray()
        self._ready = bytearray()
        """The redacted beginning of the first of them."""

    def feed(self, data: bytes) -> list[bytes]:
        if self._opaque:
            return [data]
        self._sizes.append(len(data))
        self._held += data
        if not self._by_line:
            return []
        end = max(self._held.rfind(b"\n"), self._held.rfind(b"\r")) + 1
        if not end and len(self._held) > self._LONGEST_LINE:
            end = len(self._held) - 4096
        return self._release(end) if end else []

    def close(self) -> list[bytes]:
        """The rest; a piece that was empty is one too."""
        if codings.codings(self._headers) and self._held:
            return self._release_coded()
        out = self._release(len(self._held))
        return out + [b"" for _ in range(len(self._sizes))]

    def _release_coded(self) -> list[bytes]:
        data = bytes(self._held)
        redacted = self._redactor.body(data, self._headers)
        if redacted == data:
            return cut(data, self._sizes)
        # The coded bytes are other ones now: what came in pieces is one.
        return [redacted, *(b"" for _ in range(len(self._sizes) - 1))]

    def _release(self, end: int) -> list[bytes]:
        unit = bytes(self._held[:end])
        del self._held[:end]
        edits = self._redactor._edits(unit, self._headers)
        self._redactor.count += len(edits)
        out: list[bytes] = []
        at = 0
        while self._sizes and at + self._sizes[0] <= end:
            size = self._sizes.popleft()
            out.append(bytes(self._ready) + b"".join(window(unit, edits, at, at + size)))
            self._ready.clear()
            at += size
        if at < end:
            self._ready += b"".join(window(unit, edits, at, end))
            self._sizes[0] -= end - at
        return out


def plain_path(path: str) -> tuple[bytes, ...]:
    """The names in `$.customer.email`; places in lists are passed over. UsageError for what is no plain path."""
    if not re.fullmatch(r"\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[(\d+|\*)\])+", path):
        raise UsageError(f"capture.redact: expected a plain path such as $.customer.email, got {path!r}.")
    return tuple(name.encode() for name in re.findall(r"\.([^.\[]+)", path))


def _is_credential(value: StringValue) -> bool:
    if not is_secret_name(value.name.decode("latin-1")):
        return False
    return not (value.name.lower() == b"token" and value.siblings & _LOGPROBS)


def _unquoted(text: bytes) -> bytes:
    """The value that the inside of a JSON string stands for."""
    if b"\\" not in text:
        return text
    try:
        found: str = json.loads(b'"' + text + b'"', strict=False)
    except ValueError:
        return text
    return found.encode("utf-8", "surrogatepass")


def _quoted(value: bytes) -> bytes:
    """The inside of a JSON string that stands for a value."""
    return json.dumps(value.decode("utf-8", "surrogateescape"), ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")


def _forms(secret: bytes) -> Iterator[bytes]:
    """The ways in which a secret is written: plain, percent-encoded, inside a JSON string."""
    yield secret
    text = secret.decode("utf-8", "surrogateescape")
    for form in (
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
    ):
        if (data := form.encode("utf-8", "surrogateescape")) != secret:
            yield data


def _without_password(place: str) -> str:
    """A URL's part before the query, its user information replaced."""
    scheme, separator, rest = place.partition("://")
    authority, slash, path = rest.partition("/")
    if "@" not in authority:
        return place
    return f"{scheme}{separator}{MARK}0000@{authority.rpartition('@')[2]}{slash}{path}"
