from __future__ import annotations

import datetime

import pytest

from wiretape.scenarios import kinds
from wiretape.scenarios.kinds import Environment, choice
from wiretape.traces.settings import ConnectTo, Price, RedactRule, Volatile


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (kinds.TEXT, "a", "a"),
        (kinds.SWITCH, True, True),
        (kinds.PORT, 0, 0),
        (kinds.PACE, "recorded", 1.0),
        (kinds.PACE, "0.5", 0.5),
        (kinds.PACE, 2, 2.0),
        (choice("a", "b"), "b", "b"),
        (kinds.HOSTS, ["a", "b:1"], ("a", "b:1")),
        (kinds.UPSTREAMS, {"shop": "https://x"}, {"shop": "https://x"}),
        (kinds.UPSTREAMS, ["shop=https://x?a=b", "n=v"], {"shop": "https://x?a=b", "n": "v"}),
        (kinds.CONNECTS, ("a:443:10.0.0.1:84",), (ConnectTo(host="a", port=443, address="10.0.0.1", connect_port=84),)),
        (kinds.CONNECTS, ["[::1]:80:[fe80::2]:"], (ConnectTo(host="::1", port=80, address="fe80::2"),)),
        (kinds.CONNECTS, ["::127.0.0.1:9"], (ConnectTo(host="", address="127.0.0.1", connect_port=9),)),
        (kinds.REDACTIONS, [{"header": "x"}, {"json": "$.a"}], (RedactRule(header="x"), RedactRule(json_path="$.a"))),
        (kinds.VOLATILES, [{"json": "$.a", "url": "u"}], (Volatile(url="u", json_path="$.a"),)),
        (kinds.ENVIRONMENTS, {"prod": {"mocks": False}, "dev": {}}, {"prod": Environment(mocks=False), "dev": Environment()}),
        (kinds.PRICES, {"m": {"input": 1, "output": 2.5}}, {"m": Price(input=1.0, output=2.5)}),
        (kinds.PRICES, {"m*": {"input": 0, "output": 2, "cached": 0.5, "reasoning": 3}},
         {"m*": Price(input=0.0, output=2.0, cached=0.5, reasoning=3.0)}),
        (kinds.FUNCTIONS, {"mine": "o.py:judge"}, {"mine": "o.py:judge"}),
    ],
)  # fmt: skip
def test_it_reads_what_fits(kind, given, value):
    assert kind.read(given) == value


@pytest.mark.parametrize(
    ("kind", "given", "sentence"),
    [
        (kinds.TEXT, 5, "expected text, got the number 5"),
        (kinds.TEXT, "", 'expected text, got ""'),
        (kinds.TEXT, datetime.date(2024, 1, 1), "expected text, got a date"),
        (kinds.SWITCH, "yes", 'expected true or false, got "yes"'),
        (kinds.PORT, 65536, "expected a port from 0 to 65535, got the number 65536"),
        (kinds.PORT, True, "expected a port from 0 to 65535, got true"),
        (kinds.PACE, "fast", 'expected instant, recorded, or a factor from 0 to 1000, got "fast"'),
        (choice("a", "b"), "c", 'expected one of a, b, got "c"'),
        (choice("a", "b"), ["a"], "expected one of a, b, got a list"),
        (kinds.HOSTS, "a", 'expected a list of texts, got "a"'),
        (kinds.HOSTS, ["a", ""], "expected a list of texts, got a list"),
        (kinds.UPSTREAMS, ["shop"], 'expected NAME=VALUE, got "shop"'),
        (kinds.UPSTREAMS, {"a": 1}, "expected a table of texts"),
        (kinds.CONNECTS, ["a:b"], 'expected HOST:PORT:ADDRESS:PORT, IPv6 in brackets, got "a:b"'),
        (kinds.CONNECTS, ["a:x:b:1"], 'expected HOST:PORT:ADDRESS:PORT, IPv6 in brackets, got "a:x:b:1"'),
        (kinds.REDACTIONS, [{"header": "x", "env": "y"}], "[0]: expected one of header, json, env; got header and env"),
        (kinds.ENVIRONMENTS, {"prod": {"mock": 1}}, "prod.mock: there is no such field; did you mean mocks?"),
        (kinds.PRICES, {"m": {"input": True, "output": 1}}, "m.input: expected a number, got true"),
        (kinds.PRICES, {"m": {"input": -1, "output": 1}}, "m.input: expected at least 0, got the number -1"),
        (kinds.FUNCTIONS, ["x"], "expected a mapping, got a list"),
    ],
)  # fmt: skip
def test_it_refuses_what_does_not_fit(kind, given, sentence):
    with pytest.raises(ValueError, match=r"expected|no such") as caught:
        kind.read(given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (kinds.SWITCH, "YES", True), (kinds.SWITCH, "0", False), (kinds.PORT, "8080", 8080), (kinds.TEXT, "a,b", "a,b"),
        (kinds.HOSTS, "a, b,,c", ("a", "b", "c")), (kinds.UPSTREAMS, "a=http://x,b=http://y", {"a": "http://x", "b": "http://y"}),
        (kinds.PACE, "2", 2.0), (kinds.PACE, "instant", 0.0),
    ],
)  # fmt: skip
def test_it_reads_a_variables_text(kind, text, value):
    assert kind.read(kind.from_text(text)) == value


@pytest.mark.parametrize(("kind", "text"), [(kinds.SWITCH, "maybe"), (kinds.PORT, "eighty"), (kinds.PORT, "-1")])
def test_it_refuses_a_variables_text_that_does_not_fit(kind, text):
    with pytest.raises(ValueError, match="expected"):
        kind.read(kind.from_text(text))
