from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from wiretape.scenarios.files import (
    ScenarioFile,
    SuiteFile,
    load,
    load_all,
    load_scenario,
    parse_scenario,
    read_scenario,
    read_suite,
    refuse_repeated_ids,
    suite_scenarios,
)
from wiretape.traces.errors import InvalidFile, UsageError
from wiretape.traces.tree import parse

VERSION = "expected 1, the one version of these files that this wiretape reads"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_it_loads_a_scenario_with_its_lines_and_paths(write, whole):
    file = read_scenario(write("recordings/first.yaml", whole))
    assert file.scenario == load_scenario(file.path)
    assert file.recording == file.folder / "refund.db"
    assert file.cwd == file.folder / ".."
    assert whole.splitlines()[file.line("agent", "cwd") - 1] == "  cwd: .."
    assert whole.splitlines()[file.line("oracles", 1) - 1].startswith("  - {oracle: no-write-before")


def test_it_takes_its_own_stem_as_the_recordings_name(write):
    file = read_scenario(write("refund.partial.yaml", "wiretape: 1\nid: x"))
    assert (file.recording.name, file.cwd) == ("refund.partial.db", file.folder)
    assert read_scenario(write("a.yaml", "wiretape: 1\nid: x\nrecording: b.db")).recording.name == "b.db"


def test_it_reads_json_as_it_reads_yaml(write, whole):
    yaml = load_scenario(write("a.yaml", whole))
    value = parse(whole, "a.yaml", "wiretape: 1").value
    for text in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, indent="\t")):
        assert load_scenario(write("a.json", text)) == yaml
    with pytest.raises(InvalidFile, match=r"a\.json:3: risk: expected one of low"):
        load_scenario(write("a.json", '{\n\t"wiretape": 1, "id": "x",\n\t"risk": "huge"\n}'))


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
def test_it_reads_utf8_with_or_without_a_byte_order_mark(write, prefix):
    assert load_scenario(write("a.yaml", prefix + 'wiretape: 1\nid: "größe😀"\r\n'.encode())).id == "größe😀"


def test_it_tells_a_suite_from_a_scenario(write):
    assert isinstance(load(write("a.yaml", "wiretape: 1\nid: x")), ScenarioFile)
    suite = load(write("s.yaml", "wiretape: 1\nsuite: s\nscenarios: [b.yaml, a.yaml]"))
    assert isinstance(suite, SuiteFile)
    assert [path.name for path in suite.scenarios] == ["b.yaml", "a.yaml"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a.yaml:1: the file is empty; expected a mapping that begins with `wiretape: 1`"),
        ("\n- a\n", "a.yaml:2: expected a mapping that begins with `wiretape: 1`, got a list"),
        ("just words", 'a.yaml:1: expected a mapping that begins with `wiretape: 1`, got "just words"'),
        ("id: x", "a.yaml:1: wiretape: the field is required, but is not there"),
        ("wiretape: 2\nid: x", f"a.yaml:1: wiretape: {VERSION}, got the number 2"),
        ("wiretape: true\nid: x", f"a.yaml:1: wiretape: {VERSION}, got true"),
        ("wiretape: 1\nid: 5", "a.yaml:2: id: expected text, got the number 5; put it in quotes"),
        ("wiretape: 1\nid: x\nagnet:\n  command: [x]", "a.yaml:3: agnet: there is no such field; did you mean agent?"),
        ("wiretape: 1\nid: x\nid: y", "a.yaml:3: id: the key is here twice, first on line 2"),
        ("wiretape: 1\n\tid: x", "a.yaml:2: a tab stands where YAML wants spaces; indent with spaces"),
        (b"wiretape: 1\nid: \xff", "a.yaml:2: this is not UTF-8 text; expected YAML or JSON"),
        (b"SQLite format 3\0\x01", "a.yaml:1: a control character; expected text"),
        (b"x" * 1_000_001, "a.yaml: the file is larger than 1,000,000 bytes; nobody writes that much"),
    ],
)  # fmt: skip
def test_it_refuses_in_one_sentence(write, monkeypatch, text, sentence):
    monkeypatch.chdir(write("a.yaml", text).parent)
    with pytest.raises(InvalidFile) as caught:
        load_scenario(Path("a.yaml"))
    assert str(caught.value) == sentence
    assert caught.value.exit_code == 2


def test_it_tells_every_fault_of_a_file_by_its_line(write):
    with pytest.raises(InvalidFile) as caught:
        load_scenario(write("a.yaml", "wiretape: 1\nrisk: High\nid: x\nagent:\n  via: http\noracles:\n  - no-error\nfoo: 1\n"))
    told = [(fault.line, fault.field) for fault in (caught.value, *caught.value.also)]
    assert told == [(2, "risk"), (4, "agent"), (7, "oracles[0]"), (8, "foo")]
    assert len(str(caught.value).splitlines()) == 4


def test_it_says_that_a_file_is_not_there_or_a_folder(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        load_scenario(tmp_path / "gone.yaml")
    with pytest.raises(UsageError, match="is a folder; expected a file"):
        load_scenario(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_scenario(tmp_path / ("x" * 300))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_it_says_that_a_file_may_not_be_read(write):
    path = write("a.yaml", "wiretape: 1\nid: x")
    path.chmod(0)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        load_scenario(path)


def test_it_tells_the_faults_of_all_files_and_ids_that_are_there_twice(write):
    files = [
        write("a.yaml", "wiretape: 1\nid: Refund"),
        write("b.yaml", "wiretape: 1\n\nid: refund"),
        write("c.yaml", "wiretape: 1\nid: 5\nfoo: 1"),
        write("d.yaml", "wiretape: 1\nid: d"),
    ]
    with pytest.raises(InvalidFile) as caught:
        load_all(files)
    told = [(Path(fault.path).name, fault.line, fault.field) for fault in (caught.value, *caught.value.also)]
    assert told == [("b.yaml", 3, "id"), ("c.yaml", 2, "id"), ("c.yaml", 3, "foo")]
    assert f"refund is the id of {files[0]} too" in str(caught.value)
    assert [file.scenario.id for file in load_all([files[3], files[0]])] == ["d", "Refund"]


def test_it_refuses_repeated_ids_of_files_that_are_loaded(whole):
    first, second = (parse_scenario(f"wiretape: 1\nid: {name}", Path(f"{name}.yaml")) for name in ("a", "A"))
    refuse_repeated_ids([first])
    with pytest.raises(InvalidFile, match=r"A\.yaml:2: id: A is the id of a\.yaml too"):
        refuse_repeated_ids([first, second])


def test_it_loads_a_suite_in_its_order_with_its_defaults_and_paths(write):
    write("flows/b.yaml", "wiretape: 1\nid: b\nagent: {command: [own]}")
    write("flows/a.yaml", "wiretape: 1\nid: a")
    suite = read_suite(
        write(
            "suites/s.yaml",
            "wiretape: 1\nsuite: s\nscenarios: [../flows/b.yaml, ../flows/a.yaml]\n"
            "defaults: {risk: low, agent: {command: [x], cwd: tools}}",
        )
    )
    b, a = suite_scenarios(suite)
    assert [b.scenario.id, a.scenario.id, b.scenario.risk, b.scenario.agent.command] == ["b", "a", "low", ("own",)]
    assert b.cwd == b.folder
    assert os.path.normpath(a.cwd) == str(suite.path.parent / "tools").replace("suites/../", "")


def test_it_names_the_scenarios_that_a_suite_lacks(write):
    write("a.yaml", "wiretape: 1\nid: a")
    suite = read_suite(write("s.yaml", "wiretape: 1\nsuite: s\nscenarios:\n  - a.yaml\n  - gone.yaml\n  - lost.yaml"))
    with pytest.raises(InvalidFile) as caught:
        suite_scenarios(suite)
    assert [(fault.line, fault.field) for fault in (caught.value, *caught.value.also)] == [
        (5, "scenarios[1]"),
        (6, "scenarios[2]"),
    ]
