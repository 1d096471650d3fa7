"""Mock rules on a sidecar with real sockets: recording with a live upstream, and replaying without one."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.sidecar import Running, mocks, recording, replaying, stored
from support.upstream import Answer, Upstream, always, chunked, whole
from support.upstream import ask as on_wire

from wiretape.proxy.mocking import MockSettings
from wiretape.proxy.rules.book import Switch
from wiretape.traces.types import End, Exchange, Source

JSON = ("Content-Type", "application/json")
LIVE = b'{"ok": true, "n": 1}'
PLAIN = whole(LIVE, "Content-Type: application/json")
EVENTS = [b'data: {"n": %d}\n\n' % n for n in range(6)]
ASKED = b'{"order": "A-1"}'

type Started = Callable[[MockSettings], contextlib.AbstractContextManager[Running]]


class Both:
    """A recording of one exchange with `shop` that each test can be run against, live or replayed."""

    def __init__(self, folder: Path, mode: str, answer: bytes) -> None:
        self.kept = folder / "kept.db"
        self._mode, self._folder = mode, folder
        self.up = Upstream(always(answer))
        self.asked = ASKED
        """What the recording that is replayed holds."""

    @contextlib.contextmanager
    def start(self, rules: MockSettings) -> Iterator[Running]:
        upstreams = {"shop": self.up.url}
        if self._mode == "recording":
            with recording(self.kept, rules, upstreams=upstreams) as side:
                yield side
            return
        golden = self._folder / "golden.db"
        with recording(golden, upstreams=upstreams) as side:
            ask(side, body=self.asked)
        self.up.stop()
        with replaying(golden, rules=rules, kept=self.kept, upstreams=upstreams) as side:
            yield side

    def stored(self) -> list[Exchange]:
        return stored(self.kept)


@pytest.fixture(params=["recording", "replaying"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], Both]:
    return lambda answer=PLAIN: Both(tmp_path, request.param, answer)


def ask(side: Running, path: str = "/shop/v1/refunds", body: bytes = ASKED) -> Answer:
    return side.ask("POST", path, JSON, body=body)


REFUNDS_DOWN = """
  - id: refunds-down
    enabled: false
    match: {upstream: shop, path: /v1/refunds}
    answer: {status: 503, headers: {Retry-After: '3'}, json: {error: down}}
"""


def test_switching_a_rule_on_changes_the_very_next_answer_on_an_open_connection(both) -> None:
    setup = both()
    with setup.start(mocks(REFUNDS_DOWN)) as side:
        wire = side.wire()
        side.sidecar.mocks.book.switch("refunds-down", Switch.ON)
        down = on_wire(wire, "POST", "/shop/v1/refunds", (JSON,), ASKED)
        side.sidecar.mocks.book.switch("refunds-down", Switch.OFF)
        up = on_wire(wire, "POST", "/shop/v1/refunds", (JSON,), ASKED)
    assert (down.status, down.body, down.get("retry-after")) == (503, b'{"error": "down"}', "3")
    assert (down.get("x-replay-source"), down.get("x-replay-rule")) == ("mocked", "refunds-down")
    assert (up.status, up.body, up.get("x-replay-rule")) == (200, LIVE, None)
    first, second = setup.stored()
    assert (first.source, first.rule, first.end, first.error) == (Source.MOCKED, "refunds-down", End.COMPLETE, None)
    assert first.request.body == ASKED
    assert first.response is not None
    assert first.response.body == b'{"error": "down"}'
    assert not [name for name, _ in first.response.headers if name.startswith("x-replay")]
    assert second.rule is None


def test_a_patch_changes_the_answer_that_there_is(both) -> None:
    setup = both()
    with setup.start(mocks("  - id: p\n    answer: {patch: {n: null, more: ['{{args.order}}']}}\n")) as side:
        answer = ask(side)
    assert answer.json == {"ok": True, "more": ["A-1"]}
    assert setup.stored()[0].rule == "p"


def test_an_error_leaves_the_answer_unused(both) -> None:
    setup = both()
    with setup.start(mocks("  - id: e\n    times: 1\n    faults: [{error: {status: 429, retry_after: 1}}]\n")) as side:
        first, second = ask(side), ask(side)
    assert (first.status, first.get("retry-after"), first.get("x-replay-rule")) == (429, "1", "e")
    assert (second.status, second.body, second.get("x-replay-rule")) == (200, LIVE, None)
    assert setup.stored()[0].error == "injected by the rule e: error 429"


@pytest.mark.parametrize("phase", ["connect", "headers", "chunk"])
def test_a_delay_makes_the_answer_late_and_leaves_it_as_it_is(both, phase) -> None:
    setup = both()
    with setup.start(mocks(f"  - id: d\n    faults: [{{delay: {{phase: {phase}, ms: 300}}}}]\n")) as side:
        began = time.monotonic()
        answer = ask(side)
        took = time.monotonic() - began
    assert (answer.status, answer.body, answer.get("x-replay-rule")) == (200, LIVE, "d")
    assert took >= 0.3


@pytest.mark.parametrize(
    ("how", "end"), [("eof", "cut"), ("reset", "reset"), ("bad-chunk", "garbage"), ("wrong-length", "cut"), ("h2-error", "cut")]
)
def test_a_cut_sends_exactly_so_much_and_then_fails(both, how, end) -> None:
    setup = both(chunked(EVENTS))
    with setup.start(mocks(f"  - id: c\n    faults: [{{cut: {{after_events: 2, how: {how}}}}}]\n")) as side:
        answer = ask(side)
    assert (answer.status, answer.body, answer.end) == (200, b"".join(EVENTS[:2]), end)
    assert answer.get("content-type") == "text/event-stream"
    [exchange] = setup.stored()
    assert (exchange.end, exchange.source) == (End.COMPLETE, Source.MOCKED)
    assert exchange.error == f"injected by the rule c: cut after {len(b''.join(EVENTS[:2]))} bytes ({how})"


def test_a_stall_says_nothing_more_until_the_client_goes(both) -> None:
    setup = both(chunked(EVENTS))
    with setup.start(mocks("  - id: s\n    faults: [{cut: {after_bytes: 5, how: stall}}]\n")) as side:
        wire = side.wire()
        wire.send(f"POST /shop/v1/refunds HTTP/1.1\r\nHost: x\r\nContent-Length: {len(ASKED)}\r\n\r\n".encode() + ASKED)
        wire.head()
        assert wire.chunk() == EVENTS[0][:5]
        wire.sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            wire.chunk()
        wire.sock.close()
        time.sleep(0.3)
    [exchange] = setup.stored()
    assert exchange.end is End.CLIENT_CLOSED
    assert "stall" in (exchange.error or "")


def test_a_tool_that_is_not_declared_read_only_is_mocked_only_with_leave(both) -> None:
    def call(tool: str) -> bytes:
        return json.dumps(
            {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
        ).encode()

    listing = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    tools = [{"name": "look", "annotations": {"readOnlyHint": True}}, {"name": "pay"}]
    listed = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).encode()
    setup = both(whole(listed, "Content-Type: application/json"))
    setup.asked = listing
    rule = "  - id: m\n    where: mcp\n    match: {server: shop}\n    answer: {json: {n: 1}}\n"
    with setup.start(mocks(rule.replace("id: m\n", "id: m\n    enabled: false\n"))) as side:
        book = side.sidecar.mocks.book
        book.switch("m", Switch.ON)
        assert "does not declare read-only" in ask(side, body=call("look")).json["error"]["message"]
        book.switch("m", Switch.OFF)
        side.ask("POST", "/shop/v1/refunds", ("Accept", "application/json, text/event-stream"), body=listing)
        book.switch("m", Switch.ON)
        looked, paid = ask(side, body=call("look")), ask(side, body=call("pay"))
    assert looked.json["result"]["structuredContent"] == {"n": 1}
    assert looked.json["id"] == 7
    assert "pay, which its server does not declare read-only: add `allow_write: true`" in paid.json["error"]["message"]
