"""How an answer goes out: pure, from what was recorded or made up and the live request to a plan of head, pieces and ending.

Framing is regenerated, never echoed: length, transfer coding and content coding always agree with the bytes sent (RFC 9112
section 6). Everything else in the head keeps its order, its spelling and its duplicates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from wiretape.replay.pacing import schedule
from wiretape.traces import codings
from wiretape.traces.types import End, Exchange, Headers, Request, Response, header

__all__ = ["Ending", "Framing", "Plan", "acceptable", "answered", "header_text", "plan"]


class Framing(Enum):
    NONE = "none"
    """No body, whatever the head says of one: HEAD, 204, 304."""
    LENGTH = "length"
    CHUNKED = "chunked"
    CLOSE = "close"
    """The end of the connection ends the body."""


class Ending(Enum):
    WHOLE = "whole"
    HANG_UP = "hang up"
    """FIN before the promised end."""
    RESET = "reset"
    SILENCE = "silence"
    """Nothing more comes; the client ended it then and has to end it now."""
    BAD_CHUNK = "bad chunk"
    """Bytes that are no chunk where one should begin, then FIN."""


_ENDINGS = {
    End.COMPLETE: Ending.WHOLE,
    End.CLIENT_CLOSED: Ending.SILENCE,
    End.TIMEOUT: Ending.SILENCE,
    End.UPSTREAM_TRUNCATED: Ending.HANG_UP,
    End.INTERRUPTED: Ending.HANG_UP,
    End.UPSTREAM_RESET: Ending.RESET,
    End.REFUSED: Ending.HANG_UP,
}

_REGENERATED = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length"}
)


@dataclass(frozen=True, slots=True)
class Plan:
    status: int
    reason: str
    headers: Headers
    framing: Framing
    pieces: tuple[tuple[float, bytes], ...]
    """(seconds to wait before it, bytes); the chunks of a chunked answer."""
    ending: Ending
    wait: float = 0.0
    """Seconds before the head."""
    failure: str | None = None
    """The fault that a rule put in."""
    ended: End | None = None
    """How the recorded exchange ended: what is played to its end ends so again. None where nothing was recorded."""

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    def with_pieces(self, pieces: tuple[tuple[float, bytes], ...]) -> Plan:
        """Another body under the same head, with a length that is true where there is one; none where there can be none."""
        if self.framing is Framing.NONE:
            return self
        made = replace(self, pieces=pieces)
        if self.framing is not Framing.LENGTH:
            return made
        return made.without("content-length").with_header("Content-Length", str(len(made.body)))

    def first(self, size: int) -> tuple[tuple[float, bytes], ...]:
        """The pieces of the first so many bytes."""
        kept: list[tuple[float, bytes]] = []
        for wait, piece in self.pieces:
            if size <= 0:
                break
            kept.append((wait, piece[:size]))
            size -= len(piece)
        return tuple(kept)

    def framed(self, framing: Framing, name: str, value: str) -> Plan:
        """Framed otherwise, as this header says."""
        return replace(self.without("content-length", "transfer-encoding"), framing=framing).with_header(name, value)

    def without(self, *names: str) -> Plan:
        """`names` in lower case."""
        return replace(self, headers=tuple(pair for pair in self.headers if pair[0].lower() not in names))

    def with_header(self, name: str, value: str) -> Plan:
        return replace(self, headers=(*self.headers, (name, value)))


def plan(exchange: Exchange, response: Response, live: Request, pace: float) -> Plan:
    """`response` is the exchange's own, or what became of it (a live id put in)."""
    response = acceptable(response, live)
    framing = _framing(response, live.method)
    pieces = () if framing is Framing.NONE else schedule(response, pace)
    ending = _ENDINGS[exchange.end or End.INTERRUPTED]
    cut = ending is not Ending.WHOLE
    headers = tuple(_head(response, framing, cut=cut))
    return Plan(response.status, response.reason, headers, framing, pieces, ending)


def answered(response: Response, live: Request, *, wait: float = 0.0) -> Plan:
    """An answer of our own making: whole, at once; in chunks where it has any, else under a length that is its own."""
    none = live.method == "HEAD" or response.status in (204, 304)
    framing = Framing.NONE if none else Framing.CHUNKED if response.chunks else Framing.LENGTH
    pieces = () if none else schedule(response, 0.0)
    made = Plan(response.status, response.reason, response.headers, framing, pieces, Ending.WHOLE, wait)
    return made.with_header("Transfer-Encoding", "chunked") if framing is Framing.CHUNKED else made.with_pieces(pieces)


def header_text(value: object) -> str:
    """What can stand in a header: one line, and a question mark for each character beyond latin-1 (RFC 9110, section 5.5)."""
    line = "".join(each if each.isprintable() else " " for each in str(value))
    return line.encode("latin-1", "replace").decode("latin-1").strip()


def _framing(response: Response, method: str) -> Framing:
    if method == "HEAD" or response.status in (204, 304) or 100 <= response.status < 200:
        return Framing.NONE
    if "chunked" in (header(response.headers, "transfer-encoding") or "").lower():
        return Framing.CHUNKED
    if header(response.headers, "content-length") is not None:
        return Framing.LENGTH
    return Framing.CHUNKED if response.http_version.startswith("HTTP/2") else Framing.CLOSE


def _head(response: Response, framing: Framing, *, cut: bool) -> list[tuple[str, str]]:
    """The recorded fields, with a length that is true, or, where the answer was cut, the one that was promised."""
    length = None
    if framing is Framing.LENGTH and not cut:
        length = str(len(response.body))
    elif framing in (Framing.NONE, Framing.LENGTH):
        length = header(response.headers, "content-length")
    out: list[tuple[str, str]] = []
    for name, value in response.headers:
        low = name.lower()
        if low == "content-length" and length is not None:
            out.append((name, length))
            length = None
        elif low not in _REGENERATED:
            out.append((name, value))
    if framing is Framing.CHUNKED:
        out.append(("Transfer-Encoding", "chunked"))
    return out


def acceptable(response: Response, live: Request) -> Response:
    """The same answer in a content coding that the live client takes: the recorded one, else none (RFC 9110, 12.5.3).

    A client without Accept-Encoding gets plain bytes, since it may not decode any. An unknown coding stays as it was.
    """
    used = codings.codings(response.headers)
    if not used or not response.body or _takes(used, header(live.headers, "accept-encoding")):
        return response
    plain = codings.undo(response.body, response.headers)
    if plain is None:
        return response
    at = response.chunks[-1][0] if response.chunks else 0
    headers = tuple((name, value) for name, value in response.headers if name.lower() != "content-encoding")
    return Response(
        status=response.status,
        headers=headers,
        body=plain,
        reason=response.reason,
        http_version=response.http_version,
        trailers=response.trailers,
        chunks=((at, len(plain)),),
    )


def _takes(used: tuple[str, ...], accept: str | None) -> bool:
    if accept is None:
        return False
    weights = {}
    for item in accept.lower().split(","):
        name, _, weight = item.strip().partition(";")
        weights[name.strip()] = weight.strip().removeprefix("q=").strip() not in ("0", "0.0", "0.00", "0.000")
    rest = weights.get("*", False)
    return all(weights.get(coding, weights.get(coding.removeprefix("x-"), rest)) for coding in used)
