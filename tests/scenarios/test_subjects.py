from __future__ import annotations

from pathlib import Path

import pytest

from wiretape.scenarios.subjects import subjects
from wiretape.traces.errors import UsageError

OURS = "wiretape: 1\nid: {}\n"


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def put(**files: str) -> None:
        for name, text in files.items():
            path = Path(name.replace("__", "/").replace("_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return put


def found(*paths: str) -> list[tuple[str, str, str | None]]:
    """(name, evidence, the scenario's id, or `fault`)"""
    return [
        (each.name, str(each.golden.db), "fault" if each.fault else each.scenario and each.scenario.scenario.id)
        for each in subjects([Path(path) for path in paths])
    ]


def test_it_finds_recordings_scenarios_and_traces_without_their_evidence(put):
    put(r__a_db="", r__a_yaml=OURS.format("a"), r__b_db="", r__c_yaml=OURS.format("c"), r__d_trace="wiretape-trace: 2\n")
    assert found(".") == [("a", "r/a.db", "a"), ("b", "r/b.db", None), ("c", "r/c.db", "c"), ("d", "r/d.db", None)]


def test_it_finds_a_link_that_leads_nowhere(put):
    put(r__a_yaml=OURS.format("a"))
    Path("r/a.db").symlink_to("gone.db")
    Path("r/b.db").symlink_to("gone.db")
    assert found("r") == [("a", "r/a.db", "a"), ("b", "r/b.db", None)]


def test_it_passes_over_what_is_not_the_projects_own(put):
    put(r__a_db="", venv__pyvenv_cfg="", venv__lib__z_db="")
    for folder in (".hidden", "node_modules"):
        Path(folder).mkdir()
        Path(folder, "h.db").touch()
    assert found(".") == [("a", "r/a.db", None)]
    assert found(".hidden") == [("h", ".hidden/h.db", None)]


@pytest.mark.parametrize("text", ["on: push\njobs: {}\n", "{{ template }}: [\n", "a:\n  wiretape: 1\n", "\xff"])
def test_it_passes_over_yaml_of_others_that_lies_beside_no_recording(put, text: str):
    put(r__a_yaml=text)
    assert found("r") == []
    assert found("r/a.yaml") == [("a", "r/a.db", "fault")]
    Path("r/a.db").touch()
    assert found("r") == [("a", "r/a.db", "fault")]


def test_what_says_that_it_is_ours_and_does_not_fit_is_a_fault(put):
    put(r__a_yaml="wiretape: 1\nid: [\n", r__b_yaml='{"wiretape": 1, "idd": "b"}')
    assert found("r") == [("a", "r/a.db", "fault"), ("b", "r/b.db", "fault")]


def test_a_suite_is_passed_over_in_a_folder_and_brings_its_scenarios_where_it_is_named(put):
    put(r__s_yaml="wiretape: 1\nsuite: s\nscenarios: [a.yaml]\ndefaults: {risk: low}\n", r__a_yaml=OURS.format("a"), r__a_db="")
    assert found("r") == [("a", "r/a.db", "a")]
    assert found("r/s.yaml") == [("a", "r/a.db", "a")]
    assert subjects([Path("r/s.yaml")])[0].scenario.scenario.risk == "low"


def test_a_scenario_judges_the_recording_that_it_names(put):
    put(r__a_db="", r__a_yaml=OURS.format("a"), r__b_yaml=OURS.format("b") + "recording: a\n")
    assert found("r") == [("a", "r/a.db", "a"), ("b", "r/a.db", "b")]
    put(r__a_yaml=OURS.format("a") + "recording: other\n")
    assert found("r") == [("b", "r/a.db", "b"), ("a", "r/other.db", "a")]


def test_an_id_that_is_there_twice_is_a_fault_of_the_later_file(put):
    put(r__a_yaml=OURS.format("x"), r__b_yaml=OURS.format("X"))
    assert found("r") == [("a", "r/a.db", "x"), ("b", "r/b.db", "fault")]


def test_a_name_that_is_no_path_gets_the_path_that_was_meant(put):
    put(recordings__refund_db="")
    with pytest.raises(UsageError, match=r"refund: there is no such file or folder. Did you mean recordings/refund.db\?"):
        subjects([Path("refund")])
