"""Rows of a store as values. Damage raises ValueError, TypeError or KeyError; reader.py says what it means."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any, cast

from wiretape.traces.bodies import Bodies, unpack
from wiretape.traces.types import (
    End,
    Exchange,
    ExchangeKind,
    Headers,
    Json,
    Message,
    RecordingInfo,
    RecordingStatus,
    Request,
    Response,
    Source,
    Timings,
)

__all__ = ["Rows"]

type Chunks = tuple[tuple[int, int], ...]

_EXCHANGES = """
SELECT e.*, r.status, r.reason, r.http_version AS response_version, r.headers AS response_headers,
  x.end, x.error, x.body AS response_body, x.chunks, x.trailers, x.connected, x.request_sent, x.first_byte, x.ended
FROM exchanges AS e JOIN recordings AS c ON c.id = e.recording
  LEFT JOIN responses AS r ON r.recording = e.recording AND r.seq = e.seq
  LEFT JOIN ends AS x ON x.recording = e.recording AND x.seq = e.seq
WHERE c.recording_id = ?"""

_OF = "recording = (SELECT id FROM recordings WHERE recording_id = ?)"


class Rows:
    """What stands in the tables, for one state of the store."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._bodies = Bodies(db)
        db.row_factory = sqlite3.Row

    def marked(self) -> bool:
        return self._db.execute("SELECT 1 FROM marker").fetchone() is not None

    def recordings(self) -> list[RecordingInfo]:
        return [_info(row) for row in self._db.execute("SELECT * FROM recordings ORDER BY id")]

    def redactions(self, recording: str) -> int | None:
        row = self._db.execute("SELECT redactions FROM recordings WHERE recording_id = ?", (recording,)).fetchone()
        return None if row is None else row[0]

    def sessions(self, recording: str) -> set[str]:
        query = f"SELECT DISTINCT session FROM exchanges WHERE {_OF}"  # noqa: S608  # ours
        return {_sound(row)["session"] for row in self._db.execute(query, (recording,))}

    def numbers(self, recording: str, session: str | None) -> list[int]:
        query = f"SELECT seq FROM exchanges WHERE {_OF} AND (?2 IS NULL OR session = ?2) ORDER BY seq"  # noqa: S608  # ours
        return [_sound(row)["seq"] for row in self._db.execute(query, (recording, session))]

    def keys(self, recording: str) -> list[tuple[Any, ...]]:
        """(seq, session, fingerprint, end, noise, source, method, url, status, kind) of each request that came whole."""
        columns = "seq, session, fingerprint, end, noise, source, method, url, status, kind"
        query = f"SELECT {columns} FROM ({_EXCHANGES}) WHERE fingerprint IS NOT NULL ORDER BY seq"  # noqa: S608  # ours
        return [tuple(_sound(row)) for row in self._db.execute(query, (recording,))]

    def events(self, recording: str) -> Iterator[tuple[float, str, dict[str, Json]]]:
        query = f"SELECT at, session, payload FROM events WHERE {_OF} ORDER BY id"  # noqa: S608  # ours
        for row in self._db.execute(query, (recording,)):
            payload = json.loads(_sound(row)["payload"])
            if not isinstance(payload, dict):
                raise ValueError(f"an event is {type(payload).__name__}, expected an object")
            yield _moment(row["at"]), row["session"], payload

    def exchange(self, recording: str, seq: int, unended: End | None) -> Exchange | None:
        row = self._db.execute(f"{_EXCHANGES} AND e.seq = ?", (recording, seq)).fetchone()
        return None if row is None else self._exchange(row, unended)

    def lines(self, recording: str, unended: End | None) -> Iterator[Json]:
        """What a digest is taken over, as JSON values: exchanges in order with their messages, then the agent's events."""
        for row in self._db.execute(f"{_EXCHANGES} ORDER BY e.seq", (recording,)):
            yield self._line(row, unended)
        yield from (["event", *event] for event in self.events(recording))

    def _line(self, row: sqlite3.Row, unended: End | None) -> Json:
        row = _sound(row)
        asked = [row[name] for name in ("seq", "kind", "session", "source", "started_at", "upstream", "rule", "match")]
        asked += [bool(row["noise"]), row["method"], row["url"], row["http_version"], _headers(row["headers"])]
        asked.append(None if row["body"] is None else self._bodies.digest(row["body"]))
        answered = [row[name] for name in ("status", "reason", "response_version", "error")]
        answered += [row[name] for name in ("connected", "request_sent", "first_byte", "ended")]
        answered += [row["end"] or unended, _headers(row["response_headers"]), _headers(row["trailers"]), *self._summed(row)]
        talked = [(each.at, each.sender, each.type, each.data.hex(), each.code) for each in self._messages(row)]
        return [asked, answered, talked]

    def _summed(self, row: sqlite3.Row) -> tuple[str | None, Chunks]:
        """SHA-256 of the response's body, and its chunks."""
        if row["end"] is None:
            body, chunks = self._pieces(row)
            return hashlib.sha256(body).hexdigest() if row["status"] is not None else None, chunks
        return None if row["response_body"] is None else self._bodies.digest(row["response_body"]), _chunks(row["chunks"])

    def _exchange(self, row: sqlite3.Row, unended: End | None) -> Exchange:
        row = _sound(row)
        return Exchange(
            seq=row["seq"],
            request=Request(row["method"], row["url"], _headers(row["headers"]), self._body(row["body"]), row["http_version"]),
            response=self._response(row),
            kind=ExchangeKind(row["kind"]),
            session=row["session"],
            source=Source(row["source"]),
            started_at=row["started_at"],
            messages=self._messages(row),
            timings=Timings(row["connected"], row["request_sent"], row["first_byte"], row["ended"]),
            end=End(row["end"]) if row["end"] else unended,
            error=row["error"],
            upstream=row["upstream"],
            rule=row["rule"],
            match=row["match"],
            noise=bool(row["noise"]),
            fingerprint=row["fingerprint"],
        )

    def _response(self, row: sqlite3.Row) -> Response | None:
        if row["status"] is None:
            return None
        if row["end"] is None:
            body, chunks = self._pieces(row)
        else:
            body, chunks = self._body(row["response_body"]) or b"", _chunks(row["chunks"])
        headers, trailers = _headers(row["response_headers"]), _headers(row["trailers"])
        return Response(_status(row["status"]), headers, body, row["reason"], row["response_version"], trailers, chunks)

    def _body(self, number: int | None) -> bytes | None:
        return None if number is None else self._bodies.get(number)

    def _pieces(self, row: sqlite3.Row) -> tuple[bytes, Chunks]:
        """As far as the redactor let go of it: an exact prefix."""
        query = "SELECT arrived, released, data FROM pieces WHERE recording = ? AND seq = ? ORDER BY id"
        body, times, lengths = bytearray(), list[int](), list[int]()
        for arrived, released, data in self._db.execute(query, (row["recording"], row["seq"])):
            times += unpack(arrived)[0]
            lengths += unpack(released)[0]
            body += data
        return bytes(body), tuple(zip(times, lengths, strict=False))

    def _messages(self, row: sqlite3.Row) -> tuple[Message, ...]:
        query = "SELECT at, sender, type, data, code FROM messages WHERE recording = ? AND seq = ? ORDER BY id"
        return tuple(_message(each) for each in self._db.execute(query, (row["recording"], row["seq"])))


_CELLS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("recording", "seq", "noise", "body", "response_body", "redactions", "code"), (int,)),
    **dict.fromkeys(("connected", "request_sent", "first_byte", "ended"), (int,)),
    **dict.fromkeys(("session", "kind", "source", "upstream", "rule", "match", "method", "url", "http_version"), (str,)),
    **dict.fromkeys(("headers", "fingerprint", "reason", "response_version", "response_headers", "end", "error"), (str,)),
    **dict.fromkeys(("trailers", "payload", "recording_id", "name", "labels", "tool_version", "sender", "type"), (str,)),
    **dict.fromkeys(("chunks", "data"), (bytes,)),
    **dict.fromkeys(("started_at", "ended_at"), (int, float)),
    "at": (int, float),
    "status": (int, str),
}
"""Column → what SQLite may hold there: its own types bind nothing, so that a damaged cell comes as whatever it is."""

_OPTIONAL = frozenset(
    {"upstream", "rule", "match", "body", "fingerprint", "code", "ended_at", "redactions"}
    | {"end", "error", "response_body", "chunks", "trailers", "connected", "request_sent", "first_byte", "ended"}
    | {"status", "reason", "response_version", "response_headers"}
)
_LATEST = 253402300800.0
"""The year 10000, in seconds since the epoch: no recording starts later, and no calendar goes on."""


def _sound(row: sqlite3.Row) -> sqlite3.Row:
    """The same row. ValueError where a cell holds what it cannot mean."""
    for name in row.keys():  # noqa: SIM118  # a Row iterates over its values
        value = row[name]
        missing = value is None and name not in _OPTIONAL
        if missing or (value is not None and not isinstance(value, _CELLS.get(name, (object,)))):
            raise ValueError(f"its {name} is {'missing' if missing else type(value).__name__}, expected {_expected(name)}")
        if name in ("started_at", "ended_at") and isinstance(value, int | float):
            _moment(value)
    return row


def _moment(value: float) -> float:
    if not 0 <= value < _LATEST:
        raise ValueError(f"it says that something happened at {value}, expected seconds since the epoch")
    return value


def _expected(name: str) -> str:
    return " or ".join(kind.__name__ for kind in _CELLS[name])


def _status(value: Any) -> int:
    if not isinstance(value, int) or not 100 <= value <= 999:
        raise ValueError(f"its status is {value!r}, expected a number from 100 to 999")
    return value


def _message(row: sqlite3.Row) -> Message:
    at, sender, kind, data, code = _sound(row)
    if sender not in ("client", "server") or kind not in ("text", "binary", "close", "ping", "pong"):
        raise ValueError(f"a message is from {sender!r} and of the type {kind!r}")
    return Message(at, cast("Any", sender), cast("Any", kind), data, code)


def _info(row: sqlite3.Row) -> RecordingInfo:
    row = _sound(row)
    return RecordingInfo(
        name=row["name"],
        id=row["recording_id"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        status=RecordingStatus(row["status"]),
        labels=json.loads(row["labels"]),
        tool_version=row["tool_version"],
    )


def _headers(text: str | None) -> Headers:
    fields = tuple((name, value) for name, value in json.loads(text)) if text else ()
    if not all(isinstance(part, str) for field in fields for part in field):
        raise ValueError("its header fields are no texts")
    return fields


def _chunks(data: bytes | None) -> Chunks:
    if data is None:
        return ()
    times, lengths = unpack(data)
    return tuple(zip(times, lengths, strict=True))
