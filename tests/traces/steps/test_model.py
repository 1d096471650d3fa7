"""Model calls that are more, or less, than one answer to one request."""

from __future__ import annotations

from support.captures import captures
from support.traces import INFO, ask, exchange, handing, kinds, model, of, trace, user

from wiretape.traces.assemble import assemble
from wiretape.traces.types import (
    Approval,
    ApprovalDecision,
    ApprovalRequest,
    End,
    ExchangeKind,
    FinalAnswer,
    ModelCall,
    Said,
    SocketView,
    ToolCall,
    ToolResult,
)


def test_a_call_aside_is_a_step_of_no_conversation():
    made = trace(model(user("Hi"), text="Hello"), *(model(api="embeddings", aside=True, text=None) for _ in range(3)))
    calls = of(made, ModelCall)
    assert [(call.api, call.thread) for call in calls] == [("chat", 1), *[("embeddings", None)] * 3]
    assert [answer.text for answer in of(made, FinalAnswer)] == ["Hello"]
    assert made.observed.tools == "complete"


def test_each_call_on_a_socket_is_a_step_of_one_thread():
    order = ask("c1")
    calls = (
        model(user("refund"), asked=(order,), conversation_id="s", streamed=True),
        model(handing("c1", "found"), text="Refunded.", conversation_id="s", streamed=True),
    )
    seen = exchange(1, "GET", kind=ExchangeKind.WEBSOCKET, end=End.UPSTREAM_RESET)
    made = trace((seen, SocketView(calls=calls)))
    assert kinds(made) == ["user_message", "model_call", "tool_call", "tool_result", "model_call", "final_answer"]
    assert {step.thread for step in made.steps} == {1}
    assert all(call.complete and call.error is None for call in of(made, ModelCall))


def test_a_call_that_a_socket_cut_has_no_answer():
    cut = model(user("Hi"), text="Hel", complete=False, stop_reason=None)
    made = trace((exchange(1, "GET", kind=ExchangeKind.WEBSOCKET, end=End.UPSTREAM_RESET), SocketView(calls=(cut,))))
    assert of(made, FinalAnswer) == []
    assert "the connection was reset" in (of(made, ModelCall)[0].error or "")
    assert made.observed.tools == "partial"


def test_a_providers_question_for_approval_is_decided_in_the_next_request():
    word = Said(role="user", digest="yes", decided=(Approval(id="a1", approved=True),))
    made = trace(
        model(user("delete"), approvals=(Approval(id="a1", tool="delete_file"),), response_id="r1"),
        model(word, text="Deleted.", previous_id="r1"),
    )
    [asked], [decided] = of(made, ApprovalRequest), of(made, ApprovalDecision)
    assert (asked.tool, asked.call_id, asked.source) == ("delete_file", "a1", "wire")
    assert (decided.tool, decided.call_id, decided.approved) == ("delete_file", "a1", True)


def test_real_sockets_have_their_calls_results_and_answer():
    seen = [each.exchange for each in captures() if "test-tool-call-round" in each.name or "text-tool-round" in each.name]
    assert len(seen) >= 3
    for each in seen:
        made = assemble(INFO, [each])
        [call], [result], [answer] = of(made, ToolCall), of(made, ToolResult), of(made, FinalAnswer)
        assert (call.arguments, call.state) == ({"city": "London"}, "executed")
        assert "foggy" in str(result.content)
        assert "foggy" in answer.text
