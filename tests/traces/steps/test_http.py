from __future__ import annotations

from typing import Any

import pytest
from support.traces import ask, exchange, kinds, model, of, trace, user

from wiretape.traces.steps.http import host_of
from wiretape.traces.types import End, ErrorStep, HttpCall, ToolCall


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.test/x", "api.test"),
        ("https://api.test:443/x", "api.test"),
        ("http://api.test:443/x", "api.test:443"),
        ("http://[::1]:8080/x", "[::1]:8080"),
        ("http://user:pw@api.test:80/", "api.test"),
        ("api.test:443", "api.test"),
        ("http://[broken", ""),
    ],
)
def test_it_names_the_host_without_its_default_port(url: str, host: str):
    assert host_of(exchange(1, url=url)) == host


def test_any_other_exchange_is_an_http_call():
    made = trace(exchange(1, "GET", "https://api.test/orders/A-17?token=x", status=404))
    assert of(made, HttpCall) == [HttpCall(seq=1, exchange=1, method="GET", host="api.test", path="/orders/A-17", status=404)]


@pytest.mark.parametrize("end", [End.TIMEOUT, End.REFUSED])
def test_an_exchange_that_never_came_about_is_an_error(end: End):
    made = trace(exchange(1, "GET", "https://api.test/x", status=None, end=end, error="gone"))
    assert kinds(made) == ["http_call", "error"]
    assert of(made, ErrorStep)[0].where == "GET api.test/x"
    assert "(gone)" in of(made, ErrorStep)[0].message


def test_a_cut_answer_is_told_on_the_call():
    [call] = of(trace(exchange(1, end=End.UPSTREAM_RESET)), HttpCall)
    assert call.error == "the answer was cut: the connection was reset"


# connections that the client refused


def refused(seq: int) -> Any:
    return exchange(seq, "CONNECT", "https://api.test:443", status=None, end=End.REFUSED, error="api.test: unknown CA; set X")


def test_a_connection_that_the_client_refused_is_an_error():
    made = trace(refused(1))
    assert made.steps == (ErrorStep(seq=1, exchange=1, message="api.test: unknown CA; set X", where="CONNECT api.test"),)


def test_a_spare_connection_that_the_client_dropped_is_none():
    made = trace(refused(1), exchange(2, "GET", "https://api.test/x"))
    assert (kinds(made), made.gaps) == (["http_call"], ("no model call was seen",))


# tool calls at work over HTTP

CALL = ask("call_77aa", "refund", order="A-17", amount=5)
ASKED = model(user("q"), asked=(CALL,))


@pytest.mark.parametrize(
    "work",
    [
        {"url": "https://api.test/v1/refund", "body": b'{"amount": 5, "order": "A-17"}'},
        {"method": "GET", "url": "https://api.test/refund?order=A-17&amount=5"},
        {"url": "https://api.test/pay", "headers": (("Idempotency-Key", "call_77aa"),)},
        {"url": "https://api.test/calls/call_77aa/run", "body": b"anything"},
    ],
)
def test_it_belongs_to_a_call_where_that_is_certain(work: dict[str, Any]):
    made = trace(ASKED, exchange(2, **work))
    assert [(call.state, call.executed_in) for call in of(made, ToolCall)] == [("executed", 2)]
    assert kinds(made) == ["user_message", "model_call", "tool_call", "http_call"]


@pytest.mark.parametrize(
    "work",
    [
        {"url": "https://api.test/v1/refund", "body": b'{"amount": 5}'},
        {"url": "https://api.test/v1/refunds", "body": b'{"amount": 5, "order": "A-17"}'},
        {"method": "GET", "url": "https://api.test/refund?order=A-17"},
        {"url": "https://api.test/log", "body": b'{"call": "call_77aa"}'},
    ],
)
def test_it_stays_apart_where_it_is_not(work: dict[str, Any]):
    made = trace(ASKED, exchange(2, **work))
    assert [(call.state, call.executed_in) for call in of(made, ToolCall)] == [("asked", None)]
