"""Rules while recording, on what only the proxy core can do: TLS, HTTP/2, and live answers under a fault."""

from __future__ import annotations

import gzip
import json
import ssl
import subprocess
from pathlib import Path

import pytest
import trustme
from support.command import chat_answer
from support.sidecar import mocks, recording, stored
from support.upstream import Upstream, always, ask, chunked, whole

from wiretape.traces.assemble import assemble
from wiretape.traces.store import Store
from wiretape.traces.types import End, Source, ToolResult

EVENTS = [b"data: %d\n\n" % number for number in range(6)]
PATCH = "  - {id: p, match: {host: api.example.test}, answer: {patch: {mocked: true}}}\n"
CUT = "  - {id: c, faults: [{cut: {after_events: 2, how: %s}}]}\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "rec.db"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def secure(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.example.test").configure_cert(context)
    return context


def settings(up: Upstream, authority: trustme.CA, folder: Path) -> dict[str, object]:
    pem = folder / "roots.pem"
    authority.cert_pem.write_to_path(str(pem))
    return {
        "upstream_ca": str(pem),
        "connect_to": [{"host": "api.example.test", "port": 443, "address": "127.0.0.1", "connect_port": up.port}],
    }


def test_it_changes_a_live_answer_inside_tls(store: Path, authority: trustme.CA, tmp_path: Path) -> None:
    up = Upstream(always(whole(b'{"n": 1}', "Content-Type: application/json")), tls=secure(authority))
    with recording(store, mocks(PATCH), **settings(up, authority, tmp_path)) as side:
        wire = side.tunnel("api.example.test", 443)
        got = ask(wire, "POST", "/x?a=b", (("X-Mine", "1"),), b'{"q": 1}', host="api.example.test")
    assert (got.json, got.get("x-replay-rule")) == ({"n": 1, "mocked": True}, "p")
    [asked] = up.asked
    assert (asked.target, asked.body, asked.get("x-mine"), asked.get("host")) == (
        "/x?a=b",
        b'{"q": 1}',
        "1",
        "api.example.test",
    )
    assert not [name for name, _ in asked.headers if name.lower().startswith("x-replay")]
    [exchange] = stored(store)
    assert (exchange.source, exchange.rule, exchange.request.url) == (Source.MOCKED, "p", "https://api.example.test/x?a=b")


@pytest.mark.parametrize(("how", "code"), [("eof", 92), ("reset", 56), ("bad-chunk", 92)])
def test_an_http_2_client_gets_the_failure_in_its_own_terms(
    store: Path, authority: trustme.CA, tmp_path: Path, how: str, code: int
) -> None:
    """curl's exit codes: 92 a stream that was reset, 56 a connection that was. HTTP/2 has no chunks that could be bad."""
    up = Upstream(always(chunked(EVENTS)), tls=secure(authority))
    with recording(store, mocks(CUT % how), **settings(up, authority, tmp_path)) as side:
        command = ["curl", "-s", "--http2", "-x", side.sidecar.url, "--cacert", str(side.sidecar.authority.pem)]
        done = subprocess.run([*command, "https://api.example.test/x"], capture_output=True, timeout=20, check=False)
    assert done.stdout == b"".join(EVENTS[:2])
    assert done.returncode == code
    [exchange] = stored(store)
    assert (exchange.end, exchange.request.http_version) == (End.COMPLETE, "HTTP/2")


def test_an_upstream_that_is_gone_is_answered_for_by_a_rule(store: Path) -> None:
    up = Upstream(always(b""))
    up.stop()
    with recording(store, mocks("  - {id: a, answer: {text: here}}\n")) as side:
        assert side.ask("GET", f"{up.url}/x").body == b"here"


def test_without_an_answer_of_its_own_the_client_gets_what_the_core_says(store: Path) -> None:
    up = Upstream(always(b""))
    up.stop()
    with recording(store, mocks("  - {id: d, faults: [{delay: {ms: 1}}]}\n")) as side:
        assert side.ask("GET", f"{up.url}/x").status == 502


def test_a_coded_answer_can_be_patched(store: Path) -> None:
    body = gzip.compress(b'{"n": 1}')
    up = Upstream(always(whole(body, "Content-Type: application/json", "Content-Encoding: gzip")))
    with recording(store, mocks("  - {id: p, answer: {patch: {m: 2}}}\n")) as side:
        got = side.ask("GET", f"{up.url}/x", ("Accept-Encoding", "gzip"))
    assert (got.json, got.get("content-encoding")) == ({"n": 1, "m": 2}, None)


def test_a_redirect_under_a_fault_still_leads_through_the_gateway(store: Path) -> None:
    up = Upstream(lambda wire, asked: wire.send(whole(b"", f"Location: {up.url}/there", status="302 Found")))
    with recording(store, mocks("  - {id: d, faults: [{delay: {ms: 1}}]}\n"), upstreams={"shop": up.url}) as side:
        assert side.ask("GET", "/shop/here").get("location") == "/shop/there"


def test_no_client_gets_past_rules_by_our_own_headers(store: Path) -> None:
    up = Upstream(always(whole(b"live")))
    with recording(store, mocks("  - {id: a, answer: {text: mocked}}\n")) as side:
        got = side.ask("GET", f"{up.url}/x", ("x-replay-inner", "guess"), ("x-replay-ticket", "guess"))
    assert (got.body, up.asked) == (b"mocked", [])


PROMPT = """
  - id: empty-inbox
    where: prompt
    match: {tool: read_inbox}
    when: [{arg: folder, equals: inbox}]
    allow_write: %s
    answer: {json: {messages: []}}
"""
CALLS = [
    {"id": id_, "type": "function", "function": {"name": "read_inbox", "arguments": json.dumps({"folder": folder})}}
    for id_, folder in (("c1", "inbox"), ("c2", "spam"))
]
HISTORY = [
    {"role": "user", "content": "Mail?"},
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "buy now"},
    {"role": "tool", "tool_call_id": "c2", "content": "buy now"},
]
DONE = chat_answer("ok")


def prompt(history: list[object]) -> bytes:
    return json.dumps({"model": "m", "messages": history}, indent=1).encode()


def test_a_result_is_replaced_on_its_way_and_nothing_else(store: Path) -> None:
    up = Upstream(always(whole(DONE, "Content-Type: application/json")))
    body, longer = prompt(HISTORY), prompt([*HISTORY, {"role": "user", "content": "And now?"}])
    with recording(store, mocks(PROMPT % "true"), upstreams={"openai": up.url}) as side:
        for each in (body, longer):
            assert side.ask("POST", "/openai/v1/chat/completions", body=each).get("x-replay-source") is None
    for asked, sent in zip(up.asked, (body, longer), strict=True):
        assert asked.body == sent.replace(b'"content": "buy now"', b'"content": "{\\"messages\\": []}"', 1)
        assert asked.get("content-length") == str(len(asked.body))
    first, second = stored(store)
    assert (first.request.body, second.request.body) == (body, longer)
    assert (first.source, first.rule) == (Source.LIVE, None)
    with Store.open(store) as found:
        info, _ = found.choose()
        steps = assemble(info, found.exchanges(info), found.events(info)).steps
    marks = {step.call_id: step.mocked for step in steps if isinstance(step, ToolResult)}
    assert marks == {"c1": "empty-inbox", "c2": None}
    assert [step.kind for step in steps if step.kind == "event"] == []


def test_a_result_of_a_tool_that_nobody_declared_read_only_is_replaced_only_with_leave(store: Path) -> None:
    up = Upstream(always(whole(DONE, "Content-Type: application/json")))
    with recording(store, mocks(PROMPT % "false"), upstreams={"openai": up.url}) as side:
        got = side.ask("POST", "/openai/v1/chat/completions", body=prompt(HISTORY))
    assert (got.status, got.get("x-replay-rule")) == (422, "empty-inbox")
    assert "read_inbox, which nobody declares read-only: add `allow_write: true`" in got.json["error"]["message"]
    assert up.asked == []
