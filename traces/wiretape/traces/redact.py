"""Known secrets never reach the disk: what is replaced, and by which placeholder.

A secret is known by its name (a credential header, parameter or member), by its shape (a provider's key) or by its value (a
variable that the child received, or a value once seen under a secret name). Each gets a numbered placeholder, the same
wherever it stands; never a hash, which can be guessed. Everything else stays as it is, to the byte. Pure: text in, text out.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote, unquote, unquote_plus

from wiretape.traces import codings
from wiretape.traces.assembly import Assembly
from wiretape.traces.edits import Edit, edited, merged
from wiretape.traces.errors import UsageError
from wiretape.traces.known import SHORTEST, Known
from wiretape.traces.named import Names
from wiretape.traces.secrets import (
    ANYONES,
    SHAPES,
    STRICT_SHAPES,
    is_secret_header,
    is_secret_member,
    is_secret_parameter,
    is_signature,
)
from wiretape.traces.settings import RedactSettings
from wiretape.traces.types import Headers, Request, header

__all__ = ["LIVE", "WITHHELD", "Redactor", "plain_path", "without_digests"]

LIVE = 1_000_000
"""Where the placeholders of a replay are numbered from, so that none is taken for one that a recorded answer handed out."""

WITHHELD = "wtwithheld"
"""With a number: what stands for a body in which no secret could be looked for."""

_SCHEMES = ("bearer ", "basic ", "token ")
_DIGESTS = frozenset({"etag", "content-md5", "digest", "content-digest", "repr-digest", "x-amz-checksum-sha256"})
_URLS = frozenset({"location", "referer", "content-location", "link"})
_GOOGLE = re.compile(r"googleapis\.com(?::\d+)?/|/v1\w*/(?:models|tunedModels|cachedContents|files)\b")
"""Where the parameter `key` is an API key, whatever it looks like."""


class Redactor:
    """One for each recording: it numbers the placeholders from `first` and knows the secrets seen so far."""

    def __init__(self, settings: RedactSettings, first: int = 1) -> None:
        self.off = settings.mode == "off"
        self._strict = settings.mode == "strict"
        self._known = Known(SHAPES + STRICT_SHAPES if self._strict else SHAPES, first)
        self._headers = frozenset(rule.header.lower() for rule in settings.rules if rule.header)
        paths = frozenset(plain_path(rule.json_path) for rule in settings.rules if rule.json_path)
        self._names = Names(self._strict, paths)
        self.count = 0
        """Replacements made so far."""
        self.withheld = 0
        """Bodies in which no secret could be looked for: none of their bytes is kept."""
        self._first = first
        self.know(settings.values)

    def know(self, secrets: Iterable[str]) -> None:
        """Values to replace from now on, wherever they stand."""
        for value in sorted(secrets, key=len, reverse=True):
            self._known.learn(value.encode("utf-8", "surrogateescape"))

    # whole things

    def request(self, request: Request) -> Request:
        if self.off:
            return request
        # Head first: what stands there under a secret name is then known in the body too.
        url, headers = self.url(request.url), self.headers(request.headers)
        body = request.body and self.body(request.body, request.headers)
        if body != request.body:
            headers = without_digests(headers)
        return replace(request, url=url, headers=headers, body=body)

    def headers(self, headers: Headers) -> Headers:
        """Values by name, by shape and by value."""
        if self.off:
            return headers
        return tuple((name, self._header(name, value)) for name, value in headers)

    def url(self, url: str) -> str:
        if self.off:
            return url
        place, *rest = re.split(r"([?&#])", url)
        google = bool(_GOOGLE.search(place))
        pairs = (self._pair(piece, google=google) if "=" in piece else piece for piece in rest)
        return self.text("".join((self._without_password(place), *pairs)))

    def text(self, text: str) -> str:
        """By shape and by value alone."""
        data = text.encode("utf-8", "surrogateescape")
        return self._apply(data, self._known.edits(data)).decode("utf-8", "surrogateescape")

    def named(self, name: str, text: str) -> str:
        """A text that goes by a name, as a label does."""
        return self._replaced(text) if is_secret_member(name, text, strict=self._strict) else self.text(text)

    def body(self, data: bytes, headers: Headers) -> bytes:
        """A whole body as it was on the wire; in the same content coding where it has one that is known."""
        if self.off or not data:
            return data
        if codings.codings(headers):
            return self._coded(data, headers)
        return self._apply(data, self.edits(data, headers))

    # what bodies in pieces are redacted with

    def assembly(self) -> Assembly:
        return Assembly(self._known, self._names)

    def edits(self, data: bytes, headers: Headers) -> list[Edit]:
        """Where to replace what in a whole body that has no content coding."""
        kind = (header(headers, "content-type") or "").lower()
        if _has_events(data, kind):
            assembly = self.assembly()
            return merged(assembly.unit(data) + assembly.close())
        named = self._known.replacing([*self._names.body(data, kind), *self._names.urls(data)])
        numbers = [
            (start, end, mark + self._known.placeholder(digits) + mark)
            for start, end, digits, mark in self._names.numbers(data)
        ]
        return merged(numbers + named + self._known.edits(data))

    def tell(self, edits: list[Edit]) -> None:
        """These were made."""
        self.count += sum(bool(new) for _, _, new in edits)

    def _coded(self, data: bytes, headers: Headers) -> bytes:
        """Fails closed: what cannot be read is withheld. An unknown coding is looked through as it is written."""
        plain = codings.undo(data, headers)
        whole = plain is not None
        if plain is None and codings.is_cut(data, headers):
            plain = codings.undo(data, headers, partial=True)
        if plain is not None:
            edits = self.edits(plain, headers)
            return codings.redo(self._apply(plain, edits), headers, whole=whole) if edits else data
        if _is_text(data):  # plain under a wrong label
            return self._apply(data, self.edits(data, headers))
        if not codings.is_known(headers) and not self._known.edits(data):
            return data
        self.withheld += 1
        return f"{WITHHELD}{self._first + self.withheld - 1:04}".encode()

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
        """One that is short (`theme=dark`) is no secret."""
        name, equals, value = pair.partition("=")
        return f"{name}={self._replaced(value)}" if len(value) >= SHORTEST else f"{name}{equals}{value}"

    def _credential(self, value: str) -> str:
        scheme = next((value[: len(each)] for each in _SCHEMES if value.lower().startswith(each)), "")
        if scheme.lower() == "basic ":
            self._known.learn(_password(value[len(scheme) :]))
        return scheme + self._replaced(value[len(scheme) :])

    def _pair(self, pair: str, *, google: bool) -> str:
        name, equals, value = pair.partition("=")
        plain, secret = unquote_plus(name), unquote_plus(value)
        if value and is_signature(plain):
            self.count += 1
            return f"{name}={ANYONES}"
        if not (value and (is_secret_parameter(plain, secret, strict=self._strict) or (google and plain == "key"))):
            return pair
        return f"{name}{equals}{quote(self._replaced(secret), safe='')}"

    def _without_password(self, place: str) -> str:
        """A URL's part before the query, its user information replaced."""
        scheme, separator, rest = place.partition("://")
        authority, slash, path = rest.partition("/")
        user, at, host = authority.rpartition("@")
        if not at:
            return place
        self._known.learn(unquote(user.partition(":")[2]).encode())
        return f"{scheme}{separator}{ANYONES}@{host}{slash}{path}"

    def _replaced(self, secret: str) -> str:
        if self.off or not secret:
            return secret
        self.count += 1
        return self._known.placeholder(secret.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def _apply(self, data: bytes, edits: list[Edit]) -> bytes:
        if not edits or self.off:
            return data
        self.tell(edits)
        return b"".join(edited(data, edits))


def without_digests(headers: Headers) -> Headers:
    """For a body that was changed: those over its bytes no longer hold."""
    return tuple((name, value) for name, value in headers if name.lower() not in _DIGESTS)


def plain_path(path: str) -> tuple[bytes, ...]:
    """The names in `$.customer.email`; places in lists are passed over. UsageError for what is no plain path."""
    if not re.fullmatch(r"\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[(\d+|\*)\])+", path):
        raise UsageError(f"capture.redact: expected a plain path such as $.customer.email, got {path!r}.")
    return tuple(name.encode() for name in re.findall(r"\.([^.\[]+)", path))


def _has_events(data: bytes, kind: str) -> bool:
    """Several events in one body: lines of an event stream, or the elements of a JSON array."""
    if "event-stream" in kind or "ndjson" in kind or "jsonl" in kind:
        return True
    return data.startswith((b"data:", b"event:", b"id:", b":")) or data.lstrip()[:1] == b"["


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4 and b"\0" not in data
    return b"\0" not in data


def _password(basic: str) -> bytes:
    try:
        return base64.b64decode(basic, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""
