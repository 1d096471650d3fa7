from __future__ import annotations

import datetime

import pytest

from wiretape.oracles.matching import contains, differences, is_call_of, same_tool


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("read", "read"),
        ("read", "mcp__files__read"),
        ("read", "files.read"),
        ("Read", "mcp__files__READ"),
        ("mcp__files__read", "files.read"),
        ("files.read", "mcp__files__read"),
        ("read_file", "mcp__my__read_file"),
        ("tools.list", "admin.tools.list"),
    ],
)
def test_it_is_the_same_tool(wanted, seen):
    assert same_tool(wanted, seen)


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        ("read", "read_all"),
        ("read", "mcp__files__read_all"),
        ("mcp__files__read", "mcp__mail__read"),
        ("files.read", "mail.read"),
        ("mcp__files__read", "read"),
        ("files", "mcp__files__read"),
        ("read", "files_read"),
        ("list", "admin.tools.list"),
    ],
)
def test_it_is_another_tool(wanted, seen):
    assert not same_tool(wanted, seen)


def test_it_minds_the_case_of_names_only_when_told():
    assert not same_tool("Read", "read", case=True)
    assert same_tool("Read", "Read", case=True)


@pytest.mark.parametrize(("server", "same"), [("files", True), ("Files", True), ("mail", False), (None, False)])
def test_it_knows_a_prefixed_name_by_the_server_that_executed_it(server, same, call):
    assert is_call_of("mcp__files__read", call("read", server=server)) is same


def test_it_finds_text_without_case_unless_told():
    assert contains("Total: 12 STRASSE", "straße")
    assert not contains("Refunded", "refunded", case=True)


@pytest.mark.parametrize(
    ("wanted", "arguments"),
    [
        ({}, None),
        ({"order": "A-17"}, {"order": "a-17", "note": "x"}),
        ({"amount": 1}, {"amount": 1.0}),
        ({"customer.email": "x@y"}, {"customer": {"email": "x@y", "name": "n"}}),
        ({"customer": {"email": "x@y"}}, {"customer": {"email": "x@y", "name": "n"}}),
        ({"a.b": 1}, {"a.b": 1}),
        ({"a": {"b.c": 1}}, {"a": {"b": {"c": 1}}}),
        ({"items.1.sku": "m"}, {"items": [{"sku": "k"}, {"sku": "m"}]}),
        ({"tags": ["a", "B"]}, {"tags": ["A", "b"]}),
        ({"note": None}, {"note": None}),
        ({"extra": {}}, {"extra": {}}),
        ({"lines": [{"sku": "m", "n": 1}]}, {"lines": [{"n": 1, "sku": "M"}]}),
        ({"day": datetime.date(2026, 1, 5)}, {"day": "2026-01-05"}),
        ({"sure": True}, {"sure": True}),
    ],
)
def test_it_matches_arguments_by_value_per_path(wanted, arguments):
    assert list(differences(wanted, arguments)) == []


@pytest.mark.parametrize(
    ("wanted", "arguments", "why"),
    [
        ({"order": "A-17"}, {"order": "B-2"}, 'order is "B-2"'),
        ({"order": "A-17"}, {}, "order is missing"),
        ({"order": "A-17"}, None, "order is missing"),
        ({"order": None}, {}, "order is missing"),
        ({"amount": 1}, {"amount": True}, "amount is true"),
        ({"amount": 1}, {"amount": "1"}, 'amount is "1"'),
        ({"a.b": 1}, {"a": {"b": 2}}, "a.b is 2"),
        ({"a.b": 1}, {"a": "text"}, "a.b is missing"),
        ({"items.2": 1}, {"items": [1]}, "items.2 is missing"),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, 'tags is ["a", "b"]'),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, 'tags is ["b", "a"]'),
        ({"extra": {}}, {"extra": {"x": 1}}, 'extra is {"x": 1}'),
        ({"lines": [{"sku": "m"}]}, {"lines": [{"sku": "m", "n": 1}]}, 'lines is [{"sku": "m", "n": 1}]'),
    ],
)
def test_it_says_where_arguments_differ(wanted, arguments, why):
    assert list(differences(wanted, arguments)) == [why]


def test_it_minds_the_case_of_arguments_only_when_told():
    assert list(differences({"order": "a-17"}, {"order": "A-17"}, case=True)) == ['order is "A-17"']
