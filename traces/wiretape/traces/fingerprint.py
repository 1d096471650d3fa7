"""A request's one identity: recording, matching and reports ask here, and nowhere is it computed again.

Two keys of an already redacted request. `exact`: method, URL and body bytes. `canonical`: what they mean, so that spellings
which say the same are the same (percent-encoding by RFC 3986 section 6.2.2, JSON by RFC 8259, content codings undone, multipart
boundaries set aside). Headers are no part of either. Placeholders of the redactor count as one, whatever their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import xxhash

from wiretape.traces.canonical import canonical
from wiretape.traces.secrets import MARK, PLACEHOLDER
from wiretape.traces.types import Request

__all__ = ["VERSION", "Fingerprint", "fingerprint"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`str` is how it is stored; `parse` reads that of any version."""

    version: int
    exact: str
    canonical: str

    def __str__(self) -> str:
        return f"{self.version}:{self.exact}:{self.canonical}"

    @classmethod
    def parse(cls, text: str) -> Fingerprint:
        version, exact, canonical = text.split(":")
        return cls(int(version), exact, canonical)


def fingerprint(request: Request) -> Fingerprint:
    """Of a request that was redacted before."""
    body = b"-" if request.body is None else b"+" + request.body
    plain = b"\n".join([request.method.encode(), request.url.encode("utf-8", "surrogateescape"), body])
    return Fingerprint(VERSION, _key(plain), _key(canonical(request)))


def _key(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(PLACEHOLDER.sub(MARK.encode(), data))
