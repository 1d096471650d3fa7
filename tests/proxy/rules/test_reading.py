from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from wiretape.proxy.rules.reading import load_rules, read_rule, save_rules
from wiretape.traces.errors import InvalidFile, UsageError

PAGE = (Path(__file__).parents[3] / "docs" / "rules.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "rules.yaml") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_reads_every_example_of_the_page(write, example):
    assert len(load_rules(write(example)).rules) == 1


def test_the_page_has_all_seven():
    assert len(EXAMPLES) == 7


RULE = "version: 1\nrules:\n  - id: a\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "rules.yaml:1: the file is empty; expected a mapping that begins with `version: 1`"),
        ("rules: []\n", "rules.yaml:1: version: the field is required, but is not there"),
        ("version: 2\n", "rules.yaml:1: version: expected 1, the one version of these files that this wiretape reads"),
        ("version: 1\nrule: []\n", "rules.yaml:2: rule: there is no such field; did you mean rules?"),
        (RULE + "    wher: mcp\n", "rules.yaml:4: rules[0].wher: there is no such field; did you mean where?"),
        (RULE + "    where: tool\n", "rules.yaml:4: rules[0].where: expected one of http, mcp, model, prompt"),
        (
            RULE + "    match: {tool: x}\n",
            "rules.yaml:4: rules[0].match.tool: `tool` is known of rules with",
        ),
        (RULE + "    when: [{arg: x}]\n", "rules.yaml:4: rules[0].when[0]: expected one of equals, not-equals"),
        (RULE + "    when: [{arg: x, query: y, equals: 1}]\n", "expected one of arg, query, header; got arg and query"),
        (RULE + "    when: [{arg: x, present: false}]\n", "rules[0].when[0].present: expected"),
        (RULE + "    when: [{arg: x, matches: a.*}]\n", "rules[0].when[0].matches: there is no such field"),
        (RULE + "    answer: {json: 1, text: x}\n", "rules[0].answer: expected one of json, text, file, patch, sequence"),
        (RULE + "    answer: {text: '{{arg.x}}'}\n", "rules[0].answer: there is no placeholder {{arg.x}}; known are {{args}}"),
        (RULE + "    answer: {text: x, is_error: true}\n", "rules[0].answer.is_error: `is_error` has no meaning"),
        (RULE + "    answer: {text: x, headers: {'a b': c}}\n", "rules[0].answer.headers"),
        (RULE + "    answer: {file: gone.json}\n", "rules[0].answer.file: there is no file"),
        (
            RULE + "    answer: {sequence: [{text: a}, {is_error: true}]}\n",
            "rules[0].answer.sequence[1].is_error: `is_error`",
        ),
        (RULE + "    faults: [{dely: {ms: 1}}]\n", "rules[0].faults[0].dely: there is no such field; did you mean delay?"),
        (RULE + "    faults: [{delay: {ms: 1}, cut: {after_bytes: 1}}]\n", "rules[0].faults[0]: expected one of delay, error"),
        (RULE + "    faults: [{cut: {how: eof}}]\n", "rules[0].faults[0].cut: expected one of after_bytes, after_events"),
        (RULE + "    where: prompt\n    faults: [{delay: {ms: 1}}]\n", "rules[0].faults: a rule with `where: prompt` replaces"),
        (RULE + "  - id: A\n", "rules.yaml:4: rules[1].id: there is a rule called A already"),
        ("version: 1\nrules: [{id: order}]\n", "rules[0].id: order is a word of the control API"),
        ("version: 1\nrules: [{id: 'a b'}]\n", "rules[0].id: expected"),
    ],
)
def test_it_says_what_does_not_fit_and_where(write, text, sentence):
    with pytest.raises(InvalidFile) as caught:
        load_rules(write(text))
    assert sentence in str(caught.value)


def test_it_tells_every_fault_at_once(write):
    with pytest.raises(InvalidFile) as caught:
        load_rules(write(RULE + "    skip: -1\n    tims: 2\n"))
    assert [each.field for each in (caught.value, *caught.value.also)] == ["rules[0].skip", "rules[0].tims"]


def test_it_says_that_there_is_no_file(tmp_path):
    with pytest.raises(UsageError, match="there is no such file"):
        load_rules(tmp_path / "none.yaml")


@pytest.mark.parametrize("name", ["rules.yaml", "rules.json"])
def test_it_reads_what_it_saved(write, tmp_path, name):
    rules = load_rules(write(EXAMPLES[2]))
    save_rules(tmp_path / name, rules)
    assert load_rules(tmp_path / name) == rules


def test_it_reads_one_rule_by_itself():
    assert read_rule('{"id": "x", "answer": {"json": null}}', "rule").as_json() == {
        "id": "x",
        "enabled": True,
        "where": "http",
        "answer": {"json": None},
    }
