from __future__ import annotations

import json
from typing import Any

import pytest

from wiretape.replay.miss import Reason
from wiretape.replay.stdio import Missed, Stock, Telling
from wiretape.traces.settings import Exhausted, Level, MatchSettings
from wiretape.traces.types import End, Exchange, Message, Request

URL = "stdio://files"


def rpc(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def call(id: Any, a: int = 1, token: Any = None) -> bytes:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return rpc(id=id, method="tools/call", params={"name": "add", "arguments": {"a": a}, **meta})


def result(id: Any, text: str = "ok") -> bytes:
    return rpc(id=id, result={"content": text})


def conversation(*said: tuple[str, bytes], seq: int = 1, end: End = End.COMPLETE, code: int | None = None) -> Exchange:
    """`said`: who, and what; a millisecond between two."""
    messages = [Message(1000 * at, who, "text", line) for at, (who, line) in enumerate(said)]  # type: ignore[arg-type]
    closed = [Message(99_000, "server", "close", code=code)]
    return Exchange(seq, Request("STDIO", URL), messages=(*messages, *closed), end=end)


def telling(*exchanges: Exchange, own: int = 0, **settings: Any) -> Telling:
    stock = Stock(exchanges, MatchSettings.model_validate(settings))
    return Telling(stock, exchanges[own] if exchanges else None, URL)


def lines(due: Any) -> list[bytes]:
    assert not isinstance(due, Missed), due
    return [line for _, line in due]


@pytest.mark.parametrize("live", [7, "a-7", "1", 12345678901234567890])
def test_an_answer_carries_the_live_id_with_its_exact_type(live: Any) -> None:
    told = telling(conversation(("client", call(1)), ("server", result(1))))
    assert lines(told.hear(call(live))) == [result(live)]


def test_what_the_server_said_while_it_worked_comes_too_under_the_live_token() -> None:
    progress = rpc(method="notifications/progress", params={"progressToken": 1, "progress": 1})
    told = telling(conversation(("client", call(1, token=1)), ("server", progress), ("server", result(1))))
    assert lines(told.hear(call(5, token="t"))) == [progress.replace(b'"progressToken": 1', b'"progressToken": "t"'), result(5)]


def test_a_request_of_the_server_keeps_its_own_id_though_it_be_that_of_the_clients() -> None:
    asks = rpc(id=1, method="roots/list")
    told = telling(conversation(("client", call(1)), ("server", asks), ("server", result(1))))
    assert lines(told.hear(call(5))) == [asks, result(5)]


def test_requests_in_another_order_get_their_own_answers() -> None:
    told = telling(
        conversation(("client", call(1, 1)), ("client", call(2, 2)), ("server", result(2, "two")), ("server", result(1, "one")))
    )
    assert lines(told.hear(call(1, 2))) == [result(1, "two")]
    assert lines(told.hear(call(2, 1))) == [result(2, "one")]


def test_equal_requests_are_answered_first_in_first_out_and_then_no_more() -> None:
    told = telling(
        conversation(("client", call(1)), ("server", result(1, "one")), ("client", call(2)), ("server", result(2, "two")))
    )
    assert [*lines(told.hear(call(8))), *lines(told.hear(call(9)))] == [result(8, "one"), result(9, "two")]
    missed = told.hear(call(10))
    assert isinstance(missed, Missed)
    assert (missed.miss.reason, missed.miss.nearest, missed.miss.recorded) == (Reason.EXHAUSTED, 1, 2)


def test_the_last_answer_is_repeated_where_that_is_permitted() -> None:
    told = telling(conversation(("client", call(1)), ("server", result(1))), exhausted=Exhausted.REPEAT_LAST)
    assert [lines(told.hear(call(id))) for id in (1, 2, 3)] == [[result(1)], [result(2)], [result(3)]]


def test_a_miss_names_the_nearest_message_and_what_differs() -> None:
    told = telling(conversation(("client", rpc(id=1, method="initialize")), ("client", call(2)), ("server", result(2))))
    missed = told.hear(call(3, a=5))
    assert isinstance(missed, Missed)
    assert (missed.live, missed.miss.nearest, missed.miss.number) == (call(3, a=5), 1, 2)
    assert [(each.path, each.recorded, each.live) for each in missed.miss.differences] == [("$.params.arguments.a", "1", "5")]


def test_a_server_that_was_never_recorded_misses_every_request() -> None:
    missed = telling().hear(call(1))
    assert isinstance(missed, Missed)
    assert missed.miss.nearest is None


def test_an_unknown_notification_or_reply_is_no_miss() -> None:
    told = telling(conversation(("client", call(1)), ("server", result(1))))
    assert told.hear(rpc(method="notifications/cancelled", params={"requestId": 4})) == ()
    assert told.hear(result(77)) == ()
    assert told.hear(b"no JSON") == ()


def test_what_a_notification_brought_about_comes_after_it() -> None:
    ready, changed = rpc(method="notifications/initialized"), rpc(method="notifications/tools/list_changed")
    assert lines(telling(conversation(("client", ready), ("server", changed))).hear(ready)) == [changed]


def test_what_the_server_says_first_is_due_at_once() -> None:
    hello = rpc(method="notifications/message", params={"data": "up"})
    assert lines(telling(conversation(("server", hello), ("client", call(1)))).opening()) == [hello]


ASKS = rpc(id=0, method="elicitation/create", params={"message": "sure?"})
SURE = rpc(id=0, result={"action": "accept"})
ASKED = conversation(("client", call(1)), ("server", ASKS), ("client", SURE), ("server", result(1, "done")))


def test_an_answer_waits_for_the_reply_that_it_waited_for() -> None:
    told = telling(ASKED)
    assert lines(told.hear(call(4))) == [ASKS]
    assert lines(told.hear(SURE)) == [result(4, "done")]


def test_another_reply_than_recorded_is_a_miss_of_the_request() -> None:
    told = telling(ASKED)
    told.hear(call(4))
    missed = told.hear(rpc(id=0, result={"action": "decline"}))
    assert isinstance(missed, Missed)
    assert missed.live == call(4)
    assert [each.path for each in missed.miss.differences] == ["$.result.action"]


def test_a_reply_that_nothing_waited_for_may_say_what_it_likes() -> None:
    roots = rpc(id=9, method="roots/list")
    told = telling(
        conversation(("client", rpc(method="notifications/initialized")), ("server", roots), ("client", result(9, "/a")))
    )
    told.hear(rpc(method="notifications/initialized"))
    assert told.hear(result(9, "/b")) == ()


def test_conversations_of_one_server_are_one_stock_its_own_first() -> None:
    first = conversation(("client", call(1)), ("server", result(1, "first")), seq=1)
    second = conversation(("client", call(1)), ("server", result(1, "second")), seq=2)
    told = telling(first, second, own=1)
    assert [*lines(told.hear(call(1))), *lines(told.hear(call(2)))] == [result(1, "second"), result(2, "first")]


@pytest.mark.parametrize(("level", "answered"), [(Level.EXACT, False), (Level.CANONICAL, True)])
def test_how_loosely_is_a_matter_of_the_level(level: Level, answered: bool) -> None:
    told = telling(conversation(("client", call(1)), ("server", result(1))), level=level)
    assert isinstance(told.hear(call(1).replace(b": ", b":")), Missed) is not answered


def test_at_the_recorded_pace_each_line_waits_its_time() -> None:
    told = telling(conversation(("client", call(1)), ("server", ASKS), ("server", result(1))), pace=2.0)
    due = told.hear(call(1))
    assert not isinstance(due, Missed)
    assert [wait for wait, _ in due] == [0.002, 0.002]


def test_a_server_that_ended_by_itself_does_so_once_all_was_said() -> None:
    told = telling(
        conversation(("client", call(1)), ("server", result(1)), ("client", call(2, 2)), end=End.UPSTREAM_TRUNCATED, code=3)
    )
    assert told.died() is None
    told.hear(call(1))
    assert told.died() is None
    told.hear(call(2, 2))
    assert told.died() == 3
    assert told.exit_code == 3


def test_a_batch_is_one_request_with_the_live_ids_in_its_answer() -> None:
    batch, answer = (b"[" + b", ".join(each) + b"]" for each in ([call(1, 1), call(2, 2)], [result(1), result(2)]))
    live = b"[" + call("a", 1) + b", " + call("b", 2) + b"]"
    told = telling(conversation(("client", batch), ("server", answer)))
    assert lines(told.hear(live)) == [b"[" + result("a") + b", " + result("b") + b"]"]
