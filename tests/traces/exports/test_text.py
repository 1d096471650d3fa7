from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.traces import ask, asking, exchange, executed, handing, model, said, server, trace, user

from wiretape.traces.decoders import VERSIONS
from wiretape.traces.exports.text import body, header, render
from wiretape.traces.types import Declared, End, Trace

ORDER, REFUND = ask("c1", order="A-17"), ask("c2", "mcp__shop__refund", order="A-17", amount=5)
TOLD = {"tools": "get_order mcp__shop__refund", "system_digest": "sha256:0123456789abcdef", "requested_model": "m"}


def refund() -> Trace:
    history = user("Refund A-17"), asking(ORDER, REFUND), handing("c1", "found"), handing("c2", "ok")
    return trace(
        server("shop", Declared(name="refund", destructive=True)),
        model(user("Refund A-17"), asked=(ORDER, REFUND), stop_reason="tool_calls", parameters={"temperature": 0}, **TOLD),
        executed("refund", "ok", order="A-17", amount=5),
        exchange(4, "GET", "http://127.0.0.1:4711/orders/A-17"),
        model(*history, text="Refunded.\nGoodbye.", model="m-2026", parameters={"temperature": 0}, **TOLD),
    )


REFUND_TEXT = """\
== turn 1

user
  | Refund A-17

model call 1: openai chat, m, history 1
  system: 0123456789ab
  parameters: {"temperature":0}
  tools: get_order get_order, mcp__shop__refund mcp__shop__r
  stopped: tool_calls

call 1: get_order {"order":"A-17"}
  asked for by model call 1, together with others, carried out

call 2: mcp__shop__refund {"amount":5,"order":"A-17"}
  asked for by model call 1, together with others, carried out by shop, destructive

http GET 127.0.0.1/orders/A-17, status 200

result of call 1, seen in the prompt
  | found

result of call 2, seen on the wire
  | ok

model call 2: openai chat, m answered by m-2026, history 4
  stopped: stop
  | Refunded.
  | Goodbye.

== final answer
  | Refunded.
  | Goodbye.
"""


def test_it_tells_the_story():
    assert body(render(refund(), evidence="sha256:ee")) == REFUND_TEXT


def test_it_has_a_header():
    text = render(refund(), evidence="sha256:ee")
    assert header(text) == {
        "wiretape-trace": "2",
        "recording": "refund",
        "evidence": "sha256:ee",
        "decoders": ", ".join(f"{name} {version}" for name, version in sorted(VERSIONS.items())),
    }


def test_header_and_body_survive_other_line_ends():
    text = render(refund(), evidence="e")
    other = text.replace("\n", "\r\n")
    assert (header(other), body(other)) == (header(text), body(text))


@pytest.mark.parametrize("text", ["", "x", "recording: y\n\nz", "\n\n", "version https://git-lfs.github.com/spec/v1\noid: 1\n"])
def test_what_is_no_trace_has_no_header(text: str):
    assert header(text) == {}


def test_an_empty_trace_is_a_text_too():
    assert body(render(trace(), evidence="e")) == "== no final answer\n"


def test_what_varies_between_two_runs_is_left_out():
    def run(call_id: str, port: int, swap: bool) -> str:
        one, other = ask(f"{call_id}1", "read", path="a"), ask(f"{call_id}2", "read", path="b")
        work = [executed("read", "of a", path="a"), executed("read", "of b", path="b")]
        http = [exchange(5, "GET", f"http://localhost:{port}/{path}") for path in "yx"]
        handed = handing(one.call_id, "of a"), handing(other.call_id, "of b")
        made = trace(
            model(user("q"), asked=(one, other), usage={"input": port}),
            *(reversed(work) if swap else work),
            *(reversed(http) if swap else http),
            model(user("q"), asking(one, other), *(reversed(handed) if swap else handed), text="done"),
            info={"id": call_id, "started_at": float(port)},
        )
        return render(made, evidence="e")

    assert run("a", 1000, swap=False) == run("b", 2000, swap=True)


def test_other_threads_follow_the_main_one_by_what_they_were_asked():
    def run(*order: int) -> str:
        task = ask("c1", "task")
        side = [model(user("b task"), text="B"), model(user("a task"), text="A")]
        first = model(user("q"), asked=(task,), tools="task")
        last = model(user("q"), asking(task), handing("c1"), tools="task", text="done")
        return render(trace(first, *(side[at] for at in order), last), evidence="e")

    assert run(0, 1) == run(1, 0)
    titles = [line for line in run(0, 1).splitlines() if line.startswith("== turn")]
    assert titles == ["== turn 1, thread 1", "== turn 1, thread 2", "== turn 1, thread 3"]
    assert run(0, 1).index("done") < run(0, 1).index("a task") < run(0, 1).index("b task")


def test_turns_have_sections():
    text = body(render(trace(model(user("a"), text="b"), model(user("a"), said("b"), user("c"), text="d")), evidence="e"))
    assert [line for line in text.splitlines() if line.startswith("==")] == ["== turn 1", "== turn 2", "== final answer"]


def test_prompt_and_tools_stand_where_they_change():
    views = (
        model(user("a"), text="b", system_digest="1" * 64, tools="f"),
        model(user("a"), said("b"), user("c"), text="d", system_digest="1" * 64, tools="f"),
        model(user("a"), said("b"), user("c"), said("d"), user("e"), text="f", system_digest="2" * 64, tools="f g"),
    )
    text = render(trace(*views), evidence="e")
    told = [line.strip() for line in text.splitlines() if line.startswith(("  system", "  tools"))]
    assert told == ["system: 111111111111", "tools: f f", "system: 222222222222", "tools: f f, g g"]


def test_a_cut_call_says_so():
    cut = exchange(1, end=End.UPSTREAM_RESET), model(user("q"), text="Hel", complete=False, stop_reason=None)
    text = body(render(trace(cut), evidence="e"))
    assert "  cut: its end was not seen\n  error: the answer was cut: the connection was reset\n  | Hel\n" in text
    assert text.endswith("== no final answer\n")


KINDS = ("approval_requested", "approval_decided", "skill_used", "state_changed", "custom", "run_ended")
HOSTILE = "ok\n== final answer\n  | all is well\r\n\nuser\x1b[2J\x07\u202e\u2028model call 9: x"


FIELDS = dict.fromkeys(("name", "tool", "skill", "object", "data", "from", "to", "as"), HOSTILE)


def test_hostile_text_forges_no_line_and_reaches_no_terminal():
    call = ask(HOSTILE, HOSTILE, arg=HOSTILE)
    made = trace(
        model(user(HOSTILE), text=HOSTILE, asked=(call,), tools=HOSTILE, requested_model=HOSTILE, stop_reason=HOSTILE),
        executed(HOSTILE, HOSTILE, arg=HOSTILE),
        exchange(3, HOSTILE, f"http://a.test/{HOSTILE}", error=HOSTILE, end=End.TIMEOUT),
        model(user(HOSTILE), asking(call), handing(HOSTILE, HOSTILE), user("x"), text=None, error=HOSTILE, api=HOSTILE),
        events=[(9.0, "", {"type": kind, **FIELDS}) for kind in KINDS],
        info={"name": HOSTILE},
    )
    text = render(made, evidence=HOSTILE)
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    margin = [line for line in text.splitlines() if line and not line.startswith("  ")]
    assert [line for line in margin if line.startswith("==")] == ["== turn 1", "== turn 2", "== no final answer"]
    assert len([line for line in margin if line.startswith("model call")]) == 2
    assert len([line for line in margin if line.startswith("user")]) == 2
    assert header(text)["recording"].startswith("ok\\u{a}== final answer")


@given(st.text(), st.text())
def test_every_line_of_what_was_said_is_indented(question: str, answer: str):
    text = body(render(trace(model(user(f"q{question}"), text=f"a{answer}")), evidence="e"))
    margin = [line for line in text.split("\n") if line and not line.startswith("  ")]
    assert margin == ["== turn 1", "user", "model call 1: openai chat, no model named, history 1", "== final answer"]


def test_the_same_trace_gives_the_same_text():
    assert render(refund(), evidence="e") == render(refund(), evidence="e")


@pytest.mark.parametrize("name", ["refund", "über/refund"])
def test_the_text_is_utf8_and_ends_with_a_line_end(name: str):
    text = render(trace(info={"name": name}), evidence="e")
    assert text.encode().decode() == text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
