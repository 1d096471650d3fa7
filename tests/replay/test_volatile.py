from __future__ import annotations

import gzip
import json

import pytest

from wiretape.replay.volatile import set_aside
from wiretape.traces.settings import Volatile
from wiretape.traces.types import Json, Request

URL = "https://api.test/v1/x?a=1&t=2&b="


def left(path: str, body: Json) -> Json:
    request, _ = set_aside(Request("POST", URL, (), json.dumps(body).encode()), [Volatile(json_path=path)])
    found: Json = json.loads(request.body or b"")
    return found


@pytest.mark.parametrize(
    ("path", "body", "rest"),
    [
        ("$.a", {"a": 1, "b": 2.50}, {"b": 2.5}),
        ("$.a.b", {"a": {"b": 1, "c": "é"}}, {"a": {"c": "é"}}),
        ("$['a b']", {"a b": 1}, {}),
        ("$.a[*].id", {"a": [{"id": 1, "x": 2}, {"id": 3}]}, {"a": [{"x": 2}, {}]}),
        ("$.a[1]", {"a": [1, 2, 3]}, {"a": [1, None, 3]}),
        ("$..id", {"id": 1, "a": {"id": {"id": 2}, "b": [{"id": 3}]}}, {"a": {"b": [{}]}}),
        ("$.a.*", {"a": {"b": 1}}, {"a": {}}),
        ("$.gone", {"a": 1}, {"a": 1}),
    ],
)
def test_it_takes_out_what_a_path_leads_to(path: str, body: Json, rest: Json) -> None:
    assert left(path, body) == rest


@pytest.mark.parametrize("path", ["$.messages", "$.messages[0].id", "$.*", "$..id", "$.model", "$.tools[*].id"])
def test_what_a_model_reads_stays_whatever_a_rule_says(path: str) -> None:
    body = {"messages": [{"id": "x", "content": "y"}], "model": "m", "tools": [{"id": 1}], "id": 1}
    assert left(path, body) in (body, {name: value for name, value in body.items() if name != "id"})


def test_it_takes_a_parameter_out_of_the_query() -> None:
    request, applied = set_aside(Request("GET", URL), [Volatile(query="t")])
    assert (request.url, applied) == ("https://api.test/v1/x?a=1&b=", ("query t",))


def test_a_coded_body_is_read() -> None:
    request = Request("POST", URL, (("Content-Encoding", "gzip"),), gzip.compress(b'{"a": 1, "b": 12345678901234567890}'))
    assert set_aside(request, [Volatile(json_path="$.a")])[0].body == b'{"b":12345678901234567890}'


@pytest.mark.parametrize("body", [None, b"", b"text", b'{"a": 1, "a": 2}'])
def test_what_is_no_json_stays(body: bytes | None) -> None:
    request = Request("POST", URL, (), body)
    assert set_aside(request, [Volatile(json_path="$.a")]) == (request, ())


@pytest.mark.parametrize(("pattern", "fits"), [("*", True), ("*/v1/x", True), ("https://api.test/*", True), ("*/v1", False)])
def test_a_rule_holds_for_its_addresses(pattern: str, fits: bool) -> None:
    _, applied = set_aside(Request("GET", URL), [Volatile(url=pattern, query="t")])
    assert bool(applied) == fits
