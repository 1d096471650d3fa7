from __future__ import annotations

from support.traces import ask, asking, handing, model, said, user

from wiretape.traces.threads import Place, Threads
from wiretape.traces.types import ModelView, Said


def places(*views: ModelView, sessions: tuple[str, ...] = (), failed: tuple[int, ...] = ()) -> list[Place]:
    threads = Threads()
    return [
        threads.place(view, number=at, session=sessions[at - 1] if sessions else "", whole=at not in failed)
        for at, view in enumerate(views, 1)
    ]


def threads(*views: ModelView, **more: tuple[str, ...]) -> list[int]:
    return [place.thread for place in places(*views, **more)]  # type: ignore[arg-type]  # both are tuples


def summary(text: str) -> Said:
    return Said(role="user", digest=f"summary {text}", text=text)


def test_a_history_that_goes_on_is_one_conversation():
    one, other = places(model(user("a"), text="b"), model(user("a"), said("b"), user("c"), text="d"))
    assert (one.thread, other.thread) == (1, 1)
    assert (one.new, other.new) == ((0,), (1, 2))


def test_another_history_is_another_conversation():
    assert threads(model(user("a")), model(user("b")), model(user("c"))) == [1, 2, 3]


def test_conversations_may_take_turns():
    found = threads(
        model(user("a"), text="1"),
        model(user("b"), text="2"),
        model(user("a"), said("1"), user("more"), text="3"),
        model(user("b"), said("2"), user("more"), text="4"),
    )
    assert found == [1, 2, 1, 2]


def test_the_same_question_again_is_asked_again_and_holds_nothing_new():
    one, other = places(model(user("a")), model(user("a")), failed=(1,))
    assert (other.thread, other.new, other.repeats) == (1, (), (1,))
    assert one.repeats == ()


def test_a_retry_in_mid_conversation_repeats_only_the_call_that_failed():
    views = model(user("a"), text="b"), model(user("a"), said("b"), user("c")), model(user("a"), said("b"), user("c"))
    assert [place.repeats for place in places(*views, failed=(2,))] == [(), (), (2,)]


def test_a_title_generator_is_given_the_same_words_and_is_no_part_of_the_conversation():
    found = threads(
        model(user("a"), system_digest="agent", tools="refund", text="on it"),
        model(user("a"), system_digest="title", text="A title"),
        model(user("a"), said("on it"), user("c"), system_digest="agent", tools="refund"),
    )
    assert found == [1, 2, 1]


def test_a_conversation_stays_one_when_its_system_prompt_tells_the_time():
    views = model(user("a"), system_digest="9:00", text="b"), model(user("a"), said("b"), user("c"), system_digest="9:01")
    assert threads(*views) == [1, 1]


def test_a_prompt_made_anew_after_a_failure_is_still_a_retry():
    views = model(user("a"), system_digest="9:00"), model(user("a"), system_digest="9:01")
    assert [place.thread for place in places(*views, failed=(1,))] == [1, 1]
    assert [place.thread for place in places(*views)] == [1, 2]


def test_a_conversation_handed_to_another_agent_goes_on():
    call = ask("c1", "transfer_to_refunds")
    views = (
        model(user("a"), system_digest="triage", tools="transfer_to_refunds", asked=(call,)),
        model(user("a"), asking(call), handing("c1"), system_digest="refunds", tools="refund"),
    )
    assert threads(*views) == [1, 1]


def test_a_response_id_links_where_the_history_stays_with_the_provider():
    one, other = places(model(user("a"), response_id="r1"), model(user("b"), previous_id="r1", response_id="r2"))
    assert (other.thread, other.new) == (1, (0,))
    assert one.thread == 1


def test_a_retry_below_a_response_id_is_no_news():
    found = places(
        model(user("a"), response_id="r1"),
        model(handing("c1"), previous_id="r1"),
        model(handing("c1"), previous_id="r1", response_id="r2"),
        failed=(2,),
    )
    assert [(place.thread, place.new, place.repeats) for place in found[1:]] == [(1, (0,), ()), (1, (), (2,))]


def test_a_conversation_id_links_and_the_same_words_twice_are_said_twice():
    views = [model(user("yes"), conversation_id="k1") for _ in range(3)]
    assert [place.new for place in places(*views)] == [(0,), (0,), (0,)]
    assert [place.new for place in places(*views, failed=(2,))] == [(0,), (0,), ()]


def test_an_unknown_response_id_begins_a_conversation():
    assert threads(model(user("a"), response_id="r1"), model(user("b"), previous_id="r0")) == [1, 2]


def test_call_ids_link_a_history_that_was_compacted():
    call = ask("c1")
    views = (
        model(user("a"), asked=(call,)),
        model(summary("they asked a"), asking(call), handing("c1")),
    )
    assert [(place.thread, place.new) for place in places(*views)] == [(1, (0,)), (1, (0, 1, 2))]


def test_call_ids_that_several_conversations_use_link_nothing():
    call = ask("call_0")
    views = (
        model(user("a"), asked=(call,)),
        model(user("b"), asked=(call,)),
        model(user("a"), asking(call), handing("call_0")),
        model(user("b"), asking(call), handing("call_0")),
    )
    assert threads(*views) == [1, 2, 1, 2]


def test_a_history_that_lost_its_beginning_is_known_by_what_was_said_in_it():
    views = (
        model(user("a"), text="b"),
        model(user("a"), said("b"), user("c"), text="d"),
        model(user("c"), said("d"), user("e"), text="f"),
        model(user("a"), said("b"), user("c"), said("d"), user("e"), said("f"), user("g")),
    )
    found = places(*views)
    assert [place.thread for place in found] == [1, 1, 2, 1]  # "d" was never seen in a history before the third
    later = places(*views[:2], views[3], model(said("f"), user("g"), said("h"), user("i")))
    assert (later[-1].thread, later[-1].new) == (1, (2, 3))


def test_examples_that_prompts_share_are_no_conversation():
    examples = user("2+2"), said("4")
    assert threads(model(*examples, user("1+1")), model(*examples, user("3+3"))) == [1, 2]


def test_sessions_never_mix():
    views = model(user("a"), text="b"), model(user("a"), text="b"), model(user("a"), said("b"), user("c"))
    assert threads(*views, sessions=("one", "two", "two")) == [1, 2, 2]


def test_sub_agents_with_the_same_task_are_told_apart_only_where_they_part():
    one, other = ask("c1"), ask("c2")
    found = threads(
        model(user("main"), tools="task", asked=(ask("t1", "task"),)),
        model(user("task"), tools="read", asked=(one,)),
        model(user("task"), asking(one), handing("c1"), tools="read"),
        model(user("other task"), tools="read", asked=(other,)),
        model(user("other task"), asking(other), handing("c2"), tools="read"),
    )
    assert found == [1, 2, 2, 3, 3]


def test_an_empty_history_is_placed_too():
    assert threads(model(), model()) == [1, 2]
