from __future__ import annotations

import re
from typing import Any

import pytest

from wiretape.traces.exports.wording import Words
from wiretape.traces.types import (
    ApprovalDecision,
    ApprovalRequest,
    ErrorStep,
    Event,
    HttpCall,
    ModelCall,
    SkillUsed,
    StateChange,
    Step,
    ToolCall,
    ToolResult,
    UserMessage,
)


def lines(*steps: Step) -> list[str]:
    """What is said of the last one, after the others."""
    words = Words()
    return [list(words.of(step.model_copy(update={"seq": seq}))) for seq, step in enumerate(steps, 1)][-1]


ASKED = ModelCall(provider="openai", api="chat", requested_model="m")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (UserMessage(text="", attachments=("image sha256:00",)), ["user", "  attached: image sha256:00"]),
        (HttpCall(method="GET", host="a.test", path="/x", error="cut"), ["http GET a.test/x, no answer", "  error: cut"]),
        (
            HttpCall(method="GET", host="localhost:1", path="/", status=503, mocked="down"),
            ["http GET localhost/, status 503, mocked by down"],
        ),
        (ApprovalRequest(tool="refund", source="event"), ["approval asked for: refund (seen: event)"]),
        (ApprovalRequest(), ["approval asked for (seen: wire)"]),
        (ApprovalDecision(tool="refund", approved=True, source="observe"), ["approved: refund (seen: observe)"]),
        (ApprovalDecision(approved=False), ["denied (seen: wire)"]),
        (SkillUsed(skill="refunds"), ["skill used: refunds (seen: event)"]),
        (StateChange(object="refund", name="A-17"), ["state changed: refund A-17 (seen: event)"]),
        (
            StateChange(object="r", name="n", before=1, after={"b": 2}),
            ["state changed: r n (seen: event)", "  from: 1", '  to: {"b":2}'],
        ),
        (Event(name="run_ended", data={"as": "x"}), ["event run_ended", '  | {"as":"x"}']),
        (Event(name="mood"), ["event mood"]),
        (ErrorStep(message="gone", where="GET a.test/"), ["error in GET a.test/", "  | gone"]),
        (ErrorStep(message="gone"), ["error", "  | gone"]),
        (
            ToolResult(tool="read", call_id="c9", content="x"),
            ["result of a call of read that was not seen, seen in the prompt", "  | x"],
        ),
        (
            ToolResult(content=[1], is_error=True, seen="wire", mocked="m"),
            ["error of a call that was not seen, seen on the wire, mocked by m", "  | [1]"],
        ),
        (ToolCall(tool="read", state="denied"), ["call 1: read {}", "  asked for by no model call that was seen, denied"]),
        (
            ToolCall(tool="read", arguments=None, arguments_text="{cut"),
            [
                "call 1: read (its arguments are no JSON)",
                "  | {cut",
                "  asked for by no model call that was seen, not carried out",
            ],
        ),
    ],
)
def test_it_says_of_each_step_what_there_is_to_say(step: Step, said: list[str]):
    assert lines(step) == said


def test_long_arguments_stand_below():
    assert lines(ToolCall(tool="write", arguments={"text": "x" * 200}))[0] == "call 1: write"


def test_calls_go_by_number():
    call = ToolCall(tool="read", call_id="c1", by=1, parallel_group=1, read_only=True)
    assert lines(ASKED, call)[1] == "  asked for by model call 1, together with others, not carried out, read-only"
    assert lines(ASKED, call, ApprovalRequest(tool="read", call_id="c1"))[0] == "approval asked for: read, call 1 (seen: wire)"
    assert lines(ASKED, call, ToolResult(tool="read", call_id="c1"))[0] == "result of call 1, seen in the prompt"


def test_results_without_ids_belong_to_their_tools_calls_in_order():
    def said(*results: Step) -> str:
        calls = [ToolCall(tool=tool, by=1) for tool in ("read", "write", "read")]
        return lines(ASKED, *calls, *results)[0].partition(",")[0]

    read = ToolResult(tool="read")
    assert [said(read), said(ToolResult(tool="write")), said(read, read), said(read, read, read)] == [
        "result of call 1", "result of call 2", "result of call 3", "result of call 3",
    ]  # fmt: skip


@pytest.mark.parametrize("before", ["", "data:image/png;base64,"])
def test_images_go_by_their_digest(before: str):
    def shown(data: str) -> str:
        _, *said = lines(ToolResult(tool="look", content=[{"type": "image", "data": data}]))
        return "".join(line[4:] for line in said)

    data = before + "iVBORw0KGgo" * 30
    assert re.fullmatch(rf'\[{{"data":"\({len(data)} characters, sha256:[0-9a-f]{{64}}\)","type":"image"}}\]', shown(data))
    assert shown(data) != shown(data[:-1] + "A")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"error": "line\nline"}, ["  error:", "  | line", "  | line"]),
        ({"mocked": "slow"}, ["  mocked by slow"]),
        ({"complete": False}, ["  cut: its end was not seen"]),
        ({"text": "hi"}, ["  | hi"]),
        ({"text": ""}, []),
        ({"parameters": {"temperature": 0.5}}, ['  parameters: {"temperature":0.5}']),
    ],
)
def test_it_says_of_a_model_call_what_is_out_of_the_ordinary(facts: dict[str, Any], said: list[str]):
    assert lines(ASKED.model_copy(update=facts)) == ["model call 1: openai chat, m, history 0", *said]
