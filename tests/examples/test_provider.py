import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from examples.provider.app import PATHS, events
from examples.provider.table import ANSWERS, FOLDER

PATH_OF = {api: path for path, api in PATHS.items()}
KEY = {"authorization": "Bearer any"}
NOTICE = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| `(\S+)` \| (\d+) \| (\S+) \|", NOTICE, flags=re.MULTILINE)
"""(file, source, exchange, licence) as the notice lists them."""


@pytest.fixture
def url(stage: Mapping[str, Any]) -> str:
    return str(stage["direct"]["ANTHROPIC_BASE_URL"])


def history(api: str, text: str, tools: tuple[str, ...]) -> list[dict[str, Any]]:
    """A conversation of this API in which `tools` have answered since `text` was said, the last called first."""
    calls = [(f"call-{number}", tool) for number, tool in enumerate(reversed(tools))]
    said: dict[str, Any] = {"role": "user", "content": text}
    if not calls:
        return [said]
    if api == "chat":
        asked = [{"id": i, "type": "function", "function": {"name": tool, "arguments": "{}"}} for i, tool in calls]
        results = [{"role": "tool", "tool_call_id": i, "content": "x"} for i, _ in calls]
        return [said, {"role": "assistant", "content": None, "tool_calls": asked}, *results]
    if api == "responses":
        asked = [{"type": "function_call", "call_id": i, "name": tool, "arguments": "{}"} for i, tool in calls]
        return [said, *asked, *({"type": "function_call_output", "call_id": i, "output": "x"} for i, _ in calls)]
    used = [{"type": "tool_use", "id": i, "name": tool, "input": {}} for i, tool in calls]
    answered = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i, _ in calls]
    return [said, {"role": "assistant", "content": used}, {"role": "user", "content": answered}]


def body(api: str, model: str, text: str, tools: tuple[str, ...], *, stream: bool) -> dict[str, Any]:
    return {"model": model, "stream": stream, "input" if api == "responses" else "messages": history(api, text, tools)}


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row[4])
def test_sends_the_recorded_bytes(row: tuple[str, str, str, tuple[str, ...], str], url: str) -> None:
    api, model, text, tools, file = row
    request = body(api, model, text, tools, stream=file.endswith(".sse"))
    answer = httpx2.post(url + PATH_OF[api], json=request, headers=KEY)
    assert answer.status_code == 200
    assert answer.content == (FOLDER / file).read_bytes()
    expected = "text/event-stream; charset=utf-8" if file.endswith(".sse") else "application/json"
    assert answer.headers["content-type"] == expected


def test_forgets_the_tools_of_an_older_question(url: str) -> None:
    request = body("chat", "o4-mini", "Say something else", ("weather",), stream=False)
    request["messages"] += [{"role": "assistant", "content": "."}, {"role": "user", "content": "Say hi in Portuguese"}]
    assert httpx2.post(url + PATH_OF["chat"], json=request, headers=KEY).content == (FOLDER / "chat-hi.json").read_bytes()


def test_takes_a_question_in_parts_and_as_a_plain_input(url: str) -> None:
    in_parts = [{"role": "user", "content": [{"type": "text", "text": "Say hi "}, {"type": "text", "text": "in Portuguese"}]}]
    chat = {"model": "o4-mini", "messages": in_parts}
    assert httpx2.post(url + PATH_OF["chat"], json=chat, headers=KEY).content == (FOLDER / "chat-hi.json").read_bytes()
    plain = {"model": "o4-mini", "input": "Say hi in Portuguese"}
    answer = httpx2.post(url + PATH_OF["responses"], json=plain, headers=KEY)
    assert answer.content == (FOLDER / "responses-hi.json").read_bytes()


def test_streams_event_by_event(url: str) -> None:
    request = json.dumps(body("chat", "o4-mini", "What's the weather in Florence, Italy?", (), stream=True)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: x\r\ncontent-length: {len(request)}\r\n"
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as sock:
        sock.sendall(f"{head}connection: close\r\n\r\n".encode() + request)
        answer = sock.makefile("rb").read()
    rest = answer.split(b"\r\n\r\n", 1)[1]
    pieces = []
    while size := int(rest.split(b"\r\n", 1)[0], 16):
        rest = rest.split(b"\r\n", 1)[1]
        pieces.append(rest[:size])
        rest = rest[size + 2 :]
    assert len(pieces) > 10
    assert pieces == events((FOLDER / "chat-weather-1.sse").read_bytes())


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.sse")))
def test_cuts_a_stream_without_losing_a_byte(file: str) -> None:
    recorded = (FOLDER / file).read_bytes()
    pieces = events(recorded)
    assert b"".join(pieces) == recorded
    assert len(pieces) > 5


def errors(api: str, answer: httpx2.Response) -> tuple[int, str, str]:
    """(status, type, message), out of the API's own shape and no other."""
    shape = answer.json()
    if api == "messages":
        assert shape.keys() == {"type", "error", "request_id"}
        assert shape["type"] == "error"
    else:
        assert shape.keys() == {"error"}
        assert shape["error"].keys() == {"message", "type", "param", "code"}
    return answer.status_code, shape["error"]["type"], shape["error"]["message"]


@pytest.mark.parametrize("api", PATH_OF)
def test_refuses_a_question_it_has_no_answer_to(api: str, url: str) -> None:
    request = body(api, "gpt-4o", "Who are you?", (), stream=False)
    status, kind, message = errors(api, httpx2.post(url + PATH_OF[api], json=request, headers=KEY))
    assert (status, kind) == (400, "invalid_request_error")
    assert message.startswith(
        "No answer was recorded for this question (gpt-4o, not streaming; tool results so far: none). "
        "Recorded over this API are "
    )


@pytest.mark.parametrize("api", PATH_OF)
def test_refuses_a_request_without_a_key(api: str, url: str) -> None:
    status, kind, message = errors(api, httpx2.post(url + PATH_OF[api], json={}))
    assert (status, kind) == (401, "authentication_error" if api == "messages" else "invalid_request_error")
    assert "No API key was sent" in message


@pytest.mark.parametrize("api", PATH_OF)
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"1", b"{}", b'{"model": "x", "messages": 1, "input": 1}'])
def test_refuses_what_is_no_request(content: bytes, api: str, url: str) -> None:
    status, kind, message = errors(api, httpx2.post(url + PATH_OF[api], content=content, headers=KEY))
    assert (status, kind) == (400, "invalid_request_error")
    assert "not a JSON request of this API" in message


def test_refuses_other_paths_and_methods(url: str) -> None:
    for answer in (httpx2.get(f"{url}/v1/models"), httpx2.get(url + PATH_OF["chat"])):
        status, _, message = errors("chat", answer)
        assert status == 404
        assert message.endswith("POST one of /v1/chat/completions, /v1/messages, /v1/responses.")
    assert errors("messages", httpx2.post(f"{url}/v1/messages/batches"))[:2] == (404, "not_found_error")


def test_takes_the_agents_sdk_s_own_traces(url: str) -> None:
    answer = httpx2.post(f"{url}/v1/traces/ingest", json={"data": []}, headers=KEY)
    assert (answer.status_code, answer.content) == (204, b"")


def test_has_a_source_for_every_answer_and_a_use_for_every_file() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.suffix in {".json", ".sse"}}
    assert files == {row[0] for row in ROWS} == {row[4] for row in ANSWERS}
    assert len(ROWS) == len(ANSWERS) == len(files)
    for _, source, _, licence in ROWS:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}:\S+", source)
        assert licence in {"Apache-2.0", "MIT"}


@pytest.mark.shared
def test_keeps_the_bytes_of_its_sources(root: Path) -> None:
    corpus = root / ".." / "shared" / "corpus"
    if not corpus.is_dir():
        pytest.skip("../shared/corpus, which the answers were taken from, is not here")
    recordings = [json.loads(path.read_text(encoding="utf-8")) for path in corpus.glob("*/*.json")]
    by_source = {recording["source"]: recording for recording in recordings}
    for file, source, number, licence in ROWS:
        recording = by_source[source]
        (exchange,) = [e for e in recording["exchanges"] if e["index"] == int(number)]
        assert (FOLDER / file).read_bytes() == exchange["response"]["body"].encode()
        assert recording["license"] == licence
