from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wiretape.oracles import judge
from wiretape.scenarios.draft import FILL_IN, draft
from wiretape.scenarios.expand import expand
from wiretape.scenarios.files import parse_scenario
from wiretape.traces.types import ErrorStep, FinalAnswer, Observed, RecordingInfo, RecordingStatus, ToolCall, Trace, UserMessage

INFO = RecordingInfo(name="refund", id="r", started_at=0, status=RecordingStatus.COMPLETE, tool_version="1")
STEPS = (
    UserMessage(seq=1, thread=2, text="What is the weather?"),
    UserMessage(seq=2, thread=1, text="Refund the mug\nin A-17"),
    ToolCall(seq=3, thread=1, tool="get_order", arguments={"order": "A-17"}),
    ToolCall(seq=4, thread=1, tool="refund"),
    ToolCall(seq=5, thread=1, tool="get_order"),
    FinalAnswer(
        seq=6, thread=1, text="The mug in order A-17 was refunded; you will have your money\nin three days, we promise."
    ),
)


def trace(*steps, tools="complete"):
    return Trace(recording=INFO, observed=Observed(tools=tools), steps=steps, main_thread=1)


def drafted(*steps, name="refund", argv=("python", "agent.py"), folder="recordings", **more):
    return draft(name, trace(*steps), argv, Path(folder), environment=more.pop("environment", {}), **more)


def uncommented(text):
    """What a person gets who takes the `# ` off the proposed lines."""
    above, proposed, below = text.partition("# oracles:\n")
    assert proposed
    return above + "".join(line.removeprefix("# ") + "\n" for line in (proposed + below).splitlines())


def test_it_is_a_scenario_that_asserts_nothing():
    text = drafted(*STEPS)
    scenario = parse_scenario(text, Path("recordings/refund.yaml")).scenario
    assert (scenario.id, scenario.title, scenario.risk) == ("refund", "Refund the mug in A-17", "high")
    assert (scenario.agent.via, scenario.agent.command, scenario.agent.cwd) == ("command", ("python", "agent.py"), "..")
    assert scenario.all_oracles() == ()
    assert "Nothing is asserted until you uncomment: `replay check` fails until then" in text


def test_it_proposes_what_holds_and_loads_when_uncommented():
    scenario = parse_scenario(uncommented(drafted(*STEPS)), Path("recordings/refund.yaml")).scenario
    assert [(use.oracle, use.parameters) for use in scenario.oracles] == [
        ("tool-called", {"tool": "get_order"}),
        ("tool-called", {"tool": "refund"}),
        ("max-tool-calls", {"limit": 3}),
        ("no-error", {}),
        ("final-answer-contains", {"value": FILL_IN}),
    ]
    verdicts = [judge(trace(*STEPS), use).status for use in scenario.oracles]
    assert verdicts == ["passed", "passed", "passed", "passed", "failed"]  # the last is to be filled in


def test_it_quotes_the_answer_shortly():
    (line,) = [line for line in drafted(*STEPS).splitlines() if "final-answer-contains" in line]
    assert line.endswith("# it said: The mug in order A-17 was refunded; you will have your mone…")


def test_it_leaves_out_what_does_not_hold_of_the_recording():
    text = drafted(ErrorStep(seq=1, message="it broke"))
    assert "no-error" not in text
    assert "final-answer-contains" not in text
    parse_scenario(uncommented(text), Path("x.yaml"))


def test_it_proposes_nothing_where_nothing_holds():
    broken = draft("x", trace(ErrorStep(seq=1, message="it broke"), tools="none"), ["a"], Path(), environment={})
    assert "oracles" not in broken
    assert parse_scenario(broken, Path("x.yaml")).scenario.title == "x"


def test_it_says_where_the_command_ran_relative_to_the_file(tmp_path):
    def cwd(folder, ran_in):
        return parse_scenario(drafted(folder=folder, cwd=ran_in), Path("x.yaml")).scenario.agent.cwd

    assert cwd(tmp_path / "recordings", tmp_path) == ".."
    assert cwd(tmp_path, tmp_path) == "."
    assert cwd(tmp_path / "a" / "b", tmp_path / "c") == os.path.join("..", "..", "c")
    assert cwd("recordings", None) == ".."


def test_it_says_that_secrets_were_taken_out_only_where_they_were():
    assert "look like secrets" in drafted(argv=["a", "--token=abc"])
    assert "look like secrets" not in drafted(argv=["a", "echo ${HOME}"])


def test_it_gives_a_command_that_runs_again_as_it_ran():
    argv = ["python", "-c", "print('${HOME} # {{run}}x'[0:3])", "a: b", "[x]", "é\t\u2028", '"']
    scenario = parse_scenario(drafted(argv=argv), Path("x.yaml")).scenario
    assert [expand(word, {}, run="{{run}}") for word in scenario.agent.command] == argv


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(words, min_size=1, max_size=5), words, words, words)
def test_it_loads_whatever_was_recorded(argv, said, tool, answer):
    steps = (UserMessage(seq=1, thread=1, text=said), ToolCall(seq=2, tool=tool), FinalAnswer(seq=3, text=answer))
    text = drafted(*steps, argv=argv)
    assert len(parse_scenario(text, Path("x.yaml")).scenario.agent.command) == len(argv)
    uses = parse_scenario(uncommented(text), Path("x.yaml")).scenario.oracles
    assert [use.parameters["tool"] for use in uses if use.oracle == "tool-called"] in ([tool], [])


def test_it_survives_arguments_that_are_no_text():
    text = drafted(argv=["a", os.fsdecode(b"caf\xe9")])
    assert parse_scenario(text.encode().decode(), Path("x.yaml")).scenario.agent.command == ("a", "caf\ufffd")
