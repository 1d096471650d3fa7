"""The live answer to a request, for a rule that changes it: asked for through the sidecar's own port.

So it takes the way of every other request: the same roots, proxies and addresses. It is marked, so that it is neither recorded
nor asked about rules once more.
"""

from __future__ import annotations

import asyncio
import secrets
import time

import httptools

from wiretape.traces.types import End, Exchange, Request, Response, header

__all__ = ["INNER", "LiveAnswers"]

INNER = "x-replay-inner"
_LEFT_OUT = frozenset({"transfer-encoding", "content-length", "expect", "connection", "proxy-authorization"})
_READ = 65536


class LiveAnswers:
    """`address` is where the recording half can be reached."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._secret = secrets.token_urlsafe(16)

    def owns(self, mark: str | None) -> bool:
        return mark is not None and secrets.compare_digest(mark.encode(), self._secret.encode())

    async def fetch(self, request: Request) -> Exchange:
        """To its end, however it ends; 502 in the sidecar's own words where there is no answer."""
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            writer.write(_head(request, self._secret) + (request.body or b""))
            await writer.drain()
            return await _answer(reader, request)
        finally:
            writer.close()


def _head(request: Request, secret: str) -> bytes:
    fields = [(name, value) for name, value in request.headers if name.lower() not in _LEFT_OUT]
    fields += [(INNER, secret), ("Connection", "close")]
    if request.body is not None:
        fields.append(("Content-Length", str(len(request.body))))
    lines = [f"{request.method} {request.url} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _answer(reader: asyncio.StreamReader, request: Request) -> Exchange:
    answer = _Answer()
    try:
        while not answer.whole and (data := await reader.read(_READ)):
            answer.parser.feed_data(data)
    except (OSError, httptools.HttpParserError):
        pass
    response = answer.response()
    ended = answer.whole or request.method == "HEAD" or (response.status and _ends_by_close(response))
    return Exchange(0, request, response, end=End.COMPLETE if ended else End.UPSTREAM_TRUNCATED)


def _ends_by_close(response: Response) -> bool:
    return all(header(response.headers, name) is None for name in ("content-length", "transfer-encoding"))


class _Answer:
    """What the parser tells of one response; the informational ones before it are passed over."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.whole = False
        self._began = time.monotonic_ns()
        self._status = 502
        self._reason = ""
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()
        self._chunks: list[tuple[int, int]] = []
        self._open = 0
        """Bytes of the chunk that has not ended."""

    def on_message_begin(self) -> None:
        self._reason, self._headers = "", []

    def on_status(self, status: bytes) -> None:
        self._reason += status.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        self._status = self.parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        self._body += data
        self._open += len(data)

    def on_chunk_complete(self) -> None:
        if self._open:
            self._chunks.append(((time.monotonic_ns() - self._began) // 1000, self._open))
            self._open = 0

    def on_message_complete(self) -> None:
        self.whole = self._status >= 200

    def response(self) -> Response:
        headers = tuple(pair for pair in self._headers if pair[0].lower() != "connection")
        return Response(self._status, headers, bytes(self._body), self._reason, chunks=tuple(self._chunks))
