from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.replay.bindings import NONE, Binding, Bindings
from wiretape.replay.paths import NOWHERE, Places
from wiretape.replay.putback import put_into_request
from wiretape.replay.rebind import Run, Unified, unify
from wiretape.replay.times import Moment
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.types import Request

THEN = datetime(2026, 3, 5, 14, 30, 20, tzinfo=UTC).timestamp()
NOW = datetime(2026, 4, 6, 9, 10, 11, tzinfo=UTC).timestamp()
A, B = "3f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11", "b8a1f3c2-77aa-4c0e-8d11-5e2c9f60d4e9"
URL = "http://127.0.0.1:4000/v1/chat"


def post(body: Any, url: str = URL) -> Request:
    return Request("POST", url, (("Content-Type", "application/json"),), json.dumps(body).encode())


def unified(recorded: Any, live: Any, bindings: Bindings = NONE, places: Places = NOWHERE) -> Unified | str:
    return unify(post(recorded), post(live), bindings, Run(Moment(THEN), Moment(NOW), places))


def bound(recorded: Any, live: Any, **more: Any) -> list[tuple[str, str, str]] | str:
    found = unified(recorded, live, **more)
    return found if isinstance(found, str) else [(each.kind, each.recorded, each.live) for each in found.used]


@pytest.mark.parametrize(
    ("kind", "recorded", "live"),
    [
        ("uuid", A, B),
        ("id", "a1b2c3d4", "09f8e7d6"),
        ("id", "9pw1oN0rUQn6hd7NwPF2OD7E", "Xc81kQ2mZp0vLw9RtY7aBs4J"),
        ("id", "V1StGXR8_Z5jdHi6B-myT", "kP3_xQ9vLm2-Wz7RtYaBc"),
        ("id", "q7TzW2mKp9RvX4bN", "K5qWnB3xYz0vT8cD"),
        ("date", "2026-03-05", "2026-04-06"),
        ("path", "/tmp/a17", "/tmp/x91"),
        ("path", "/tmp/tmpk3j_x8ab", "/tmp/tmp0q9w8e7r"),
        ("path", "/tmp/pytest-of-ann/pytest-3", "/tmp/pytest-of-runner/pytest-0"),
        ("path", "/home/ann", "/home/runner"),
        ("time", "2026-03-05T14:30:21.123456+00:00", "2026-04-06T09:10:12.654321+00:00"),
        ("time", "1772721021", "1775466612"),
    ],
)
def test_a_fresh_value_is_bound_to_the_one_in_its_place(kind: str, recorded: str, live: str) -> None:
    assert bound({"text": f"see {recorded}, please"}, {"text": f"see {live}, please"}) == [(kind, recorded, live)]


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ("Delete invoices", "Delete customers"),
        ("order 4711", "order 4712"),
        ("item ABCDEF12", "item ABCDEF13"),
        ("in decade80", "in decade90"),
        ("Get-Process-2-Running", "Get-Service-2-Stopped"),
        ("use llama3instruct8b", "use llama2instruct7b"),
        ("call getUser2FromDatabase", "call getItem2FromDatabase"),
        ("version 1.2.3", "version 1.2.4"),
        ("on 2025-12-24", "on 2026-04-06"),
        ("at 08:00", "at 09:10"),
        ("on 2026-03-05", "on April 6, 2026"),
        ("on 2026-03-05", "on 2026-99-99"),
        ("see /tmp/invoices/a", "see /tmp/payments/a"),
        ("see /tmp/report1/a", "see /tmp/report2/a"),
        ("see /tmp/a17/a.txt", "see /tmp/x91/b.txt"),
        ("see /etc/hosts", "see /etc/passwd"),
        ("port 4000", "port 5000"),
        ("commit 3f0c9d5e5d3e4a579f570b6f1d3a7c1112345678", "commit b8a1f3c277aa4c0e8d115e2c9f60d4e912345678"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.a1b2c3d4e5", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIyIn0.d4c3b2a1e5"),
        ("data:image/png;base64,a1b2c3d4", "data:image/png;base64,d1c2b3a4"),
        (f"x {A}", f"x {B} and more"),
        (A, ""),
    ],
)
def test_mere_other_text_is_none(recorded: str, live: str) -> None:
    assert unified({"a": [{"b": recorded}]}, {"a": [{"b": live}]}) == "$.a[0].b"


@pytest.mark.parametrize("name", ["signature", "encrypted_content", "model", "thought_signature"])
def test_nothing_is_bound_in_what_is_signed_or_encrypted_or_names_the_model(name: str) -> None:
    assert unified({name: A}, {name: B}) == f"$.{name}"


@pytest.mark.parametrize(
    ("recorded", "live", "place"),
    [
        ({"a": 1}, {"a": 2}, "$.a"),
        ({"a": 1}, {"a": "1"}, "$.a"),
        ({"a": A}, {"a": [B]}, "$.a"),
        ({"a": [1]}, {"a": [1, 2]}, "$.a[1]"),
        ({"a": 1}, {"a": 1, "b": 2}, "$.b"),
        ({"a": True}, {"a": False}, "$.a"),
        ({"at": 1772721021}, {"at": "1775466612"}, "$.at"),
    ],
)
def test_types_and_structure_are_exact(recorded: Any, live: Any, place: str) -> None:
    assert unified(recorded, live) == place


@pytest.mark.parametrize(
    ("recorded", "live"), [(b"", b"1"), (b"", b"{}"), (b"x", b'"x"'), (None, b""), (b'{"a": 1', b'{"a": 1}')]
)
def test_bodies_of_two_kinds_differ(recorded: bytes | None, live: bytes | None) -> None:
    requests = (Request("POST", URL, (), body) for body in (recorded, live))
    assert unify(next(requests), next(requests), NONE, Run(Moment(THEN))) == "body"


def test_numbers_are_bound_where_they_are_times_or_process_ids() -> None:
    assert bound({"at": 1772721021.5, "pid": 71}, {"at": 1775466612.25, "pid": 9}) == [
        ("time", "1772721021.5", "1775466612.25"),
        ("pid", "71", "9"),
    ]


def test_secrets_are_equal_whatever_their_numbers() -> None:
    recorded = post({"key": "sk-wtredacted0001", "signature": "wtredacted0002", "run": A}, f"{URL}?key=wtredacted0003")
    live = post({"key": "sk-wtredacted0007", "signature": "wtredacted0008", "run": B}, f"{URL}?key=wtredacted0009")
    found = unify(recorded, live, NONE, Run(Moment(THEN)))
    assert isinstance(found, Unified)
    assert found.used == (Binding("uuid", A, B),)


def test_a_port_is_bound_in_authorities_alone() -> None:
    recorded, live = post({"u": "http://localhost:4000/x"}), post({"u": "http://localhost:5000/x"}, URL.replace("4000", "5000"))
    found = unify(recorded, live, NONE, Run(Moment(THEN)))
    assert isinstance(found, Unified)
    assert found.used == (Binding("port", "4000", "5000"),)


def test_one_value_stands_for_one_and_only_one() -> None:
    other = "c0ffee00-0000-4000-8000-000000000001"
    assert unified([A, A], [B, other]) == "$[1]"
    assert unified([A, other], [B, B]) == "$[1]"
    assert unified([A, B], [B, B]) == "$[1]"
    assert unified({"x": A, "y": A}, {"x": B, "y": A}) == "$.y"


def test_a_failed_attempt_binds_nothing() -> None:
    first = unified({"a": A}, {"a": B})
    assert isinstance(first, Unified)
    assert unified({"a": "run a1b2c3d4", "b": 1}, {"a": "run 09f8e7d6", "b": 2}, first.bindings) == "$.b"
    assert [each.recorded for each in first.bindings] == [A]


def test_the_working_directory_is_bound_whatever_it_is_called() -> None:
    recorded, live = "in /srv/old/refunds: /srv/old/refunds/src/a.py", "in /home/me/w/shop: /home/me/w/shop/src/a.py"
    places = Places(("/home/me/w/shop", "/home/me"))
    assert bound([recorded], [live], places=places) == [("path", "/srv/old/refunds", "/home/me/w/shop")]


def test_json_in_a_string_is_compared_by_its_structure_too() -> None:
    recorded, live = json.dumps({"a": A, "b": 1}), json.dumps({"b": 1, "a": B}, indent=1)
    assert bound({"arguments": recorded}, {"arguments": live}) == [("uuid", A, B)]


UUIDS = st.uuids(version=4).map(str)


@given(st.lists(UUIDS, min_size=1, max_size=6, unique=True), st.lists(UUIDS, min_size=1, max_size=6, unique=True), st.data())
def test_what_unifies_is_a_bijection_and_nothing_else_unifies(old: list[str], new: list[str], data: st.DataObject) -> None:
    places = st.lists(st.tuples(st.sampled_from(old), st.sampled_from(new)), min_size=1, max_size=8)
    pairs = data.draw(places)
    found = unified([one for one, _ in pairs], [other for _, other in pairs])
    one_to_one = len({*pairs}) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    moved = {one for one, other in pairs if one != other} | {other for one, other in pairs if one != other}
    fixed = {one for one, other in pairs if one == other}
    assert isinstance(found, Unified) == (one_to_one and not moved & fixed)


@given(st.text(), st.text())
def test_texts_without_fresh_values_unify_only_where_they_are_equal(one: str, other: str) -> None:
    assert isinstance(unified([one], [other]), Unified) == (one == other)


PIECES = (
    *(A, B, "/tmp/a17", "/tmp/x91", "/x", "2026-03-05", "March 5, 2026", "14:30", "localhost:4000", "pid 12"),
    *("{", "}", "[", "]", '"', "\\", ",", ":", " ", "a", "1", "\n", "é", "\\u00e9", "null", "eyJ", "T", "Z", "signature"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
FRESH = ((A, B), ("/tmp/a17", "/tmp/x91"), ("localhost:4000", "localhost:5000"))


def _renewed(text: str) -> str:
    for old, new in FRESH:
        text = text.replace(old, new)
    return text


@given(TEXTS, st.one_of(TEXTS, st.none()))
def test_what_unifies_says_what_its_bindings_make_of_the_recorded_one(recorded: str, other: str | None) -> None:
    live = Request("POST", URL, (), (_renewed(recorded) if other is None else other).encode())
    old = Request("POST", URL, (), recorded.encode())
    found = unify(old, live, NONE, Run(Moment(THEN)))
    if isinstance(found, Unified):
        assert fingerprint(put_into_request(old, found.bindings)).canonical == fingerprint(live).canonical
