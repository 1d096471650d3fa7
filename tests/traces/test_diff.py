from __future__ import annotations

from typing import Any

import pytest
from support.traces import ask, asking, exchange, executed, handing, model, said, trace, user

from wiretape.traces.decoders import decode
from wiretape.traces.diff import Difference, diff
from wiretape.traces.types import Asked, End, Said, Trace


def refund(order: str = "A-17", *, call_id: str = "c1", tool: str = "get_order", text: str = "Refunded.") -> Trace:
    call = ask(call_id, tool, order=order)
    return trace(
        model(user("refund"), asked=(call,)),
        model(user("refund"), asking(call), handing(call_id), text=text),
    )


def steps(*waves: tuple[Asked, ...], text: str = "done") -> Trace:
    """One turn: each wave asked for together, when the results of the one before are there."""
    history: list[Said] = [user("q")]
    views = []
    for wave in waves:
        views.append(model(*history, asked=wave))
        history += [asking(*wave), *(handing(call.call_id) for call in wave)]
    return trace(*views, model(*history, text=text))


def only(found: tuple[Difference, ...]) -> Difference:
    [difference] = found
    return difference


def test_a_trace_behaves_like_itself():
    assert diff(refund(), refund()) == ()


@pytest.mark.parametrize("live", [refund(call_id="other"), refund(text=" Refunded.\n")])
def test_ids_and_white_space_are_no_behaviour(live: Trace):
    assert diff(refund(), live) == ()


def test_the_text_of_inner_calls_is_no_behaviour():
    one, other = ask("c1"), ask("c1")
    before = trace(model(user("q"), text="Let me look.", asked=(one,)), model(user("q"), asking(one), handing("c1"), text="a"))
    now = trace(
        model(user("q"), text="Looking.", asked=(other,)), model(user("q"), asking(other), handing("c1", "x"), text="a")
    )
    assert diff(before, now) == ()


def test_other_arguments_are_one_sentence():
    found = only(diff(refund(), refund("A-18")))
    assert found.message == ('turn 1: get_order was called with {"order":"A-17"} in the recording and {"order":"A-18"} now')
    assert (found.kind, found.step, found.recorded, found.live) == ("arguments", 3, {"order": "A-17"}, {"order": "A-18"})


def test_a_call_that_is_missing_and_one_that_is_new_are_two():
    messages = [(each.kind, each.message) for each in diff(refund(), refund(tool="cancel"))]
    assert messages == [
        ("call-missing", 'turn 1: get_order was called with {"order":"A-17"} in the recording and is not called now'),
        ("call-added", 'turn 1: cancel is called with {"order":"A-17"} now and was not in the recording'),
    ]


def test_how_often_is_behaviour():
    found = only(diff(steps((ask("c1"),)), steps((ask("c1"),), (ask("c2"),))))
    assert found.message == "turn 1: get_order was called with {} once in the recording and twice now"
    assert (found.kind, found.recorded, found.live) == ("call-count", 1, 2)


def test_whether_a_call_was_carried_out_is_behaviour():
    before = trace(model(user("q"), asked=(ask("c1", "read"),)), executed("read"))
    events = [(1.5, "", {"type": "approval_decided", "tool": "read", "approved": False})]
    found = diff(before, trace(model(user("q"), asked=(ask("c1", "read"),)), events=events))
    assert [each.message for each in found if each.kind == "call-state"] == [
        "turn 1: read was called with {}: carried out in the recording, denied now"
    ]


def test_the_order_of_calls_asked_for_together_is_no_behaviour():
    one, other = ask("c1", n=1), ask("c2", n=2)
    assert diff(steps((one, other)), steps((other, one))) == ()


def test_calls_one_after_the_other_that_were_asked_for_together_waited_for_nothing():
    one, other = ask("c1", n=1), ask("c2", n=2)
    assert diff(steps((one, other)), steps((other,), (one,))) == ()


@pytest.mark.parametrize(
    ("waves", "how"),
    [
        (((ask("c2", "refund"),), (ask("c1", "ask_user"),)), "before it"),
        (((ask("c1", "ask_user"), ask("c2", "refund")),), "without waiting for it"),
    ],
)
def test_a_call_that_no_longer_waits_for_a_result_is_another_behaviour(waves: Any, how: str):
    before = steps((ask("c1", "ask_user"),), (ask("c2", "refund"),))
    found = only(diff(before, steps(*waves)))
    expected = f"turn 1: refund was called with {{}} after the result of ask_user in the recording and {how} now"
    assert (found.kind, found.message) == ("order", expected)


def test_turns_are_compared_one_by_one():
    def two(first: str, second: str) -> Trace:
        one, other = ask("c1", first), ask("c2", second)
        history = (user("a"), asking(one), handing("c1"), said("x"), user("b"))
        return trace(
            model(user("a"), asked=(one,)),
            model(user("a"), asking(one), handing("c1"), text="x"),
            model(*history, asked=(other,)),
            model(*history, asking(other), handing("c2"), text="y"),
        )

    assert [each.message[:9] for each in diff(two("f", "g"), two("g", "f"))] == [
        "turn 1: f", "turn 1: g", "turn 2: g", "turn 2: f",
    ]  # fmt: skip


def test_what_the_user_says_is_the_situation_that_is_compared():
    one = trace(model(user("a"), text="x"))
    found = only(diff(one, trace(model(user("b"), text="x"))))
    assert (found.kind, found.step) == ("input", 1)
    assert found.message == 'turn 1: the user said "a" in the recording and "b" now'
    two = trace(model(user("a"), text="x"), model(user("a"), said("x"), user("b"), text="x"))
    assert only(diff(one, two)).message == 'turn 2: the user said nothing in the recording and "b" now'


def test_what_side_conversations_are_told_is_none_of_the_users_words():
    one = trace(model(user("a"), text="x"), model(user("title"), system_digest="t"))
    assert diff(one, trace(model(user("a"), text="x"), model(user("another title"), system_digest="t"))) == ()


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        ("Refunded.", "Sorry.", 'the final answer: it was "Refunded." in the recording and it is "Sorry." now'),
        ("", "Sorry.", 'the final answer: there was none in the recording and it is "Sorry." now'),
        ("Refunded.", "", 'the final answer: it was "Refunded." in the recording and there is none now'),
    ],
)
def test_the_final_answer_is_behaviour(before: str, now: str, message: str):
    found = only(diff(refund(text=before), refund(text=now)))
    assert (found.kind, found.message) == ("answer", message)


def test_an_answer_in_json_is_compared_by_its_values():
    assert diff(refund(text='{"a": 1, "b": 2}'), refund(text='{"b":2,"a":1.0}')) == ()


def test_a_long_answer_is_shortened_in_the_sentence_alone():
    found = only(diff(refund(text="x" * 5000), refund(text="y")))
    assert len(found.message) < 400
    assert found.recorded == "x" * 5000


def test_how_the_run_ended_is_behaviour():
    ended = model(user("q"), text=None, error="overloaded")
    found = diff(trace(model(user("q"), text="a")), trace(ended))
    assert [each.kind for each in found] == ["answer", "end"]
    assert found[1].message == (
        "the run ended with a model call that stopped (stop) in the recording and with a failed model call (overloaded) now"
    )


def test_http_calls_count_by_method_host_and_path():
    before = trace(exchange(1, "GET", "http://127.0.0.1:4711/orders/A-17?x=1"))
    same = trace(exchange(1, "GET", "http://127.0.0.1:9999/orders/A-17?x=2", status=500))
    other = trace(exchange(1, "GET", "http://127.0.0.1:4711/orders/A-18"))
    assert diff(before, same) == ()
    assert [(each.kind, each.message) for each in diff(before, other)] == [
        ("request-missing", "GET 127.0.0.1/orders/A-17 was requested in the recording and is not requested now"),
        ("request-added", "GET 127.0.0.1/orders/A-18 is requested now and was not in the recording"),
    ]


def test_arguments_that_are_no_json_are_compared_as_text():
    def cut(text: str) -> Trace:
        return trace(model(user("q"), asked=(Asked(tool="f", call_id="c1", arguments=None, arguments_text=text),)))

    assert diff(cut('{"a": 1'), cut('{"a": 1')) == ()
    assert only(diff(cut('{"a": 1'), cut('{"a": 2'))).live == '{"a": 2'


def test_a_retry_is_no_behaviour_of_its_own():
    cut = exchange(1, end=End.UPSTREAM_RESET), model(user("q"), text="Hel", complete=False)
    assert diff(trace(model(user("q"), text="Hello")), trace(cut, model(user("q"), text="Hello"))) == ()


ASKED = {"type": "approval_requested", "tool": "refund"}
GIVEN = {"type": "approval_decided", "tool": "refund", "approved": True}
USED = {"type": "skill_used", "skill": "pdf"}
PAID = {"type": "state_changed", "object": "order", "name": "A-17", "from": "open", "to": "paid"}


def told(*events: dict[str, Any]) -> Trace:
    return trace(model(user("q"), text="a"), events=[(2.0 + at, "", event) for at, event in enumerate(events)])


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ([ASKED], [], [("approval-missing", "an approval of refund was asked for in the recording and is not asked for now")]),
        ([GIVEN], [], [("decision-missing", "refund was approved in the recording and is not approved now")]),
        ([], [GIVEN], [("decision-added", "refund is approved now and was not in the recording")]),
        (
            [GIVEN],
            [GIVEN | {"approved": False}],
            [("decision-changed", "refund was approved in the recording and refused now")],
        ),
        (
            [GIVEN],
            [GIVEN | {"tool": "pay"}],
            [
                ("decision-missing", "refund was approved in the recording and is not approved now"),
                ("decision-added", "pay is approved now and was not in the recording"),
            ],
        ),
        (
            [ASKED],
            [ASKED, ASKED],
            [("approval-count", "an approval of refund was asked for once in the recording and twice now")],
        ),
        ([USED], [], [("skill-missing", "the skill pdf was used in the recording and is not used now")]),
        (
            [PAID],
            [PAID | {"to": "void"}],
            [
                (
                    "state-changed",
                    'the order A-17 was changed from "open" to "paid" in the recording and from "open" to "void" now',
                )
            ],
        ),
    ],
)
def test_approvals_skills_and_state_are_behaviour(before: Any, now: Any, found: Any):
    assert [(each.kind, each.message.removeprefix("turn 1: ")) for each in diff(told(*before), told(*now))] == found


def test_call_ids_of_approvals_are_none():
    assert diff(told(GIVEN | {"call_id": "c1"}), told(GIVEN | {"call_id": "c9"})) == ()


def test_calls_that_nobody_asked_for_are_a_set():
    """An agent that runs its tools by itself, several at once: who is first is chance."""
    one, other, third = executed("t", id_="1", n=1), executed("t", id_="2", n=2), executed("u", id_="3")
    assert diff(trace(one, other, third), trace(third, other, one)) == ()


def test_traffic_of_mcp_that_needs_no_recording_is_no_behaviour():
    session = (("Mcp-Session-Id", "s1"),)
    bye = exchange(2, "DELETE", "http://tools.test/mcp", headers=session, status=405)
    listening = exchange(3, "GET", "http://tools.test/mcp", headers=(*session, ("Accept", "text/event-stream")), status=405)
    called = (exchange(1, "POST", "http://tools.test/mcp"), executed("t"))
    made = [(each, decode(each, b"")) for each in (bye, listening)]
    assert diff(trace(called), trace(called, *made)) == ()
