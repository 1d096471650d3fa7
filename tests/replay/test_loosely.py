from __future__ import annotations

import json
from typing import Any

import pytest

from wiretape.replay.matcher import Entry, Match, Matcher
from wiretape.replay.miss import Miss, Reason
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.redact import LIVE
from wiretape.traces.settings import Exhausted, Level, MatchSettings, Volatile
from wiretape.traces.types import Exchange, Request, Response

URL = "http://127.0.0.1:4000/v1/chat/completions"
A, B, C, D = (f"{digit}f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11" for digit in "abcd")


def chat(text: str, url: str = URL, **more: Any) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return Request("POST", url, (("Content-Type", "application/json"),), json.dumps(body).encode())


def matcher(*requests: Request, **settings: Any) -> Matcher:
    recorded = {seq: Exchange(seq, each, Response(200)) for seq, each in enumerate(requests, 1)}
    entries = [Entry(seq, "", fingerprint(each.request), "POST", each.request.url) for seq, each in recorded.items()]
    return Matcher(entries, recorded.__getitem__, MatchSettings.model_validate(settings))


def found(made: Matcher, request: Request, session: str = "") -> tuple[int, Level] | Reason:
    match = made.find(request, session)
    return (match.exchange.seq, match.level) if isinstance(match, Match) else match.reason


def test_what_is_bound_once_holds_for_the_whole_session() -> None:
    made = matcher(chat(f"one {A}"), chat(f"two {A}"), chat(f"three {A}"))
    assert found(made, chat(f"one {C}")) == (1, Level.REBOUND)
    assert found(made, chat(f"two {D}")) is Reason.UNKNOWN
    assert found(made, chat(f"two {C}")) == (2, Level.REBOUND)
    assert found(made, chat(f"three {D}"), "another") == (3, Level.REBOUND)
    assert [(each.recorded, each.live) for each in made.bindings()] == [(A, C), (A, D)]
    assert [each.because for each in made.loose] == [(f"uuid {A} → {C}",)] * 2 + [(f"uuid {A} → {D}",)]


def test_of_several_that_fit_the_one_that_needs_fewest_new_bindings_answers() -> None:
    made = matcher(chat(f"begin {B}"), chat(f"go {A}"), chat(f"go {B}"))
    found(made, chat(f"begin {D}"))
    assert found(made, chat(f"go {D}")) == (3, Level.REBOUND)
    assert found(made, chat(f"go {C}")) == (2, Level.REBOUND)


def test_answers_to_rebound_requests_run_out_too() -> None:
    made = matcher(chat(f"poll {A}"))
    assert [found(made, chat(f"poll {B}")) for _ in range(2)] == [(1, Level.REBOUND), Reason.EXHAUSTED]
    made = matcher(chat(f"poll {A}"), exhausted=Exhausted.REPEAT_LAST)
    assert [found(made, chat(f"poll {B}")) for _ in range(3)] == [(1, Level.REBOUND)] * 3


def test_secrets_stay_one_to_one_where_other_values_are_fresh() -> None:
    made = matcher(chat(f"one {A}", token="wtredacted0001"), chat(f"two {A}", token="wtredacted0002"))
    first, second = (f"wtredacted{LIVE + n}" for n in range(2))
    assert found(made, chat(f"one {B}", token=first)) == (1, Level.REBOUND)
    assert found(made, chat(f"two {B}", token=first)) is Reason.UNKNOWN
    assert found(made, chat(f"two {B}", token=second, other=second)) is Reason.UNKNOWN
    assert found(made, chat(f"two {B}", token=second)) == (2, Level.REBOUND)
    assert all("wtredacted" not in str(each) for each in made.bindings())


def test_a_secret_in_a_url_is_no_fresh_value_and_no_difference() -> None:
    made = matcher(chat(f"one {A}", f"{URL}?key=wtredacted0001&n=3"))
    assert found(made, chat(f"one {B}", f"{URL}?n=3&key=wtredacted{LIVE}")) == (1, Level.REBOUND)


def test_an_answer_at_any_level_carries_what_is_bound() -> None:
    made = matcher(chat(f"one {A}"), chat("two"))
    made.find(chat(f"one {B}"))
    second = made.find(chat("two"))
    assert isinstance(second, Match)
    assert (second.level, second.bindings.live("uuid", A)) == (Level.EXACT, B)


def test_a_server_on_another_port_and_an_id_in_the_path_are_found() -> None:
    made = matcher(chat("x", f"http://127.0.0.1:4000/runs/{A}/steps"))
    assert found(made, chat("x", f"http://127.0.0.1:5000/runs/{B}/steps")) == (1, Level.REBOUND)
    assert found(made, chat("x", f"http://127.0.0.2:5000/runs/{B}/steps")) is Reason.UNKNOWN


@pytest.mark.parametrize("level", [Level.EXACT, Level.CANONICAL, Level.NORMALISED])
def test_nothing_is_bound_at_a_closer_level(level: Level) -> None:
    assert found(matcher(chat(A), level=level), chat(B)) is Reason.UNKNOWN


@pytest.mark.parametrize(
    "changed",
    [
        chat(f"{B} and more"),
        chat(B, model="other"),
        chat(B, temperature=0.5),
        chat(B, tools=[{"name": "t"}]),
        chat(B, system="Be rude."),
    ],
)
def test_a_changed_request_is_never_answered(changed: Request) -> None:
    made = matcher(chat(A, system="Be kind.") if b"rude" in (changed.body or b"") else chat(A))
    assert found(made, changed) is Reason.UNKNOWN
    assert made.bindings() == ()


def test_a_miss_names_no_difference_that_is_bound() -> None:
    made = matcher(chat(f"one {A}"), chat(f"two {A}", n=1))
    made.find(chat(f"one {B}"))
    miss = made.find(chat(f"two {B}", n=2))
    assert isinstance(miss, Miss)
    assert [each.path for each in miss.differences] == ["$.n"]


# volatile fields


def test_volatile_fields_are_set_aside_and_the_rule_is_named() -> None:
    rules = (Volatile(url="*/chat/completions", json_path="$.metadata.session"), Volatile(query="t"))
    made = matcher(chat("a", f"{URL}?t=1", metadata={"session": "one"}), volatile=rules)
    assert found(made, chat("a", f"{URL}?t=2", metadata={"session": "two"})) == (1, Level.NORMALISED)
    assert made.loose[0].because == ("$.metadata.session is volatile", "query t is volatile")


def test_volatile_fields_and_fresh_values_together_are_rebound() -> None:
    made = matcher(chat(A, note="one"), volatile=(Volatile(json_path="$.note"),))
    assert found(made, chat(B, note="two")) == (1, Level.REBOUND)
    assert made.loose[0].because == ("$.note is volatile", f"uuid {A} → {B}")


def test_a_rule_for_another_address_sets_nothing_aside() -> None:
    made = matcher(chat("a", note="one"), volatile=(Volatile(url="*/responses", json_path="$.note"),))
    assert found(made, chat("a", note="two")) is Reason.UNKNOWN


# drift


def test_a_changed_request_is_answered_where_drift_is_allowed_and_called_drift() -> None:
    made = matcher(chat("a"), chat("b"), level=Level.SEQUENCE, allow_drift=True)
    assert found(made, chat("b")) == (2, Level.EXACT)
    assert found(made, chat("c")) == (1, Level.SEQUENCE)
    assert [each.path for each in made.loose[0].drift] == ["$.messages[0].content"]
    assert found(made, chat("d")) is Reason.UNKNOWN


def test_drift_keeps_to_the_place_in_the_conversation() -> None:
    long = [{"role": "user", "content": "x"}] * 3
    made = matcher(chat("a"), chat("b", messages=long), level=Level.SEQUENCE, allow_drift=True)
    assert found(made, chat("c", messages=[*long[:2], {"role": "user", "content": "y"}])) == (2, Level.SEQUENCE)


def test_a_notification_that_was_never_recorded_drifts_nowhere() -> None:
    def rpc(method: str, **more: Any) -> Request:
        body = {"jsonrpc": "2.0", "method": method, **more}
        return Request("POST", "http://tools.test/mcp", (), json.dumps(body).encode())

    made = matcher(rpc("tools/call", id=1), rpc("tools/list", id=2), level=Level.SEQUENCE, allow_drift=True)
    assert found(made, rpc("notifications/x")) is Reason.UNKNOWN
    assert found(made, rpc("tools/list", id=3, params={"cursor": "x"})) == (2, Level.SEQUENCE)


def test_without_the_permission_there_is_no_drift() -> None:
    assert found(matcher(chat("a"), level=Level.SEQUENCE), chat("b")) is Reason.UNKNOWN
