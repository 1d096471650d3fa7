"""A request's one identity: recording, matching and reports ask here, and nowhere is it computed again.

Two keys of an already redacted request. `exact`: method, URL and body bytes. `canonical`: what they mean, so that spellings
which say the same are the same (percent-encoding by RFC 3986 section 6.2.2, JSON by RFC 8259, content codings undone, multipart
boundaries set aside). Headers are no part of either. Placeholders of the redactor count by where one stands again, not by their
numbers, which are kept beside the keys: a run has secrets of its own, and the matcher sees that they stay apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import xxhash

from wiretape.traces.canonical import canonical
from wiretape.traces.secrets import MARK, PLACEHOLDER
from wiretape.traces.types import Request

__all__ = ["VERSION", "Fingerprint", "fingerprint"]

VERSION = 2


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`str` is how it is stored; `parse` reads that of any version."""

    version: int
    exact: str
    canonical: str
    secrets: tuple[int, ...] = ()
    """The numbers of its placeholders in the order of the canonical form, each once."""

    def __str__(self) -> str:
        return f"{self.version}:{self.exact}:{self.canonical}:{','.join(map(str, self.secrets))}"

    @classmethod
    def parse(cls, text: str) -> Fingerprint:
        version, exact, canonical, *rest = text.split(":")
        return cls(int(version), exact, canonical, tuple(map(int, filter(None, ",".join(rest).split(",")))))


def fingerprint(request: Request) -> Fingerprint:
    """Of a request that was redacted before."""
    body = b"-" if request.body is None else b"+" + request.body
    exact, _ = _key(b"\n".join([request.method.encode(), request.url.encode("utf-8", "surrogateescape"), body]))
    meant, secrets = _key(canonical(request))
    return Fingerprint(VERSION, exact, meant, secrets)


def _key(data: bytes) -> tuple[str, tuple[int, ...]]:
    """Of a text whose placeholders are numbered anew as they appear, whatever shape they keep, and their own numbers."""
    order: dict[int, int] = {}

    def local(found: re.Match[bytes]) -> bytes:
        number = int(found[1])
        return b"%s%d" % (MARK.encode(), order.setdefault(number, len(order) + 1) if number else 0)

    return xxhash.xxh3_128_hexdigest(PLACEHOLDER.sub(local, data)), tuple(order)
