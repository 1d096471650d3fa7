"""Secrets that stand under a secret name: where, in any kind of body. Pure; what does not parse has none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_plus

from wiretape.traces.edits import Edit
from wiretape.traces.secrets import is_secret_member, is_secret_parameter
from wiretape.traces.spans import StringValue, string_values
from wiretape.traces.views import DEPTH, View, meant, unescaped, views

__all__ = ["Names"]

_LOGPROBS = frozenset({b"logprob", b"bytes", b"top_logprobs", b"score"})
"""A member `token` beside one of these is a piece of text, not a credential."""

_NUMBER = re.compile(rb'"([^"\\]{1,60})"\s*:\s*(\d{4,})(?![\d.eE])')
"""A password of digits alone. Fewer than four are a count or a length."""

_NUMBER_BEGINS = re.compile(rb'"\s*:\s*\d{4}')

_MEMBER = re.compile(rb'"([^"\\]{1,60})"\s*:\s*"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_OPEN_MEMBER = re.compile(rb'"[\w .-]{0,60}(?:"\s*(?::\s*)?)?\Z')

_PARAMETER = re.compile(rb"[?&#]([A-Za-z][\w.-]{1,40})=([^\s&#\"'<>\\)\]}]+)")
_FORM = re.compile(rb"\s*[\w.\-+%\[\]]{1,80}=")
_PART = re.compile(
    rb'^content-disposition:[^\r\n]*?[;\s]name\s*=\s*(?:"([^"\r\n]*)"|([^;\s]+))[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n',
    re.IGNORECASE | re.MULTILINE,
)
_BOUNDARY = re.compile(rb"\r?\n--|\Z")


@dataclass(frozen=True, slots=True)
class Names:
    """`paths`: places that the user names, as the names from the outermost object."""

    strict: bool = False
    paths: frozenset[tuple[bytes, ...]] = frozenset()

    def body(self, data: bytes, content_type: str) -> Iterator[Edit]:
        """(start, end, secret) of each, in whatever the body is."""
        start = len(data) - len(data.removeprefix(b"\xef\xbb\xbf").lstrip())
        if data[start : start + 1] in (b"{", b"[", b'"'):
            yield from self.json(data, start, len(data))
        elif "multipart/" in content_type:
            yield from self._multipart(data)
        elif "form-urlencoded" in content_type or _FORM.match(data):
            yield from self._form(data)

    def json(self, data: bytes, start: int, end: int) -> Iterator[Edit]:
        for value in string_values(data, start, end):
            yield from self.value(data, value)

    def numbers(self, data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
        """(start, end, digits, what quotes are written like there): no number can hold a placeholder, a text can."""
        for layer in views(data) if _NUMBER_BEGINS.search(data) else ():
            for found in _NUMBER.finditer(layer.text):
                if is_secret_member(found[1].decode("latin-1"), found[2].decode(), strict=self.strict):
                    quote = slice(*layer.written(found.start(), found.start() + 1))
                    yield *layer.written(*found.span(2)), found[2], data[quote]

    def urls(self, data: bytes) -> Iterator[Edit]:
        """In the queries of URLs that stand in a body, such as a signed one that was handed out."""
        for layer in views(data) if b"://" in data or b":\\/\\/" in data else ():
            for found in _PARAMETER.finditer(layer.text):
                name, value = (unquote_plus(part.decode("latin-1")) for part in found.groups())
                if is_secret_parameter(name, value, strict=self.strict):
                    yield *layer.written(*found.span(2)), value.encode("utf-8")

    def value(self, data: bytes, value: StringValue, depth: int = DEPTH) -> Iterator[Edit]:
        """The value itself, or what stands under a secret name in the JSON that it holds."""
        text = data[value.start : value.end]
        if text and (value.path in self.paths or self._is_secret(value, text)):
            yield value.start, value.end, meant(text)
        elif depth and b"\\" in text and (inner := unescaped(View(text))) and inner.text.lstrip()[:1] in (b"{", b"["):
            for each in string_values(inner.text):
                for start, end, secret in self.value(inner.text, each, depth - 1):
                    first, last = inner.written(start, end)
                    yield value.start + first, value.start + last, secret

    def _is_secret(self, value: StringValue, text: bytes) -> bool:
        if value.name == b"token" and value.siblings & _LOGPROBS:
            return False
        return is_secret_member(value.name.decode("latin-1"), meant(text).decode("utf-8", "replace"), strict=self.strict)

    def scan(self, text: bytes, *, final: bool) -> tuple[list[Edit], int]:
        """In a text that may be JSON and, unless `final`, goes on: the secrets, and from where on a member is open."""
        found: list[Edit] = []
        keep = len(text)
        for layer in views(text) if b'"' in text else ():
            spans, opened = self._members(layer.text, final=final)
            found += ((*layer.written(start, end), secret) for start, end, secret in spans)
            keep = min(keep, layer.written(opened, opened)[0])
        return found, keep

    def _members(self, text: bytes, *, final: bool) -> tuple[list[Edit], int]:
        found: list[Edit] = []
        end = 0
        for member in _MEMBER.finditer(text):
            end = member.end()
            secret = meant(member[2])
            if is_secret_member(member[1].decode("latin-1"), secret.decode("utf-8", "replace"), strict=self.strict):
                if not (member[3] or final):
                    return found, member.start()
                found.append((*member.span(2), secret))
        opened = _OPEN_MEMBER.search(text, max(end, len(text) - 80))
        return found, opened.start() if opened else len(text)

    def _form(self, data: bytes) -> Iterator[Edit]:
        at = 0
        for pair in data.split(b"&"):
            name, _, value = pair.partition(b"=")
            value = value.rstrip(b"\r\n")
            plain = unquote_plus(value.decode("latin-1"), "latin-1")
            if value and is_secret_parameter(unquote_plus(name.decode("latin-1")).strip(), plain, strict=self.strict):
                start = at + len(name) + 1
                yield start, start + len(value), plain.encode("latin-1")
            at += len(pair) + 1

    def _multipart(self, data: bytes) -> Iterator[Edit]:
        for part in _PART.finditer(data):
            name = (part[1] or part[2] or b"").decode("latin-1")
            end = _BOUNDARY.search(data, part.end())
            value = data[part.end() : end.start() if end else len(data)]
            if value and is_secret_member(name, value.decode("latin-1"), strict=self.strict):
                yield part.end(), part.end() + len(value), value
