"""What becomes of an exchange on its way into the store: redacted, identified, put into rows as it passes.

All of this runs in the writer's thread, within its transaction. An exchange's payload is kept piece by piece until it ends;
then the pieces become one body. What the redactor still holds is nowhere on disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wiretape.traces import codings
from wiretape.traces.bodies import Bodies, pack, unpack
from wiretape.traces.decoders import DECODERS, detect
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.frames import FrameRedactor, stream_redactor
from wiretape.traces.redact import Redactor, without_digests
from wiretape.traces.streams import ConversationRedactor, StreamRedactor
from wiretape.traces.types import End, Headers, Json, Message, Request, Source, Timings, header

__all__ = ["About", "Incoming"]

_JSON: Headers = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an exchange besides its request when it begins."""

    started_at: float
    session: str
    kind: str
    source: str
    upstream: str | None
    noise: bool
    rule: str | None
    match: str | None


@dataclass(slots=True)
class _Open:
    """An exchange that has not ended."""

    request: Request
    """Its head as it came; whole and redacted, but without the body, once `body` is known."""
    about: About
    sent: list[bytes] = field(default_factory=list)
    body: int | None = None
    asked: bool = False
    """Its row stands in `exchanges`, at least with the head."""
    status: int = 0
    headers: Headers = ()
    stream: StreamRedactor | FrameRedactor | None = None
    conversation: ConversationRedactor | None = None
    times: list[int] = field(default_factory=list)
    """Of the chunks that arrived since the last batch, as are `sizes`."""
    sizes: list[int] = field(default_factory=list)
    released: list[bytes] = field(default_factory=list)
    """What the redactor let go since the last batch."""
    spilled: bool = False
    """Earlier batches stand in `pieces`."""
    trailers: Headers = ()


class Incoming:
    """The exchanges of one recording that are under way. Calls for one that is not open (it failed) are passed over."""

    def __init__(self, db: sqlite3.Connection, recording: int, redactor: Redactor) -> None:
        self._db = db
        self._recording = recording
        self._redactor = redactor
        self._bodies = Bodies(db)
        self._open: dict[int, _Open] = {}
        self.held = 0
        """Bytes of answers in memory that `spill` puts into rows."""

    # as they come

    def begin(self, seq: int, request: Request, about: About) -> None:
        self._open[seq] = _Open(request, about)

    def touched(self, seq: int, rule: str) -> None:
        if state := self._open.get(seq):
            state.about = replace(state.about, source=Source.MOCKED, rule=rule)

    def request_chunk(self, seq: int, data: bytes) -> None:
        if state := self._open.get(seq):
            state.sent.append(data)

    def request_end(self, seq: int, has_body: bool) -> None:
        if state := self._open.get(seq):
            body = b"".join(state.sent) if has_body or state.sent else None
            state.sent = []
            whole = self._redactor.request(replace(state.request, body=body))
            state.body = None if whole.body is None else self._bodies.put_request(whole.body)
            self._ask(seq, state, whole, str(fingerprint(whole)))
            state.request = replace(whole, body=None)

    def response(self, seq: int, status: int, reason: str, http_version: str, headers: Headers) -> None:
        if state := self._open.get(seq):
            state.stream = stream_redactor(self._redactor, headers)
            state.status, state.headers = status, self._redactor.headers(headers)
            row = (self._recording, seq, status, self._text(reason), http_version, json.dumps(state.headers))
            self._insert("responses", row)

    def chunk(self, seq: int, at: int, data: bytes) -> None:
        state = self._open.get(seq)
        if state and state.stream:
            state.times.append(at)
            state.sizes.append(len(data))
            self._release(state, state.stream.feed(data))

    def trailers(self, seq: int, headers: Headers) -> None:
        if state := self._open.get(seq):
            state.trailers = self._redactor.headers(headers)

    def message(self, seq: int, message: Message) -> None:
        if state := self._open.get(seq):
            state.conversation = state.conversation or ConversationRedactor(self._redactor)
            self._put_messages(seq, state.conversation.feed(message))

    def event(self, at: float, session: str, payload: Mapping[str, Json]) -> None:
        text = self._redactor.body(json.dumps(payload).encode(), _JSON).decode()
        self._insert("events", (None, self._recording, at, self._text(session), text))

    def end(self, seq: int, end: End, error: str | None, timings: Timings) -> None:
        if state := self._open.get(seq):
            self._close_streams(seq, state)
            if end is End.CLIENT_CLOSED and self._finished(seq, state):
                end, error = End.COMPLETE, None
            told = None if error is None else self._text(error)
            self._put_end(seq, state, end, told, timings)
            del self._open[seq]
            self.held -= sum(map(len, state.released))

    # in batches

    def seqs(self) -> tuple[int, ...]:
        return tuple(self._open)

    def spill(self, seq: int) -> None:
        """What is held of an exchange goes into rows, but for what the redactor still keeps back."""
        state = self._open[seq]
        if not state.asked:
            self._ask(seq, state, self._redactor.request(state.request), None)
        if state.times or state.released:
            self._spill_pieces(seq, state)

    def drop(self, seq: int) -> None:
        """Pass over the rest of an exchange that could not be kept: what stands of it has no end."""
        if state := self._open.pop(seq, None):
            self.held -= sum(map(len, state.released))

    def interrupt(self, seq: int) -> None:
        """Nobody ended it: what is known goes into rows, also what the redactor kept back; `settle` ends it."""
        self._close_streams(seq, self._open[seq])
        self.spill(seq)
        del self._open[seq]

    def unended(self) -> list[tuple[int, int]]:
        """(seq, recording) of whatever has no end, also what recorders that died left in this store."""
        return self._db.execute("SELECT seq, recording FROM exchanges EXCEPT SELECT seq, recording FROM ends").fetchall()

    def settle(self, seq: int, recording: int) -> None:
        """End one of these as interrupted."""
        answered = self._db.execute("SELECT 1 FROM responses WHERE recording = ? AND seq = ?", (recording, seq)).fetchone()
        folded = self._fold(recording, seq) if answered else (None, None)
        self._insert("ends", (recording, seq, End.INTERRUPTED, None, *folded, None, None, None, None, None))

    # rows

    def _ask(self, seq: int, state: _Open, request: Request, key: str | None) -> None:
        """The row of the request; once more where its head alone stood there before."""
        about = state.about
        row = (
            *(self._recording, seq, self._text(about.session), about.kind, about.source, about.started_at, int(about.noise)),
            *(about.upstream, about.rule, about.match, _text(request.method), _text(request.url), request.http_version),
            *(json.dumps(request.headers), state.body, key),
        )
        self._insert("exchanges", row)
        state.asked = True

    def _text(self, text: str) -> str:
        return _text(self._redactor.text(text))

    def _put_end(self, seq: int, state: _Open, end: End, error: str | None, timings: Timings) -> None:
        if not state.asked:
            self._ask(seq, state, self._redactor.request(state.request), None)
        if state.spilled:
            self._spill_pieces(seq, state)
            body, chunks = self._fold(self._recording, seq)
        elif state.stream:
            body = self._bodies.put_pieces(state.released)
            chunks = _packed(state.times, [len(piece) for piece in state.released])
        else:
            body, chunks = None, None
        trailers = json.dumps(state.trailers) if state.trailers else None
        times = (timings.connected, timings.request_sent, timings.first_byte, timings.ended)
        self._insert("ends", (self._recording, seq, end, error, body, chunks, trailers, *times))

    def _release(self, state: _Open, pieces: list[bytes]) -> None:
        state.released += pieces
        self.held += sum(map(len, pieces))

    def _close_streams(self, seq: int, state: _Open) -> None:
        if state.stream:
            self._release(state, state.stream.close())
            if state.stream.pieces.changed:
                state.headers, state.trailers = without_digests(state.headers), without_digests(state.trailers)
                change = "UPDATE responses SET headers = ? WHERE recording = ? AND seq = ?"
                self._db.execute(change, (json.dumps(state.headers), self._recording, seq))
        if state.conversation:
            self._put_messages(seq, state.conversation.close())

    def _put_messages(self, seq: int, messages: list[Message]) -> None:
        for each in messages:
            row = (None, self._recording, seq, each.at, each.sender, each.type, each.data, each.code)
            self._insert("messages", row)

    def _spill_pieces(self, seq: int, state: _Open) -> None:
        released = pack([len(piece) for piece in state.released])
        row = (None, self._recording, seq, pack(state.times, state.sizes), released, b"".join(state.released))
        self._insert("pieces", row)
        self.held -= sum(map(len, state.released))
        state.times, state.sizes, state.released, state.spilled = [], [], [], True

    def _fold(self, recording: int, seq: int) -> tuple[int, bytes | None]:
        """All pieces of an exchange become one body and one table of times and lengths: (its id, the table)."""
        times: list[int] = []
        lengths: list[int] = []
        query = "SELECT arrived, released FROM pieces WHERE recording = ? AND seq = ? ORDER BY id"
        for arrived, released in self._db.execute(query, (recording, seq)):
            times += unpack(arrived)[0]
            lengths += unpack(released)[0]
        chunks = _packed(times[: len(lengths)], lengths)
        body = self._bodies.put_pieces(self._pieces(recording, seq))
        self._db.execute("DELETE FROM pieces WHERE recording = ? AND seq = ?", (recording, seq))
        return body, chunks

    def _pieces(self, recording: int, seq: int) -> Iterator[bytes]:
        query = "SELECT data FROM pieces WHERE recording = ? AND seq = ? ORDER BY id"
        for (data,) in self._db.execute(query, (recording, seq)):
            yield data

    def _insert(self, table: str, row: tuple[Any, ...]) -> None:
        marks = ", ".join("?" * len(row))
        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)  # noqa: S608  # the tables' names are ours

    # a client that hung up once it had everything

    def _finished(self, seq: int, state: _Open) -> bool:
        """Whether what came holds its API's terminal event."""
        if not state.stream:
            return False
        body = None if state.body is None else codings.undo(self._bodies.get(state.body), state.request.headers)
        request, kind = replace(state.request, body=body), header(state.headers, "content-type")
        name = detect(request, kind)
        if name is None:
            return False
        reader = DECODERS[name].reader(request, state.status, kind)
        for piece in self._plain(seq, state):
            reader.feed(piece)
        return reader.complete

    def _plain(self, seq: int, state: _Open) -> Iterator[bytes]:
        """The answer so far without its content coding; piece by piece where it has none."""
        if codings.codings(state.headers):
            coded = b"".join((*self._pieces(self._recording, seq), *state.released))
            yield codings.undo(coded, state.headers, partial=True) or b""
        else:
            yield from self._pieces(self._recording, seq)
            yield from state.released


def _packed(times: list[int], lengths: list[int]) -> bytes | None:
    if len(times) != len(lengths):
        raise ValueError(f"expected as many chunks released as arrived ({len(times)}), got {len(lengths)}")
    return pack(times, lengths) if times else None


def _text(text: str) -> str:
    """As it is, unless it holds half a character (a surrogate), which no file can hold: that is written out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
