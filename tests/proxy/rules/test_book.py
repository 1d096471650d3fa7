from __future__ import annotations

from random import Random

import pytest

from wiretape.proxy.rules.book import NoSuchRule, RuleExists, Switch
from wiretape.proxy.rules.subject import Where
from wiretape.traces.errors import UsageError

LIMITED = """
  - {id: limited, times: 1, answer: {text: a}}
  - {id: overloaded, times: 1, answer: {text: b}}
"""


def ids(book, call, times, session="s", key="k"):
    touches = [book.ask(call(), session, key) for _ in range(times)]
    return [touch.rule.id if touch else None for touch in touches]


def test_it_stands_aside_after_its_times_for_the_next_rule(book, call):
    assert ids(book(LIMITED), call, 3) == ["limited", "overloaded", None]


def test_it_counts_per_session_and_request(book, call):
    rules = book(LIMITED)
    assert ids(rules, call, 1) == ids(rules, call, 1, session="other") == ids(rules, call, 1, key="other") == ["limited"]
    assert rules.answered("limited") == 3


def test_it_lets_the_first_calls_through(book, call):
    assert ids(book("  - {id: a, skip: 2, times: 1, answer: {text: a}}"), call, 4) == [None, None, "a", None]


def test_it_counts_anew_when_it_is_turned_on(book, call):
    rules = book(LIMITED)
    ids(rules, call, 2)
    assert not rules.switch("limited", Switch.TOGGLE).enabled
    assert rules.answered("limited") == 2
    assert rules.switch("limited", Switch.TOGGLE).enabled
    assert ids(rules, call, 2) == ["limited", None]
    rules.switch("limited", Switch.ON)
    assert ids(rules, call, 1) == [None]


@pytest.mark.parametrize(("scope", "met"), [("all", True), ("session: s", True), ("session: t", False), ("scenario: x", True)])
def test_one_run_never_meets_the_rules_of_another(book, call, scope, met):
    rules = book(f"  - {{id: a, scope: '{scope}', answer: {{text: a}}}}", scenario="x")
    assert (rules.ask(call(), "s", "k") is not None) is met


@pytest.mark.parametrize(
    ("match", "met"),
    [
        ("upstream: shop", True),
        ("upstream: sho", False),
        ("upstream: sho*", True),
        ("path: /v1/*", True),
        ("path: /v1", False),
        ("upstream: shop, path: /v2*", False),
        ("host: x", False),
    ],
)
def test_every_key_of_a_match_must_hold(book, call, match, met):
    assert (book(f"  - {{id: a, match: {{{match}}}, answer: {{text: a}}}}").ask(call(), "s", "k") is not None) is met


def test_a_rule_is_met_by_its_own_kind_of_request_alone(book, call):
    assert book("  - {id: a, where: mcp, answer: {text: a}}").ask(call(), "s", "k") is None


CASES = """
  - id: a
    cases:
      - {when: [{arg: n, less: 10}], answer: {text: small}}
      - {when: [{arg: n, less: 100}, {arg: note, missing: true}], answer: {text: medium}}
    answer: {text: own}
    otherwise: %s
  - {id: b, answer: {text: next}}
"""


@pytest.mark.parametrize(
    ("otherwise", "n", "text"),
    [("pass", 1, "small"), ("pass", 50, "medium"), ("pass", 500, "next"), ("answer", 500, "own"), ("answer", 5, "small")],
)
def test_the_first_case_that_holds_answers_and_otherwise_speaks_for_none(book, call, otherwise, n, text):
    touch = book(CASES % otherwise).ask(call(n=n), "s", "k")
    assert touch.answer.text == text


def test_it_fails_naming_the_condition_that_came_nearest(book, call):
    touch = book(CASES % "fail").ask(call(n=50, note="x"), "s", "k")
    assert touch.failure == 'no condition of the rule a holds; nearest: arg note missing (it is "x")'


@pytest.mark.parametrize(
    ("then", "texts"),
    [("repeat", ["a", "b", "a"]), ("pass", ["a", "b", None]), ("fail", ["a", "b", "has given its 2 answers"])],
)
def test_it_gives_a_sequence_one_after_the_other(book, call, then, texts):
    rules = book(f"  - {{id: r, answer: {{sequence: [{{text: a}}, {{text: b}}], then: {then}}}}}")
    touches = [rules.ask(call(), "s", "k") for _ in range(3)]
    said = [touch and (touch.failure or touch.answer.text) for touch in touches]
    assert said[:2] == texts[:2]
    assert (said[2] is None) if texts[2] is None else texts[2] in said[2]


def test_a_rate_happens_as_often_as_it_says_and_the_same_in_each_run(book, call):
    rule = "  - {id: r, faults: [{error: {rate: 0.3}}]}"

    def fired():
        rules = book(rule)
        return [bool(rules.ask(call(), "s", f"k{n}").faults) for n in range(300)]

    first, second = fired(), fired()
    assert first == second
    assert 60 < sum(first) < 120


def test_what_happens_by_rate_is_as_late_as_what_always_happens(book, call):
    """The same chance for both would let the rate choose the jitter."""
    rules = book("  - {id: r, faults: [{error: {rate: 0.3}}]}")
    touches = [rules.ask(call(), "s", f"k{n}") for n in range(300)]
    drawn = [Random(touch.seed).random() for touch in touches if touch.faults]
    assert max(drawn) > 0.8


def test_it_is_changed_by_name(book, call):
    rules = book(LIMITED)
    with pytest.raises(RuleExists, match="there is a rule limited already"):
        rules.add(rules.get("limited"))
    with pytest.raises(NoSuchRule, match="there is no rule x; there are limited, overloaded"):
        rules.switch("x", Switch.ON)
    with pytest.raises(UsageError, match="a rule keeps its id"):
        rules.replace("limited", rules.get("overloaded"))
    with pytest.raises(UsageError, match="expected each of limited, overloaded once, got limited"):
        rules.order(["limited"])
    rules.order(["overloaded", "limited"])
    assert ids(rules, call, 1) == ["overloaded"]
    rules.remove("overloaded")
    assert [rule.id for rule in rules.rules] == ["limited"]
    assert rules.enabled(Where.HTTP) == rules.rules
