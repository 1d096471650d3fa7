from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

import pytest
from support.captures import captures

from wiretape.replay.conversation import Conversation
from wiretape.replay.matcher import Entry, Match, Matcher
from wiretape.replay.miss import Miss, Reason, response
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.redact import LIVE
from wiretape.traces.settings import Exhausted, Level, MatchSettings
from wiretape.traces.types import End, Exchange, Message, Request, Response

CHAT = "https://api.openai.com/v1/chat/completions"


def chat(text: str, **more: object) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return Request("POST", CHAT, (("Content-Type", "application/json"),), json.dumps(body).encode())


def matcher(
    requests: Iterable[Request], sessions: Iterable[str] = (), broken: Iterable[int] = (), **settings: object
) -> Matcher:
    recorded = {seq: Exchange(seq, each, Response(200, (), f"answer {seq}".encode())) for seq, each in enumerate(requests, 1)}
    names = dict(enumerate(sessions, 1))
    entries = [
        Entry(seq, names.get(seq, ""), fingerprint(each.request), each.request.method, each.request.url, seq not in set(broken))
        for seq, each in recorded.items()
    ]
    return Matcher(reversed(entries), recorded.__getitem__, MatchSettings.model_validate(settings))


def served(found: Match | Miss) -> int | Reason:
    return found.exchange.seq if isinstance(found, Match) else found.reason


def test_answers_come_first_in_first_out_and_then_run_out() -> None:
    made = matcher([chat("a"), chat("b"), chat("a")])
    assert [served(made.find(chat(text))) for text in "aaba"] == [1, 3, 2, Reason.EXHAUSTED]


def test_each_session_has_a_cursor_of_its_own() -> None:
    made = matcher([chat("a"), chat("a")])
    assert [served(made.find(chat("a"), name)) for name in ("one", "two", "one", "two", "one")] == [
        1,
        1,
        2,
        2,
        Reason.EXHAUSTED,
    ]


def test_a_session_draws_first_on_the_recorded_one_of_its_name() -> None:
    made = matcher([chat("a"), chat("a"), chat("a")], sessions=["x", "y", "x"])
    assert [served(made.find(chat("a"), "y")) for _ in range(4)] == [2, 1, 3, Reason.EXHAUSTED]


def test_it_says_how_closely_it_matched() -> None:
    made = matcher([chat("a"), chat("a")])
    spaced = Request("POST", CHAT, (), json.dumps(json.loads(chat("a").body or b""), indent=2).encode())
    levels = [found.level for found in (made.find(chat("a")), made.find(spaced)) if isinstance(found, Match)]
    assert levels == [Level.EXACT, Level.CANONICAL]


def test_a_level_that_is_not_allowed_does_not_answer() -> None:
    made = matcher([chat("a")], level="exact")
    spaced = Request("POST", CHAT, (), json.dumps(json.loads(chat("a").body or b""), indent=2).encode())
    assert isinstance(made.find(spaced), Miss)
    assert isinstance(made.find(chat("a")), Match)


@pytest.mark.parametrize(
    "changed", [chat("a", temperature=1), chat("a longer"), chat("a", model="n"), chat("a", tools=[{"name": "t"}])]
)
def test_a_changed_request_is_never_answered(changed: Request) -> None:
    found = matcher([chat("a")]).find(changed)
    assert isinstance(found, Miss)
    assert found.nearest == 1
    assert found.differences


def test_the_nearest_is_the_one_that_differs_least() -> None:
    found = matcher([chat("x", n=1, top_p=1), chat("y", n=2)]).find(chat("y", n=3))
    assert isinstance(found, Miss)
    assert (found.nearest, [each.path for each in found.differences]) == (2, ["$.n"])


def test_a_host_that_was_never_recorded_has_no_nearest() -> None:
    found = matcher([chat("a")]).find(Request("GET", "http://elsewhere.test/"))
    assert isinstance(found, Miss)
    assert found.nearest is None
    assert "no exchange with that host" in found.message


def test_an_interrupted_exchange_is_not_served() -> None:
    found = matcher([chat("a")], broken=[1]).find(chat("a"))
    assert served(found) is Reason.INTERRUPTED
    assert isinstance(found, Miss)
    assert "--serve-partial" in found.message


def test_the_last_answer_is_repeated_where_that_is_permitted() -> None:
    made = matcher([chat("a"), chat("a")], exhausted=Exhausted.REPEAT_LAST)
    assert [served(made.find(chat("a"))) for _ in range(4)] == [1, 2, 2, 2]


def test_it_knows_what_was_not_asked_for() -> None:
    made = matcher([chat("a"), chat("b"), chat("c")])
    made.find(chat("b"))
    assert made.unused() == (1, 3)


def test_every_real_request_finds_itself() -> None:
    requests = [each.exchange.request for each in captures()]
    made = matcher(requests)
    assert [served(made.find(each)) for each in requests] == list(range(1, len(requests) + 1))


def test_ten_thousand_entries_are_loaded_one_by_one() -> None:
    loaded: list[int] = []
    requests = {seq: chat(f"question {seq}") for seq in range(1, 10_001)}

    def load(seq: int) -> Exchange:
        loaded.append(seq)
        return Exchange(seq, requests[seq], Response(200))

    made = Matcher(
        (Entry(seq, "", fingerprint(each), each.method, each.url) for seq, each in requests.items()), load, MatchSettings()
    )
    assert served(made.find(chat("question 7777"))) == 7777
    assert loaded == [7777]
    assert isinstance(made.find(chat("nothing like it")), Miss)
    assert len(loaded) < 300


# secrets


def looked_up(number: int, **more: object) -> Request:
    return chat("a", token=f"wtredacted{number:04}", **more)


def test_any_key_finds_what_was_recorded_with_another() -> None:
    made = matcher([looked_up(1), looked_up(1)])
    assert [served(made.find(looked_up(LIVE + 3))) for _ in range(2)] == [1, 2]


def test_two_secrets_never_get_each_others_answers() -> None:
    """The first live one stands for the first recorded one; from then on each for its own alone."""
    made = matcher([looked_up(1), looked_up(2), looked_up(1)])
    assert [served(made.find(looked_up(LIVE + n))) for n in (5, 5, 6, 5)] == [1, 3, 2, Reason.EXHAUSTED]


def test_one_secret_cannot_stand_for_two_nor_two_for_one() -> None:
    made = matcher([looked_up(1, n=1), looked_up(2, n=2), looked_up(1, n=3)])
    assert served(made.find(looked_up(LIVE, n=1))) == 1
    assert served(made.find(looked_up(LIVE, n=2))) == Reason.UNKNOWN
    assert served(made.find(looked_up(LIVE + 1, n=3))) == Reason.UNKNOWN
    assert served(made.find(looked_up(LIVE + 1, n=2))) == 2


def test_what_a_recorded_answer_handed_out_stands_for_itself() -> None:
    made = matcher([looked_up(1), looked_up(2)])
    assert [served(made.find(looked_up(n))) for n in (2, 3, LIVE)] == [2, Reason.UNKNOWN, 1]


def test_each_session_has_secrets_of_its_own() -> None:
    made = matcher([looked_up(1)])
    assert [served(made.find(looked_up(LIVE + n), str(n))) for n in range(3)] == [1, 1, 1]


# the answer to a miss


@pytest.mark.parametrize(
    ("url", "body", "message"),
    [
        ("https://x.test/v1/chat/completions", {"messages": []}, lambda e: e["error"]["message"]),
        ("https://x.test/v1/messages", {"messages": []}, lambda e: e["error"]["message"] if e["type"] == "error" else None),
        (
            "https://x.test/v1beta/models/g:generateContent",
            {"contents": []},
            lambda e: e["error"]["message"] if e["error"]["code"] == 422 else None,
        ),
        (
            "https://x.test/mcp",
            {"jsonrpc": "2.0", "id": "a-7", "method": "tools/call"},
            lambda e: e["error"]["message"] if e["id"] == "a-7" else None,
        ),
        ("https://x.test/anything", {"a": 1}, lambda e: e["error"]["message"]),
    ],
)
def test_a_miss_speaks_the_providers_own_error_shape(url: str, body: object, message: object) -> None:
    request = Request("POST", url, (), json.dumps(body).encode())
    miss = matcher([chat("a")]).find(request)
    assert isinstance(miss, Miss)
    status, headers, answer = response(miss, request)
    assert (status, ("x-should-retry", "false") in headers) == (422, True)
    assert miss.message in message(json.loads(answer))  # type: ignore[operator]


# ---------------------------------------------------------------- sockets


SOCKET = Request("GET", "wss://api.test/v1/realtime?model=m")


def sockets(*scripts: str, sessions: Iterable[str] = (), **settings: object) -> Matcher:
    """One recorded socket a script, whose words begin with the sender: `c:hi s:hello`; `c!` closes it."""
    recorded = {
        seq: Exchange(seq, SOCKET, Response(101), messages=tuple(map(said, script.split())), end=End.COMPLETE)
        for seq, script in enumerate(scripts, 1)
    }
    names = dict(enumerate(sessions, 1))
    entries = [Entry(seq, names.get(seq, ""), fingerprint(SOCKET), "GET", SOCKET.url) for seq in recorded]
    return Matcher(entries, recorded.__getitem__, MatchSettings.model_validate(settings))


def said(word: str) -> Message:
    sender: Literal["client", "server"] = "client" if word[0] == "c" else "server"
    return Message(0, sender, "close" if word[1] == "!" else "text", word[2:].encode())


def opened(made: Matcher, session: str = "") -> Conversation:
    found = made.find(SOCKET, session)
    assert isinstance(found, Match)
    return made.converse(found, session)


def test_the_first_message_chooses_among_sockets_of_one_url() -> None:
    made = sockets("c:a s:1", "c:b s:2", "c:b s:3")
    one, two, three = opened(made), opened(made), opened(made)
    for conversation, word, seq in ((three, "c:b", 2), (one, "c:b", 3), (two, "c:a", 1)):
        assert conversation.hear(said(word)) is Level.EXACT
        assert conversation.exchange.seq == seq
    assert made.unused() == ()
    assert served(made.find(SOCKET)) is Reason.EXHAUSTED


def test_a_socket_that_nobody_opened_yet_can_be_chosen_too() -> None:
    made = sockets("c:a", "c:b")
    conversation = opened(made)
    conversation.hear(said("c:b"))
    assert conversation.exchange.seq == 2
    assert made.unused() == (1,)
    assert served(made.find(SOCKET)) == 1


def test_the_same_bytes_are_chosen_before_the_same_meaning() -> None:
    made = sockets('c:{"a":1,"b":2}', 'c:{"b":2,"a":1}')
    one, two = opened(made), opened(made)
    assert one.hear(said('c:{"b":2,"a":1}')) is Level.EXACT
    assert two.hear(said('c:{"b":2,"a":1}')) is Level.CANONICAL
    assert (one.exchange.seq, two.exchange.seq) == (2, 1)


def test_where_the_server_spoke_first_sockets_are_given_in_their_order() -> None:
    made = sockets("s:hello c:a", "s:hello c:b")
    one = opened(made)
    assert [message.data for _, message in one.due()] == [b"hello"]
    assert isinstance(one.hear(said("c:b")), Miss)
    two = opened(made)
    two.due()
    assert two.hear(said("c:b")) is Level.EXACT


def test_a_first_message_of_no_socket_names_the_nearest_and_uses_none() -> None:
    made = sockets('c:{"n":1,"m":1}', 'c:{"n":2,"m":2}')
    found = opened(made).hear(said('c:{"n":2,"m":3}'))
    assert isinstance(found, Miss)
    assert (found.nearest, found.number, [each.path for each in found.differences]) == (2, 1, ["$.m"])
    assert made.unused() == (1, 2)


def test_a_client_that_leaves_without_a_word_uses_the_socket_where_none_was_said() -> None:
    made = sockets("c:a", "c! s!")
    left = opened(made)
    left.goodbye(said("c!"))
    assert left.exchange.seq == 2
    assert made.unused() == (1,)
    opened(made).leave()
    assert made.unused() == (1,)


def test_a_session_s_sockets_are_its_own_first() -> None:
    made = sockets("c:a", "c:a", "c:a", sessions=["x", "y", "x"])
    seqs = []
    for _ in range(3):
        conversation = opened(made, "y")
        conversation.hear(said("c:a"))
        seqs.append(conversation.exchange.seq)
    assert seqs == [2, 1, 3]


def test_the_last_socket_is_told_again_where_that_is_permitted() -> None:
    made = sockets("c:a", "c:b", exhausted=Exhausted.REPEAT_LAST)
    for word in ("c:a", "c:b", "c:b"):
        assert opened(made).hear(said(word)) is Level.EXACT
    assert isinstance(opened(made).hear(said("c:a")), Miss)


def test_a_fresh_value_in_the_first_message_chooses_its_socket_too() -> None:
    one, other = "3f0c9d5e-5d3e-4a57-9f57-0b6f1d3a7c11", "b8a1f3c2-77aa-4c0e-8d11-5e2c9f60d4e9"
    conversation = opened(sockets("c:a s:1", f"c:b-{one} s:{one}"))
    assert conversation.hear(said(f"c:b-{other}")) is Level.REBOUND
    assert conversation.exchange.seq == 2
    assert [message.data.decode() for _, message in conversation.due()] == [other]
