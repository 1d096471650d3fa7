"""`replay export` as users run it: what lands where, and that no form of a recording holds a secret."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest
from support.command import REPLAY, replay
from support.otlp import collector, spans
from support.stores import opened, put
from support.varied import EXCHANGES

from wiretape.traces.exports import EXPORTS
from wiretape.traces.types import End, Exchange, Message, Request, Response

ROOT = Path(__file__).parents[2]
SECRET = "sk-proj-DUMMYq7Zr1Xv93LmNc5TtPw82KyBdUa4"


@pytest.mark.parametrize("form", EXPORTS)
def test_it_writes_to_a_file_what_it_writes_to_standard_output(form: str, sums: Path) -> None:
    line = [*REPLAY, "export", "sums", "--format", form]
    shown = subprocess.run(line, cwd=sums, capture_output=True, timeout=60, check=True)
    done = replay("export", "sums", "--format", form, "--out", "a.out", cwd=sums)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (sums / "a.out").read_bytes() == shown.stdout != b""
    assert shown.stdout.endswith(b"\n")


def test_its_text_is_the_trace_that_lies_beside_the_recording(sums: Path) -> None:
    done = replay("export", "sums", "--format", "text", cwd=sums)
    assert done.stdout == (sums / "recordings" / "sums.trace").read_text(encoding="utf-8")


def test_it_takes_one_session_or_one_recording_of_a_store(tmp_path: Path) -> None:
    writer = opened(tmp_path / "a.db")
    for exchange in EXCHANGES:
        put(writer, exchange)
    writer.close()
    done = replay("export", "a.db#other", "--format", "jsonl", cwd=tmp_path)
    assert [json.loads(line).get("seq") for line in done.stdout.splitlines()] == [None, 9]


def test_it_sends_otlp_to_a_collector(sums: Path) -> None:
    with collector() as taker:
        done = replay("export", "sums", "--format", "otlp", "--endpoint", taker.url, "--out", "a.json", cwd=sums)
        assert (done.returncode, done.stdout) == (0, "")
        ((line, _, sent),) = taker.asked
    assert line == "POST /v1/traces"
    assert [span.name for span in spans(sent)][:3] == ["invoke_agent", "chat o4-mini", "execute_tool weather"]
    assert (sums / "a.json").exists()


def test_a_collector_that_refuses_is_three(sums: Path) -> None:
    with collector() as taker:
        taker.answer = (400, {}, b"no")
        done = replay("export", "sums", "--format", "otlp", "--endpoint", taker.url, cwd=sums)
    assert done.returncode == 3
    assert "answered 400" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["sums"], 2, "--format"),
        (["sums", "--format", "xml"], 2, "expected har, jsonl, otlp, text, got 'xml'"),
        (["nowhere", "--format", "har"], 2, "nowhere"),
        (["sums", "--format", "har", "--endpoint", "http://127.0.0.1:1"], 2, "--endpoint takes otlp alone"),
        (["sums", "--format", "otlp", "--endpoint", "here"], 2, "http://127.0.0.1:4318"),
        (["sums", "--format", "otlp", "--endpoint", "http://127.0.0.1:1"], 3, "could not be reached"),
        (["sums", "--format", "har", "--out", "."], 2, "a folder"),
        (["sums", "--format", "har", "--out", "recordings/sums.db"], 2, "never takes"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(words: list[str], code: int, said: str, sums: Path) -> None:
    before = (sums / "recordings" / "sums.db").read_bytes()
    done = replay("export", *words, cwd=sums)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert (sums / "recordings" / "sums.db").read_bytes() == before


def leaky() -> Exchange:
    """A key in every place that an exchange has."""
    event = f'data: {{"choices": [{{"delta": {{"content": "{SECRET}"}}}}]}}\n\n'.encode()
    asked = json.dumps({"model": "m", "api_key": SECRET, "messages": [{"role": "user", "content": f"my key: {SECRET}"}]})
    headers = (("Content-Type", "text/event-stream"), ("Location", f"http://x.test/?key={SECRET}"))
    return Exchange(
        1,
        Request(
            "POST",
            f"http://api.test/v1/chat/completions?key={SECRET}",
            (("Authorization", f"Bearer {SECRET}"),),
            asked.encode(),
        ),
        Response(200, headers, event, "OK", trailers=(("x-key", SECRET),), chunks=((5, 40), (9, len(event) - 40))),
        started_at=1001.0,
        messages=(Message(7, "client", "text", f"key {SECRET}".encode()), Message(8, "server", "binary", SECRET.encode())),
        end=End.UPSTREAM_RESET,
        error=f"could not reach http://api.test/?key={SECRET}",
    )


@pytest.mark.parametrize("form", EXPORTS)
def test_no_export_holds_a_secret(form: str, tmp_path: Path) -> None:
    writer = opened(tmp_path / "a.db")
    put(writer, leaky())
    writer.event(1.0, "", {"type": "custom", "name": "n", "data": {"token": SECRET}})
    writer.close()
    done = replay("export", "a.db", "--format", form, cwd=tmp_path)
    assert done.returncode == 0
    assert "wtredacted" in done.stdout or form == "otlp"
    assert SECRET not in done.stdout
    assert [text for text in decoded(done.stdout) if SECRET.encode() in text] == []


def decoded(text: str) -> list[bytes]:
    """Whatever stands there in base64."""
    found = []
    for word in text.replace('"', " ").split():
        try:
            found.append(base64.b64decode(word, validate=True))
        except ValueError:
            continue
    return found
