from __future__ import annotations

import pytest

from wiretape.replay.conversation import Conversation, server_waits
from wiretape.replay.miss import Miss, Reason, error_message
from wiretape.traces.settings import Level
from wiretape.traces.types import End, Exchange, Message, Request, Response, Timings

URL = "wss://api.test/v1/realtime"


def server(text: str, at: int = 0) -> Message:
    return Message(at, "server", "text", text.encode())


def client(text: str, at: int = 0) -> Message:
    return Message(at, "client", "text", text.encode())


def closed(sender: str, code: int | None, reason: bytes = b"") -> Message:
    return Message(0, sender, "close", reason, code)  # type: ignore[arg-type]


PING = Message(0, "server", "ping", b"?")


def recorded(*messages: Message, end: End = End.COMPLETE, ended: int | None = None) -> Exchange:
    timings = Timings(first_byte=0, ended=ended)
    return Exchange(7, Request("GET", URL), Response(101), messages=messages, end=end, timings=timings)


def conversation(
    *messages: Message, loosest: Level = Level.REBOUND, pace: float = 0.0, end: End = End.COMPLETE
) -> Conversation:
    return Conversation(recorded(*messages, end=end), loosest, pace)


def due(told: Conversation) -> list[str]:
    return [message.data.decode() for _, message in told.due()]


def test_what_the_server_said_first_is_due_at_once_and_the_rest_turn_by_turn() -> None:
    told = conversation(server("hello"), PING, server("ready"), client("a"), client("b"), server("1"), server("2"), client("c"))
    assert due(told) == ["hello", "ready"]
    assert due(told) == []
    assert told.hear(client("a")) is Level.EXACT
    assert due(told) == []
    assert told.hear(client("b")) is Level.EXACT
    assert due(told) == ["1", "2"]
    assert not told.over
    told.hear(client("c"))
    assert told.over


def test_the_server_s_close_is_due_like_a_message() -> None:
    told = conversation(client("a"), server("1"), closed("server", 1011, b"oops"), closed("client", 1011))
    told.hear(client("a"))
    assert [(each.type, each.code) for _, each in told.due()] == [("text", None), ("close", 1011)]


@pytest.mark.parametrize(
    ("said", "live", "level"),
    [
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 2}', Level.EXACT),
        ('{"a": 1, "b": 2}', '{"b":2.0,"a":1}', Level.CANONICAL),
        ("[REDACTED]0001 plain", "[REDACTED]0001 plain", Level.EXACT),
        ('{"a": 1}', '{"a": 2}', None),
        ("plain", "plain ", None),
    ],
)
def test_it_tells_how_closely_a_message_is_the_recorded_one(said: str, live: str, level: Level | None) -> None:
    found = conversation(client(said)).hear(client(live))
    assert (None if isinstance(found, Miss) else found) is level


def test_text_is_never_binary() -> None:
    assert isinstance(conversation(client("{}")).hear(Message(0, "client", "binary", b"{}")), Miss)


def test_only_the_same_bytes_will_do_where_no_looser_level_is_allowed() -> None:
    assert isinstance(conversation(client('{"a": 1}'), loosest=Level.EXACT).hear(client('{"a":1}')), Miss)


def test_messages_are_expected_in_their_order() -> None:
    found = conversation(client('{"n": 1}'), client('{"n": 2}')).hear(client('{"n": 2}'))
    assert isinstance(found, Miss)
    assert (found.reason, found.nearest, found.number) == (Reason.UNKNOWN, 7, 1)
    assert [(each.path, each.recorded, each.live) for each in found.differences] == [("$.n", "1", "2")]
    assert found.message.startswith(
        f"message 1 on {URL}: no recorded message says the same here. Nearest is message 1 of exchange 7;"
    )
    assert b'"replay_miss"' in error_message(found)


def test_one_message_more_than_was_recorded_is_a_miss() -> None:
    told = conversation(client("a"), closed("client", 1000))
    told.hear(client("a"))
    found = told.hear(client("b"))
    assert isinstance(found, Miss)
    assert found.reason is Reason.OVER
    assert "exchange 7 has 1 message of the client, and this is one more" in found.message


def test_a_turn_that_no_answer_was_recorded_to_is_not_taken_for_finished() -> None:
    told = conversation(client("a"), server("1"), client("b"), end=End.INTERRUPTED)
    assert told.hear(client("a")) is Level.EXACT
    assert due(told) == ["1"]
    found = told.hear(client("b"))
    assert isinstance(found, Miss)
    assert found.reason is Reason.INTERRUPTED


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ((client("a"), closed("client", 1000), closed("server", 4002, b"so be it")), (4002, b"so be it")),
        ((client("a"), closed("client", 1000)), (4321, b"enough")),
        ((client("a"), client("b"), closed("client", 1000), closed("server", 4002)), (4321, b"enough")),
        ((client("a"), server("1"), closed("server", 1000)), (4321, b"enough")),
    ],
    ids=["as it was answered", "the same where nothing was kept", "the same to one that leaves early", "and before our own"],
)
def test_a_client_s_close_is_answered(messages: tuple[Message, ...], answer: tuple[int, bytes]) -> None:
    told = conversation(*messages)
    told.hear(client("a"))
    found = told.goodbye(closed("client", 4321, b"enough"))
    assert (found.sender, found.type, found.code, found.data) == ("server", "close", *answer)


def test_each_message_waits_as_long_as_it_did_after_the_one_before_it() -> None:
    exchange = recorded(
        server("1", 500_000), client("a", 3_000_000), server("2", 3_500_000), server("3", 3_600_000), ended=5_600_000
    )
    told = Conversation(exchange, Level.REBOUND, pace=2.0)
    assert [wait for wait, _ in told.due()] == [1.0]
    told.hear(client("a"))
    assert [round(wait, 6) for wait, _ in told.due()] == [1.0, 0.2]
    assert told.until_end() == 4.0


@pytest.mark.parametrize(
    ("exchange", "waits"),
    [
        (recorded(client("a"), server("1")), True),
        (recorded(PING, closed("client", 1000)), True),
        (recorded(end=End.CLIENT_CLOSED), True),
        (recorded(end=End.INTERRUPTED), True),
        (recorded(server("hello"), client("a")), False),
        (recorded(closed("server", 1013)), False),
        (recorded(end=End.UPSTREAM_RESET), False),
    ],
)
def test_it_knows_whose_turn_is_first(exchange: Exchange, waits: bool) -> None:
    assert server_waits(exchange) is waits


A, B = "3f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11", "b8a1f3c2-77aa-4c0e-8d11-5e2c9f60d4e9"


def test_a_message_with_a_fresh_value_is_heard_and_its_value_comes_back() -> None:
    told = conversation(client(f"run {A}"), server(f"began {A}"), server('{"delta": "ok"}'), client(f"end {A}"), server("bye"))
    assert told.hear(client(f"run {B}")) is Level.REBOUND
    assert due(told) == [f"began {B}", '{"delta": "ok"}']
    assert isinstance(told.hear(client(f"end {A.replace('3', '4')}")), Miss)
    assert told.hear(client(f"end {B}")) is Level.REBOUND


def test_a_value_that_messages_split_comes_back_whole() -> None:
    parts = (A[:9], A[9:20], A[20:])
    told = conversation(client(f"run {A}"), *(server(f'{{"type": "x.delta", "delta": "{part}"}}') for part in parts))
    told.hear(client(f"run {B}"))
    assert "".join(text.split('"')[7] for text in due(told)) == B


def test_nothing_is_bound_at_a_closer_level() -> None:
    told = conversation(client(f"run {A}"), loosest=Level.CANONICAL)
    assert isinstance(told.hear(client(f"run {B}")), Miss)
