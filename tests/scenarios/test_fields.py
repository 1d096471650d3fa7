from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretape.scenarios.fields import cyclic, pace
from wiretape.traces.parts import Misfit, Misfits, refuse, repeated

names = st.sampled_from("abcdef")


def _reaches(graph, start):
    seen, todo = set(), list(graph.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(graph.get(name, ()))
    return seen


@given(st.dictionaries(names, st.lists(names, max_size=3)))
def test_it_finds_a_cycle_where_and_only_where_there_is_one(graph):
    looped = {name for name in graph if name in _reaches(graph, name)}
    found = cyclic(graph)
    assert (found is not None) == bool(looped)
    assert found is None or _reaches(graph, found) & looped or found in looped


def test_it_finds_names_that_were_there_before_whatever_their_case():
    assert repeated(["a", "b", "A", "c", "b"]) == ((2, "A"), (4, "b"))


@pytest.mark.parametrize(("written", "factor"), [("instant", 0.0), ("recorded", 1.0), (2, 2.0), (0.5, 0.5)])
def test_it_reads_a_pace(written, factor):
    assert pace(written) == factor


@pytest.mark.parametrize("written", ["fast", "1", -1, True, None, 1001])
def test_it_refuses_another_pace(written):
    with pytest.raises(ValueError, match="expected instant, recorded, or a factor"):
        pace(written)


def test_it_raises_all_misfits_at_once_and_nothing_for_none():
    refuse(())
    with pytest.raises(Misfits) as caught:
        refuse([Misfit("one", ("a",)), Misfit("two")])
    assert [misfit.problem for misfit in caught.value.found] == ["one", "two"]
