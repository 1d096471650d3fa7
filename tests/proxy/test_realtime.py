"""OpenAI's own SDK over sockets: Realtime and Responses, several turns, through the proxy with TLS and by the gateway."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
import trustme
from openai.types.realtime import RealtimeErrorEvent
from support.captures import WIRE
from support.sidecar import Running, recording, replaying, stored
from support.sockets import upstream
from websockets.exceptions import ConnectionClosedError
from websockets.sync.server import ServerConnection

from wiretape.traces.types import End

CAPTURE = WIRE / "openai--pydantic-ai--realtime-test-openai-ws-test-tool-call-round--6cbbaa.json"
SCRIPT = [
    (each["direction"] == "sent", each["json"])
    for each in json.loads(CAPTURE.read_text(encoding="utf-8"))["exchanges"][0]["messages"]
]
"""(whether the client sent it, the message) of a real conversation with one tool call."""


def provider(socket: ServerConnection) -> None:
    """Says what the real one said: its messages up to the client's next one, whenever that came."""
    for by_client, message in SCRIPT:
        if by_client:
            assert json.loads(socket.recv(20)) == message
        else:
            socket.send(json.dumps(message))
    for _ in socket:
        pass


def responses(socket: ServerConnection) -> None:
    """Two turns: a tool call, then an answer to its output."""
    for number, text in enumerate(socket, start=1):
        asked = json.loads(text)
        assert asked["type"] == "response.create"
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_order", "arguments": '{"id": 7}'}
        said = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [output_text("shipped")],
        }
        socket.send(json.dumps({"type": "response.created", "sequence_number": 0, "response": response(number, [])}))
        output = [said if "previous_response_id" in asked else call]
        socket.send(json.dumps({"type": "response.completed", "sequence_number": 1, "response": response(number, output)}))


def output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def response(number: int, output: list[Any]) -> dict[str, Any]:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": output,
        "status": "completed",
    }


@contextmanager
def sidecars(store: Path, talk: Callable[[ServerConnection], None], folder: Path, secure: bool) -> Iterator[list[Any]]:
    """Ways to a recording sidecar, then to a replaying one: each gives (sidecar, SDK client, options of its socket)."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "up.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("api.openai.com").configure_cert(context)
    with upstream(talk, ssl=context if secure else None) as port:
        rule = {"host": "api.openai.com", "address": "127.0.0.1", "connect_port": port}
        gateway = {"openai": f"http://127.0.0.1:{port}"}
        more: dict[str, Any] = (
            {"connect_to": [rule], "upstream_ca": str(folder / "up.pem")} if secure else {"upstreams": gateway}
        )
        yield [lambda: recording(store, **more), lambda: replaying(store, **({} if secure else more))]


def sdk(side: Running, secure: bool) -> tuple[openai.OpenAI, Any]:
    if secure:
        trust = ssl.create_default_context(cafile=str(side.sidecar.authority.pem))
        return openai.OpenAI(api_key="sk-test"), {"proxy": side.sidecar.url, "ssl": trust}
    return openai.OpenAI(api_key="sk-test", base_url=f"{side.sidecar.url}/openai/v1"), {"proxy": None}


def realtime(side: Running, secure: bool) -> list[str]:
    """The agent: sends each recorded message once everything before it has come; the types of what it got."""
    client, options = sdk(side, secure)
    got = []
    with client.realtime.connect(model="gpt-realtime", websocket_connection_options=options) as connection:
        for by_client, message in SCRIPT:
            if by_client:
                connection.send(message)
            else:
                got.append(connection.recv().type)
    return got


@pytest.mark.parametrize("secure", [False, True], ids=["gateway", "tunnel"])
def test_a_real_realtime_conversation_is_recorded_and_told_again(tmp_path: Path, secure: bool) -> None:
    store, expected = tmp_path / "rec.db", [message["type"] for by_client, message in SCRIPT if not by_client]
    with sidecars(store, provider, tmp_path, secure) as (record, replay):
        with record() as side:
            assert realtime(side, secure) == expected
        [exchange] = stored(store)
        assert exchange.end is End.COMPLETE
        talk = [(each.sender == "client", json.loads(each.data)) for each in exchange.messages if each.type == "text"]
        assert sorted(map(str, talk)) == sorted(map(str, SCRIPT))
        with replay() as side:
            assert realtime(side, secure) == expected
            assert (side.sidecar.tally.misses, side.sidecar.tally.served) == ([], 1)


@pytest.mark.parametrize("secure", [False, True], ids=["gateway", "tunnel"])
def test_responses_over_a_socket_are_told_again_turn_by_turn(tmp_path: Path, secure: bool) -> None:
    def agent(side: Running) -> str:
        client, options = sdk(side, secure)
        with client.responses.connect(websocket_connection_options=options) as connection:
            connection.response.create(model="m", input="Where is 7?")
            first = [connection.recv(), connection.recv()][-1]
            assert first.type == "response.completed"
            [call] = first.response.output
            assert call.type == "function_call"
            result = {"type": "function_call_output", "call_id": call.call_id, "output": "shipped"}
            connection.response.create(model="m", previous_response_id=first.response.id, input=[result])  # type: ignore[list-item]
            last = [connection.recv(), connection.recv()][-1]
            assert last.type == "response.completed"
            return last.response.output_text

    store = tmp_path / "rec.db"
    with sidecars(store, responses, tmp_path, secure) as (record, replay):
        with record() as side:
            assert agent(side) == "shipped"
        assert len(stored(store)[0].messages) == 8
        with replay() as side:
            assert agent(side) == "shipped"
            assert side.sidecar.tally.misses == []


def test_the_sdk_knows_a_miss_as_an_error(tmp_path: Path) -> None:
    store = tmp_path / "rec.db"
    with sidecars(store, provider, tmp_path, False) as (record, replay):
        with record() as side:
            realtime(side, False)
        with replay() as side:
            client, options = sdk(side, False)
            with client.realtime.connect(model="gpt-realtime", websocket_connection_options=options) as connection:
                assert connection.recv().type == "session.created"
                connection.session.update(session={"type": "realtime", "instructions": "Something else."})
                error = connection.recv()
                assert isinstance(error, RealtimeErrorEvent)
                assert error.error.type == "replay_miss"
                assert '$.session.instructions: recorded "Use the get_weather tool' in error.error.message
                with pytest.raises(ConnectionClosedError) as closed:
                    connection.recv()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 4422
