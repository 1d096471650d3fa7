"""WebSocket conversations: real ones are in the captures; here is what they do not hold."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.captures import captures

from wiretape.traces.decoders import decode
from wiretape.traces.types import End, Exchange, ExchangeKind, Message, Request

URL = "wss://api.openai.com/v1/responses"


def conversation(*said, url=URL) -> Exchange:
    messages = tuple(Message(at, sender, "text", json.dumps(value).encode()) for at, (sender, value) in enumerate(said))
    return Exchange(4, Request("GET", url), kind=ExchangeKind.WEBSOCKET, messages=messages, end=End.COMPLETE)


def answer(name: str, text: str) -> list[tuple[str, dict]]:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return [
        ("server", {"type": "response.created", "response": {"id": name, "model": "gpt", "status": "in_progress"}}),
        ("server", {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text[:2]}),
        ("server", {"type": "response.completed", "response": {"id": name, "status": "completed", "output": [item]}}),
    ]


def test_it_reads_each_turn_of_responses_on_a_socket():
    exchange = conversation(
        ("client", {"type": "response.create", "model": "gpt", "input": "Hi"}),
        *answer("r1", "Hello"),
        ("client", {"type": "response.create", "model": "gpt", "input": "More", "previous_response_id": "r1"}),
        *answer("r2", "More?"),
    )
    first, second = decode(exchange, b"").calls
    assert (first.text, first.said[0].text, first.complete, first.api) == ("Hello", "Hi", True, "responses")
    assert (second.text, second.previous_id, second.response_id) == ("More?", "r1", "r2")


def test_a_turn_that_was_cut_is_not_complete():
    exchange = conversation(("client", {"type": "response.create", "model": "gpt", "input": "Hi"}), *answer("r1", "Hello")[:2])
    [call] = decode(exchange, b"").calls
    assert (call.text, call.complete) == ("He", False)


def test_realtime_items_count_once_whether_the_server_tells_of_them_or_not():
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    created = {"id": "r1", "status": "in_progress", "output": []}
    told = ("server", {"type": "conversation.item.added", "item": {**item, "id": "i1"}})
    for echoes in ((), (told,), (told, told)):
        exchange = conversation(
            ("server", {"type": "session.created", "session": {"model": "gpt-realtime", "instructions": "Be brief."}}),
            ("client", {"type": "conversation.item.create", "item": item}),
            ("client", {"type": "response.create"}),
            *echoes,
            ("server", {"type": "response.created", "response": created}),
            ("server", {"type": "response.done", "response": {**created, "status": "completed"}}),
        )
        [call] = decode(exchange, b"").calls
        assert [said.text for said in call.said] == ["Hi"]
        assert (call.model, call.stop_reason, call.complete) == ("gpt-realtime", "completed", True)


def test_it_leaves_other_conversations_alone():
    assert decode(conversation(("client", {"op": "subscribe"}), ("server", {"type": "tick"})), b"") is None


SOCKETS = [each for each in captures() if each.exchange.kind is ExchangeKind.WEBSOCKET]


@pytest.mark.parametrize("capture", SOCKETS, ids=lambda each: each.name)
def test_it_survives_real_conversations_in_any_state(capture):
    dice = random.Random(5)
    messages = list(capture.exchange.messages)
    for _ in range(60):
        kept = [each for each in messages if dice.random() > 0.2][: dice.randint(0, len(messages))]
        dice.shuffle(kept) if dice.random() < 0.3 else None
        exchange = Exchange(1, capture.exchange.request, kind=ExchangeKind.WEBSOCKET, messages=tuple(kept))
        view = decode(exchange, b"")
        assert view is None or view.model_dump_json()


ODD = st.sampled_from([None, 1, "", "x", [], {}, [{}], {"id": 1}, {"type": []}])
TYPES = st.sampled_from(
    [
        "session.created",
        "response.created",
        "response.done",
        "conversation.item.added",
        "response.create",
        "error",
        "setup",
        "toolCall",
    ]
)
KEYS = st.sampled_from(["response", "item", "session", "setup", "serverContent", "toolCall", "usageMetadata", "clientContent"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["client", "server"]), TYPES, st.dictionaries(KEYS, ODD, max_size=3)), max_size=12))
def test_it_survives_any_messages(said):
    view = decode(conversation(*((sender, {"type": kind, **rest}) for sender, kind, rest in said)), b"")
    assert view is None or view.model_dump_json()
