"""The secrets of one recording: their numbers, and where they stand in a text, also one that goes on.

A secret is found by its value and by its shape, at every layer of escaping. Placeholders are numbered by first appearance, the
same for the same secret; never a hash, which can be guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wiretape.traces.edits import Edit, merged
from wiretape.traces.secrets import MARK, PLACEHOLDER, Shape
from wiretape.traces.views import DEPTH, View, open_escape, unescaped, unquoted, views

__all__ = ["SHORTEST", "Known"]

SHORTEST = 8
"""A value shorter than this is replaced where it stands under a secret name, and not searched for elsewhere."""

_SHORTEST_LINE = 20
"""The same of one line of a secret that has several: each is key material, however it is indented or quoted."""

_HEAD = 3
"""Bytes of a secret by which a text is passed over quickly."""

_RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_OPEN_KEY = re.compile(rb"-----BEGIN [A-Z ]*(?:-{0,4}|(?<=PRIVATE KEY)-----[^-]*-{0,5}(?:END [A-Z ]*-{0,5})?)\Z")


class Known:
    def __init__(self, shapes: tuple[Shape, ...], first: int) -> None:
        self._shapes = shapes
        self._next = first
        self._placeholders: dict[bytes, bytes] = {}
        self._forms: dict[bytes, bytes] = {}
        """What is searched for: each form of a known value → the value."""
        self._by_first: dict[int, list[bytes]] = {}
        self._hint: re.Pattern[bytes] | None = None

    def learn(self, secret: bytes) -> None:
        """Search for a value from now on, where it is long enough."""
        if len(secret) >= SHORTEST and not PLACEHOLDER.fullmatch(secret):
            for form in _forms(secret):
                if form not in self._forms:
                    self._forms[form] = secret
                    self._by_first.setdefault(form[0], []).append(form)
                    self._hint = None

    def placeholder(self, secret: bytes) -> bytes:
        """Of a secret, which is searched for from now on; what is a placeholder stays one."""
        if PLACEHOLDER.fullmatch(secret):
            return secret
        if secret not in self._placeholders:
            kept = next((shape.kept for shape in self._shapes if shape.pattern.fullmatch(secret)), "")
            self._placeholders[secret] = f"{kept}{MARK}{self._next:04}".encode()
            self._next += 1
            if not secret.isdigit():  # digits stand in ordinary numbers too
                self.learn(secret)
        return self._placeholders[secret]

    def edits(self, text: bytes) -> list[Edit]:
        """In a text that is whole."""
        return self.replacing(self._everywhere(views(text)))

    def replacing(self, spans: Iterable[Edit]) -> list[Edit]:
        """(start, end, secret) as replacements, free of overlaps."""
        return [
            (start, end, self.placeholder(secret)) for start, end, secret in merged(spans) if not PLACEHOLDER.fullmatch(secret)
        ]

    def scan(self, text: bytes) -> tuple[list[Edit], int]:
        """In a text that goes on: (start, end, secret) of what is found, and from where on a secret may still be under way."""
        hint = self._first_hint(text)
        if hint is None:
            return [], len(text)
        if len(hint[0]) < _HEAD and not {*hint[0]} & {*b"\\%"}:
            return [], hint.start()
        return list(self._everywhere(views(text))), self._open(text, DEPTH)

    def _first_hint(self, text: bytes) -> re.Match[bytes] | None:
        """Of a secret that is there, begins at the end, or hides behind an escape: nearly every text has none."""
        self._hint = self._hint or _hint({*self._forms, *(start for shape in self._shapes for start in shape.starts)})
        return self._hint.search(text)

    def _everywhere(self, layers: Iterable[View]) -> Iterator[Edit]:
        for layer in layers:
            for start, end, secret in self._found(layer.text):
                yield *layer.written(start, end), secret

    def _found(self, text: bytes) -> Iterator[Edit]:
        for shape in self._shapes:
            if any(start in text for start in shape.starts):
                yield from ((match.start(), match.end(), match[0]) for match in shape.pattern.finditer(text))
        for form, secret in self._forms.items():
            at = text.find(form)
            while at >= 0:
                yield at, at + len(form), secret
                at = text.find(form, at + len(form))

    def _open(self, text: bytes, depth: int) -> int:
        """An escape that is cut off may go on what stands before it, at every layer of escaping."""
        stem = text[: open_escape(text)]
        keep = min(self._open_in(each) for each in {stem, text})
        source = View(stem)
        for inner in (unescaped(source), unquoted(source)) if depth else ():
            if inner:
                keep = min(keep, inner.written(at := self._open(inner.text, depth - 1), at)[0])
        return keep

    def _open_in(self, text: bytes) -> int:
        return min(self._open_value(text), self._open_shape(text), _open_key(text))

    def _open_value(self, text: bytes) -> int:
        """Where the longest end of the text begins that a known value begins with; else the end."""
        size = len(text)
        found = [at for form in self._forms for at in _beginnings(text, form)]
        for at in range(max(0, size - 3), size):
            found += [at for form in self._by_first.get(text[at], ()) if form.startswith(text[at:])]
        return min(found, default=size)

    def _open_shape(self, text: bytes) -> int:
        """Where the word at the end begins, if a secret of some shape may begin so; a JSON Web Token is several words."""
        at = len(text.rstrip(_RUN))
        while at < len(text):
            if any(_may_be(shape, text[at:]) for shape in self._shapes):
                return at
            at = text.find(b".", at) + 1 or len(text)
        return len(text)


def _may_be(shape: Shape, word: bytes) -> bool:
    """Whether a secret of the shape may begin with this. A dot is the end of one that has none at its start."""
    if b"." in word and "." not in shape.kept:
        return False
    return any(word.startswith(start) or start.startswith(word) for start in shape.starts)


def _hint(secrets: Iterable[bytes]) -> re.Pattern[bytes]:
    """Matches an escape, the head of a secret, or less of it at the end. Each branch begins with a letter of its own: `re` then
    looks at nothing else."""
    heads = {re.escape(secret[:_HEAD]) for secret in secrets}
    tails = {re.escape(secret[:size]) + rb"\Z" for secret in secrets for size in range(1, _HEAD)}
    return re.compile(b"|".join([rb"\\", b"%", *sorted(heads | tails)]))


def _beginnings(text: bytes, form: bytes) -> Iterator[int]:
    """Where the text's end is a beginning of `form` that has four bytes at least."""
    at = text.find(form[:4], max(0, len(text) - len(form) + 1))
    while at >= 0:
        if form.startswith(text[at:]):
            yield at
        at = text.find(form[:4], at + 1)


def _open_key(text: bytes) -> int:
    """Where a private key begins that has not ended, or the dashes that may begin one."""
    at = text.rfind(b"-----BEGIN ")
    if at >= 0 and _OPEN_KEY.match(text, at):
        return at
    return next((len(text) - size for size in range(10, 0, -1) if text.endswith(b"-----BEGIN "[:size])), len(text))


def _forms(secret: bytes) -> Iterator[bytes]:
    """The ways in which a secret is written, apart from escapes."""
    plain = secret.replace(b"\\n", b"\n")
    yield from {secret, plain, secret.replace(b" ", b"+")}
    if b"\n" in plain.strip():
        lines = (line.strip() for line in plain.split(b"\n"))
        yield from (line for line in lines if len(line) >= _SHORTEST_LINE and not line.startswith(b"-----"))
