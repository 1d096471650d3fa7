"""Spans that OpenTelemetry's own messages take, by its conventions for generative AI."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command import chat_answer
from support.otlp import attributes, parsed, spans
from support.stores import opened, put

from wiretape.scenarios.evidence import load
from wiretape.traces.assemble import assemble
from wiretape.traces.exports import EXPORTS
from wiretape.traces.settings import Price
from wiretape.traces.types import (
    End,
    Exchange,
    ExchangeKind,
    Headers,
    Message,
    RecordingInfo,
    Request,
    Response,
    Timings,
    Trace,
)

RECORDINGS = Path(__file__).parents[3] / "recordings"
JSON: Headers = (("Content-Type", "application/json"),)


def call(seq: int, answer: bytes | None, *, status: int = 200, end: End = End.COMPLETE, **asked: Any) -> Exchange:
    """A model call that starts at its number of seconds, and takes half a second."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"question {seq}"}], **asked}).encode()
    response = None if answer is None else Response(status, JSON, answer, chunks=((250_000, len(answer)),))
    return Exchange(
        seq,
        Request("POST", "https://api.x.ai/v1/chat/completions", JSON, body),
        response,
        started_at=1000.0 + seq,
        timings=Timings(1, 2, 250_000, 500_000),
        end=end,
        error=None if end is End.COMPLETE else f"it ended: {end}",
    )


def exported(store: Path, prices: dict[str, Price] | None = None) -> bytes:
    with load(str(store)) as evidence:
        return b"".join(EXPORTS["otlp"](evidence, prices or {}))


def found(tmp_path: Path, *exchanges: Exchange, prices: dict[str, Price] | None = None) -> list[Any]:
    writer = opened(tmp_path / "a.db")
    for exchange in exchanges:
        put(writer, exchange)
    writer.close()
    return spans(parsed(exported(tmp_path / "a.db", prices)))


def asks(*calls: tuple[str, str, str]) -> bytes:
    return chat_answer(None, calls)


def with_results(seq: int, answer: bytes, *results: tuple[str, str]) -> Exchange:
    """A call that hands back results of tools that were asked for before."""
    tools = [{"id": name, "type": "function", "function": {"name": "get_order", "arguments": "{}"}} for name, _ in results]
    history = [{"role": "user", "content": "question 1"}, {"role": "assistant", "content": None, "tool_calls": tools}]
    history += [{"role": "tool", "tool_call_id": name, "content": text} for name, text in results]
    return call(seq, answer, messages=history)


@pytest.mark.parametrize("name", ["report", "repository", "screenshot", "sums"])
def test_it_has_a_span_for_each_call_of_a_golden_recording(name: str) -> None:
    request = parsed(exported(RECORDINGS / f"{name}.db"))
    with load(str(RECORDINGS / f"{name}.db")) as evidence:
        steps = evidence.trace().steps
    names = [span.name for span in spans(request)]
    models = [step for step in steps if step.kind == "model_call"]
    assert [each for each in names if each.startswith("chat ")] == [f"chat {step.requested_model}" for step in models]
    tools = [f"execute_tool {step.tool}" for step in steps if step.kind == "tool_call"]
    assert [each for each in names if each.startswith("execute_tool ")] == tools
    assert names.count("invoke_agent") == len({step.thread for step in models})
    assert {span.trace_id for span in spans(request)} == {spans(request)[0].trace_id}
    assert len({span.span_id for span in spans(request)}) == len(names)
    assert attributes(request.resource_spans[0].resource)["service.name"] == name


def test_it_puts_calls_below_their_threads_span(tmp_path: Path) -> None:
    asked, answered = call(1, asks(("c1", "get_order", "{}"))), with_results(3, chat_answer("Done."), ("c1", "shipped"))
    root, first, tool, second = found(tmp_path, asked, answered)
    assert [span.name for span in (root, first, tool, second)] == ["invoke_agent", "chat m", "execute_tool get_order", "chat m"]
    assert root.parent_span_id == b""
    assert {span.parent_span_id for span in (first, tool, second)} == {root.span_id}
    assert [link.span_id for link in tool.links] == [first.span_id]
    assert [root.kind, first.kind, tool.kind] == [1, 3, 1]
    assert (root.start_time_unix_nano, root.end_time_unix_nano) == (1001_000_000_000, 1003_500_000_000)


def test_it_times_a_tool_from_the_question_to_the_result(tmp_path: Path) -> None:
    asked, answered = call(1, asks(("c1", "get_order", "{}"))), with_results(3, chat_answer("Done."), ("c1", "shipped"))
    _, first, tool, _ = found(tmp_path, asked, answered)
    assert (first.start_time_unix_nano, first.end_time_unix_nano) == (1001_000_000_000, 1001_500_000_000)
    assert (tool.start_time_unix_nano, tool.end_time_unix_nano) == (1001_500_000_000, 1003_000_000_000)


def test_a_tool_over_stdio_takes_as_long_as_the_model_waited_for_it(tmp_path: Path) -> None:
    said = {"jsonrpc": "2.0", "id": 1}
    ask = said | {"method": "tools/call", "params": {"name": "get_order", "arguments": {}}}
    messages = (
        Message(2_000_000, "client", "text", json.dumps(ask).encode()),
        Message(2_100_000, "server", "text", json.dumps(said | {"result": {"content": []}}).encode()),
    )
    talk = Exchange(
        1,
        Request("STDIO", "stdio://orders"),
        kind=ExchangeKind.STDIO,
        started_at=1000.0,
        messages=messages,
        timings=Timings(ended=90_000_000),
        end=End.COMPLETE,
    )
    models = call(2, asks(("t1", "get_order", "{}"))), with_results(3, chat_answer("done"), ("t1", "ok"))
    (tool,) = [span for span in found(tmp_path, talk, *models) if span.name == "execute_tool get_order"]
    assert (tool.start_time_unix_nano, tool.end_time_unix_nano) == (1_002_500_000_000, 1_003_000_000_000)


def test_a_tool_that_nobody_answered_takes_no_time(tmp_path: Path) -> None:
    _, _, tool = found(tmp_path, call(1, asks(("c1", "get_order", "{}"))))
    assert tool.start_time_unix_nano == tool.end_time_unix_nano == 1001_500_000_000
    assert attributes(tool)["wiretape.tool.state"] == "asked"


def test_each_conversation_has_a_span_of_its_own(tmp_path: Path) -> None:
    made = found(tmp_path, call(1, chat_answer("One.")), call(2, chat_answer("Two.")))
    assert [span.name for span in made] == ["invoke_agent", "chat m"] * 2
    assert [attributes(span)["wiretape.thread"] for span in made[::2]] == [1, 2]
    assert made[1].parent_span_id == made[0].span_id != made[3].parent_span_id == made[2].span_id


def test_it_says_what_was_asked_and_what_it_took(tmp_path: Path) -> None:
    answer = json.loads(chat_answer("Hi."))
    answer["usage"] = {
        **{"prompt_tokens": 1000, "completion_tokens": 500, "prompt_tokens_details": {"cached_tokens": 200}},
        "completion_tokens_details": {"reasoning_tokens": 100},
    }
    asked = {"temperature": 1, "top_p": 0.5, "max_completion_tokens": 7, "seed": True, "n": 10**30, "stop": "END"}
    price = Price(input=1, output=2, cached=0.5, reasoning=4)
    _, span = found(tmp_path, call(1, json.dumps(answer).encode(), **asked), prices={"m*": price})
    said = attributes(span)
    assert said == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "x_ai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
        "gen_ai.request.temperature": 1.0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.max_tokens": 7,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 500,
        "gen_ai.usage.cache_read.input_tokens": 200,
        "gen_ai.usage.reasoning.output_tokens": 100,
        "server.address": "api.x.ai",
        "server.port": 443,
        "wiretape.cost": (800 + 200 * 0.5 + 400 * 2 + 100 * 4) / 1e6,
        "wiretape.exchange": 1,
    }
    assert isinstance(said["gen_ai.request.temperature"], float)
    assert span.status.code == 0


def test_it_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    _, span = found(tmp_path, call(1, chat_answer("Hi.")))
    assert not [name for name in attributes(span) if "usage" in name or "cost" in name or "stream" in name]


@pytest.mark.parametrize(
    ("exchange", "kind"),
    [
        (call(1, b'{"error": {"message": "slow down", "type": "rate_limit"}}', status=429), "429"),
        (call(1, chat_answer("Half")[:-9], end=End.UPSTREAM_RESET), "upstream_reset"),
        (call(1, None, end=End.REFUSED), "refused"),
        (call(1, b'{"error": {"message": "sorry"}}'), "_OTHER"),
    ],
)
def test_a_call_that_failed_has_the_status_of_an_error(exchange: Exchange, kind: str, tmp_path: Path) -> None:
    _, span = found(tmp_path, exchange)
    assert span.status.code == 2
    assert span.status.message
    assert (attributes(span)["error.type"], attributes(span)["gen_ai.response.finish_reasons"]) == (kind, ["error"])


def test_an_exchange_without_an_end_lasts_to_its_last_chunk(tmp_path: Path) -> None:
    open_ = replace(call(1, chat_answer("Half")), timings=Timings(), end=None)
    _, span = found(tmp_path, open_)
    assert span.end_time_unix_nano == 1001_250_000_000


def test_it_says_nothing_of_what_was_said(tmp_path: Path) -> None:
    found(
        tmp_path, call(1, asks(("c1", "get_order", '{"id": "A-17"}'))), with_results(2, chat_answer("Done."), ("c1", "shipped"))
    )
    text = exported(tmp_path / "a.db").decode()
    assert [word for word in ("question", "A-17", "shipped", "Done.") if word in text] == []


def test_it_repeats_itself(tmp_path: Path) -> None:
    found(tmp_path, call(1, asks(("c1", "get_order", "{}"))), call(2, chat_answer("Done.")))
    assert exported(tmp_path / "a.db") == exported(tmp_path / "a.db")


def test_a_session_has_the_ids_that_it_has_in_the_whole(tmp_path: Path) -> None:
    one, two = (replace(call(seq, chat_answer("Hi.")), session=f"s{seq}") for seq in (1, 2))
    whole = found(tmp_path, one, two)
    with load(f"{tmp_path / 'a.db'}#s2") as evidence:
        part = spans(parsed(b"".join(EXPORTS["otlp"](evidence, {}))))
    assert [(span.trace_id, span.span_id) for span in part] == [(span.trace_id, span.span_id) for span in whole[2:]]


class Growing:
    """A recording that goes on: each time it is looked at, it holds one exchange more."""

    info = RecordingInfo(name="r", id="i", started_at=1, status="recording", tool_version="0")

    def __init__(self, *exchanges: Exchange) -> None:
        self._all, self._seen = exchanges, 0

    def exchanges(self) -> Iterator[Exchange]:
        self._seen += 1
        return iter(self._all[: self._seen])

    def trace(self) -> Trace:
        return assemble(self.info, self.exchanges())


def test_it_says_what_it_has_of_a_recording_that_goes_on() -> None:
    growing = Growing(*(call(seq, chat_answer("Hi.")) for seq in (1, 2)))
    made = spans(parsed(b"".join(EXPORTS["otlp"](growing, {}))))
    assert [span.name for span in made] == ["invoke_agent", "chat m"]


def test_it_is_one_line_of_json_with_64_bit_numbers_as_text(tmp_path: Path) -> None:
    found(tmp_path, call(1, chat_answer("Hi.")))
    text = exported(tmp_path / "a.db")
    assert text.count(b"\n") == 1
    assert text.endswith(b"\n")
    (span, *_) = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert span["startTimeUnixNano"] == "1001000000000"
    assert {"key": "wiretape.thread", "value": {"intValue": "1"}} in span["attributes"]


def executed(seq: int, number: int, tool: str, text: str, *, is_error: bool) -> Exchange:
    """A tool that an MCP server executed without any model asking for it."""
    asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
    made = call(seq, answer)
    return replace(made, request=Request("POST", "http://mcp.test/mcp", JSON, json.dumps(asked).encode()))


def test_a_tool_that_failed_has_the_status_of_an_error_and_no_other_has(tmp_path: Path) -> None:
    well, failed = (executed(1, 1, "read", "all of it", is_error=False), executed(2, 2, "write", "disk full", is_error=True))
    one, two = found(tmp_path, well, failed)
    assert [(span.name, span.status.code, span.status.message) for span in (one, two)] == [
        ("execute_tool read", 0, ""),
        ("execute_tool write", 2, "disk full"),
    ]
    assert attributes(two)["error.type"] == "tool_error"
    assert [(span.start_time_unix_nano, span.end_time_unix_nano) for span in (one, two)] == [
        (1001_000_000_000, 1001_500_000_000),
        (1002_000_000_000, 1002_500_000_000),
    ]


def test_tools_that_no_model_asked_for_are_below_the_main_conversation_where_there_is_one(tmp_path: Path) -> None:
    alone = executed(2, 1, "read", "all of it", is_error=False)
    root, model, tool = found(tmp_path, call(1, chat_answer("Hi.")), alone)
    assert model.parent_span_id == tool.parent_span_id == root.span_id
    assert not tool.links


def test_it_has_no_spans_where_no_model_was_called(tmp_path: Path) -> None:
    plain = replace(call(1, b"{}"), request=Request("GET", "http://shop.test/"))
    assert found(tmp_path, plain) == []
