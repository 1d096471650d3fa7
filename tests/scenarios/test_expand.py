from __future__ import annotations

import pytest

from wiretape.scenarios.expand import expand, fixed_part
from wiretape.traces.errors import UsageError

ENV = {"KEY": "k-1", "TRAP": "${KEY} {{run}}"}


def test_it_fills_in_variables_and_placeholders_wherever_text_stands():
    value = {"${KEY}": ["${KEY}", {"a": "x-{{run}}-{{ tmp }}"}, ("{{input}}",)], "n": 5, "b": True, "none": None}
    assert expand(value, ENV, run="r7", tmp="/t", input="Hi") == {
        "${KEY}": ["k-1", {"a": "x-r7-/t"}, ("Hi",)],
        "n": 5,
        "b": True,
        "none": None,
    }


def test_it_does_not_look_again_at_what_it_put_in():
    assert expand("${TRAP} {{input}}", ENV, run="r", input="{{run}} ${KEY}") == "${KEY} {{run}} {{run}} ${KEY}"


@pytest.mark.parametrize("text", ["{{uuid}}", "{{args.x}}", "$KEY", "$(KEY)", "${KEY:-x}", "${1}", "{run}", "$ {KEY}"])
def test_it_leaves_what_is_not_its_own(text):
    assert expand(text, ENV, run="r", tmp="t", input="i") == text


def test_it_keeps_a_dollar_brace_that_is_doubled():
    assert expand("$${KEY} ${KEY}", ENV) == "${KEY} k-1"


def test_it_names_the_variable_that_is_not_set():
    with pytest.raises(UsageError, match=r"reads the variable SHOP_TOKEN, which is not set"):
        expand(["ok", "${SHOP_TOKEN}"], ENV)


@pytest.mark.parametrize("name", ["run", "tmp", "input"])
def test_it_refuses_a_placeholder_without_a_value_here(name):
    with pytest.raises(UsageError, match=rf"\{{\{{{name}\}}\}} has no value in this place"):
        expand(f"a {{{{{name}}}}}", ENV)


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("Refund the mug, note {{run}}", "Refund the mug, note"),
        ("{{run}}", ""),
        ("a {{run}} longer ${X} b", "longer"),
        ("plain", "plain"),
    ],
)
def test_it_finds_what_is_the_same_in_every_run(text, fixed):
    assert fixed_part(text) == fixed
