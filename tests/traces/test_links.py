from __future__ import annotations

from typing import Any

import pytest

from wiretape.traces.links import Call, Calls, Execution, alias, means
from wiretape.traces.types import Asked, Handed


def call(tool: str, call_id: str | None = None, /, exchange: int = 1, **arguments: Any) -> Call:
    return Call(tool, "", exchange, call_id=call_id, arguments=arguments, arguments_text="{}", thread=1)


def calls(*added: Call) -> Calls:
    known = Calls()
    for each in added:
        known.add(each)
    return known


def execution(tool: str, servers: tuple[str, ...] = (), ids: tuple[str, ...] = (), /, **arguments: Any) -> Execution:
    return Execution("", 9, tool, arguments, servers, frozenset(ids))


def handed(known: Calls, call_id: str | None, tool: str | None = None, asked: Asked | None = None) -> Call | None:
    return known.handed_back(Handed(call_id=call_id, tool=tool), asked, thread=1, session="")


# names


@pytest.mark.parametrize(
    ("asked", "tool", "servers", "sure"),
    [
        ("read", "read", (), 2),
        ("mcp__files__read", "read", ("files",), 2),
        ("files__read", "read", ("files",), 2),
        ("files_read", "read", ("files",), 2),
        ("files.read", "read", ("files",), 2),
        ("my-files-read", "read", ("My Files",), 2),
        ("list_agents", "list-agents", (), 2),
        ("mcp__disk__read", "read", ("files",), 1),
        ("files_read", "read", (), 1),
        ("spread", "read", (), 0),
        ("read_all", "read", ("files",), 0),
        ("write", "read", ("files",), 0),
    ],
)
def test_it_knows_the_names_that_clients_give_to_tools(asked: str, tool: str, servers: tuple[str, ...], sure: int):
    assert alias(asked, tool, servers) == sure


@pytest.mark.parametrize(
    ("wanted", "tool", "yes"),
    [
        ("refund", "refund", True),
        ("refund", "mcp__shop__refund", True),
        ("refund", "partial_refund", False),
        ("mcp__shop__refund", "mcp__shop__refund", True),
        ("shop", "mcp__shop__refund", False),
    ],
)
def test_it_knows_what_a_scenario_means(wanted: str, tool: str, yes: bool):
    assert means(wanted, tool) is yes


# executions


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({"path": "a"}, {"path": "a"}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}),
        ({"path": "a", "limit": None}, {"path": "a"}),
        ({"path": "a"}, {"path": "a", "limit": 10}),
        ({}, {}),
    ],
)
def test_an_execution_belongs_to_the_call_with_its_arguments(asked: dict[str, Any], used: dict[str, Any]):
    wanted = call("read", **asked)
    assert calls(wanted).executed(execution("read", **used)) is wanted


@pytest.mark.parametrize(
    ("asked", "used"), [({"path": "a"}, {"path": "b"}), ({"n": 1}, {"n": True}), ({"path": "a", "n": 1}, {"path": "a"})]
)
def test_other_arguments_are_another_call(asked: dict[str, Any], used: dict[str, Any]):
    assert calls(call("read", **asked)).executed(execution("read", **used)) is None


def test_defaults_are_filled_in_only_where_one_call_can_be_meant():
    known = calls(call("read", path="a"), call("read", path="a"))
    assert known.executed(execution("read", path="a", limit=10)) is None
    assert known.executed(execution("read", path="a")) is not None


def test_a_name_that_only_ends_alike_needs_the_very_arguments():
    wanted = call("disk_read", path="a")
    assert calls(wanted).executed(execution("read", path="a")) is wanted
    assert calls(wanted).executed(execution("read", path="a", limit=10)) is None


def test_of_equal_calls_the_first_of_the_latest_model_call_is_meant():
    old, first, second = call("read", path="a"), call("read", exchange=2, path="a"), call("read", exchange=2, path="a")
    known = calls(old, first, second)
    assert known.executed(execution("read", path="a")) is first
    first.answered = True
    assert known.executed(execution("read", path="a")) is second


def test_a_call_with_a_result_is_not_executed_again():
    done = call("read", path="a")
    known = calls(done)
    done.handed = True
    assert known.executed(execution("read", path="a")) is None


def test_a_call_id_beside_the_arguments_decides():
    one, other = call("read", "toolu_1", path="a"), call("read", "toolu_2", path="a")
    assert calls(one, other).executed(execution("read", (), ("toolu_2",), path="changed")) is other


def test_arguments_that_are_no_json_are_no_evidence():
    raw = Call("read", "", 1, arguments=None, arguments_text='{"path":')
    assert calls(raw).executed(execution("read")) is None


def test_sessions_do_not_mix():
    other = Call("read", "two", 1, arguments={}, arguments_text="{}")
    assert calls(other).executed(execution("read")) is None


# results


def test_a_result_belongs_to_the_call_with_its_id():
    one, other = call("read", "c1"), call("read", "c2")
    assert handed(calls(one, other), "c2") is other


def test_an_id_that_is_used_again_means_the_call_without_a_result():
    one, other = call("read", "call_0"), call("read", "call_0", exchange=2)
    known = calls(one, other)
    assert handed(known, "call_0") is other
    other.handed = one.handed = True
    assert handed(known, "call_0") is other


def test_results_without_ids_come_in_the_order_of_their_calls():
    one, other, third = call("read"), call("write"), call("read")
    known = calls(one, other, third)
    assert handed(known, None, "read") is one
    one.handed = True
    assert handed(known, None, "read") is third
    assert handed(known, None) is other


def test_a_client_that_gives_calls_its_own_ids_is_understood_by_its_history():
    one, other = call("read", "toolu_1", path="a"), call("read", "toolu_2", path="b")
    shown = Asked(tool="read", call_id="mine", arguments={"path": "b"}, arguments_text="{}")
    assert handed(calls(one, other), "mine", asked=shown) is other


def test_a_result_of_an_unknown_id_belongs_to_no_call():
    assert handed(calls(call("read", "c1")), "c9", "read") is None


def test_it_knows_whether_a_call_in_a_history_was_seen_being_asked_for():
    known = calls(call("read", "c1", path="a"))
    assert known.holds(Asked(tool="x", call_id="c1"), "")
    assert known.holds(Asked(tool="read", call_id="renamed", arguments={"path": "a"}), "")
    assert not known.holds(Asked(tool="read", call_id="c2", arguments={"path": "b"}), "")
    assert not known.holds(Asked(tool="x", call_id="c1"), "another session")


# decisions


def test_a_decision_is_about_the_id_or_the_latest_open_call_of_the_tool():
    one, other = call("refund", "c1"), call("mcp__shop__refund", "c2")
    known = calls(one, other)
    assert known.decided(None, "c1", "") is one
    assert known.decided("refund", None, "") is other
    other.answered = True
    assert known.decided("refund", None, "") is one
    assert known.decided("cancel", None, "") is None
