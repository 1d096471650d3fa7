"""OpenAI's own SDK over sockets: Realtime and Responses, several turns, through the proxy with TLS and by the gateway."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from openai import AsyncOpenAI, OpenAI
from openai.types.realtime import RealtimeErrorEvent
from support.captures import WIRE
from support.sidecar import Running, recording, replaying, stored
from support.sockets import trusting, upstream
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosedError

from wiretape.traces.types import End

CAPTURE = WIRE / "openai--pydantic-ai--realtime-test-openai-ws-test-tool-call-round--6cbbaa.json"
SCRIPT = [
    (each["direction"] == "sent", each["json"])
    for each in json.loads(CAPTURE.read_text(encoding="utf-8"))["exchanges"][0]["messages"]
]
"""(whether the client sent it, the message) of a real conversation with one tool call."""


async def provider(socket: ServerConnection) -> None:
    """Says what the real one said: its messages up to the client's next one, whenever that came."""
    for by_client, message in SCRIPT:
        if by_client:
            assert json.loads(await socket.recv()) == message
        else:
            await socket.send(json.dumps(message))
    await socket.wait_closed()


async def responses(socket: ServerConnection) -> None:
    """Two turns: a tool call, then an answer to its output."""
    number = 0
    async for text in socket:
        asked, number = json.loads(text), number + 1
        assert asked["type"] == "response.create"
        output = [SAID if "previous_response_id" in asked else CALL]
        for type_, items in (("response.created", []), ("response.completed", output)):
            head = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
            await socket.send(json.dumps({"type": type_, "sequence_number": 0, "response": {**head, "output": items}}))


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_order", "arguments": '{"id": 7}'}
WORDS = {"type": "output_text", "text": "shipped", "annotations": []}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [WORDS]}


@contextmanager
def sidecars(
    store: Path, talk: Callable[[ServerConnection], Awaitable[None]], folder: Path, secure: bool
) -> Iterator[list[Any]]:
    """What starts a recording sidecar, and what starts a replaying one."""
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


def sdk(side: Running, secure: bool) -> tuple[dict[str, str], Any]:
    """What the SDK's client and its socket are told."""
    if secure:
        return {"api_key": "sk-test"}, {"proxy": side.sidecar.url, "ssl": trusting(side), "open_timeout": 30}
    return {"api_key": "sk-test", "base_url": f"{side.sidecar.url}/openai/v1"}, {"proxy": None}


async def realtime(side: Running, secure: bool) -> list[str]:
    """The agent: sends each recorded message once everything before it has come; the types of what it got."""
    client, options = sdk(side, secure)
    got = []
    opened = AsyncOpenAI(**client).realtime.connect(model="gpt-realtime", websocket_connection_options=options)
    async with opened as connection:
        for by_client, message in SCRIPT:
            if by_client:
                await connection.send(message)
            else:
                got.append((await connection.recv()).type)
    return got


async def two_turns(side: Running, secure: bool) -> str:
    client, options = sdk(side, secure)
    async with AsyncOpenAI(**client).responses.connect(websocket_connection_options=options) as connection:
        await connection.response.create(model="m", input="Where is 7?")
        first = [await connection.recv() for _ in range(2)][-1]
        assert first.type == "response.completed"
        [call] = first.response.output
        assert call.type == "function_call"
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "shipped"}
        await connection.response.create(model="m", previous_response_id=first.response.id, input=[result])
        last = [await connection.recv() for _ in range(2)][-1]
        assert last.type == "response.completed"
        return last.response.output_text


@pytest.mark.parametrize("secure", [False, True], ids=["gateway", "tunnel"])
def test_a_real_realtime_conversation_is_recorded_and_told_again(tmp_path: Path, secure: bool) -> None:
    store, expected = tmp_path / "rec.db", [message["type"] for by_client, message in SCRIPT if not by_client]
    with sidecars(store, provider, tmp_path, secure) as (record, replay):
        with record() as side:
            assert asyncio.run(realtime(side, secure)) == expected
        [exchange] = stored(store)
        assert exchange.end is End.COMPLETE
        talk = [(each.sender == "client", json.loads(each.data)) for each in exchange.messages if each.type == "text"]
        assert sorted(map(str, talk)) == sorted(map(str, SCRIPT))
        with replay() as side:
            assert asyncio.run(realtime(side, secure)) == expected
            assert (side.sidecar.tally.misses, side.sidecar.tally.served) == ([], 1)


@pytest.mark.parametrize("secure", [False, True], ids=["gateway", "tunnel"])
def test_responses_over_a_socket_are_told_again_turn_by_turn(tmp_path: Path, secure: bool) -> None:
    store = tmp_path / "rec.db"
    with sidecars(store, responses, tmp_path, secure) as (record, replay):
        with record() as side:
            assert asyncio.run(two_turns(side, secure)) == "shipped"
        assert len(stored(store)[0].messages) == 8
        with replay() as side:
            assert asyncio.run(two_turns(side, secure)) == "shipped"
            assert side.sidecar.tally.misses == []


def test_the_sdk_knows_a_miss_as_an_error(tmp_path: Path) -> None:
    store = tmp_path / "rec.db"
    with sidecars(store, provider, tmp_path, False) as (record, replay):
        with record() as side:
            asyncio.run(realtime(side, False))
        with replay() as side:
            client, options = sdk(side, False)
            with OpenAI(**client).realtime.connect(model="gpt-realtime", websocket_connection_options=options) as connection:
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
