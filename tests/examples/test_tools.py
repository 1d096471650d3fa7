import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from mcp import Client

REPOSITORIES = ("pydantic/pydantic-ai", "nobody/nothing")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_offers_read_only_tools_over_mcp(mode: str, stage: Mapping[str, Any]) -> None:
    async def ask() -> tuple[Any, ...]:
        async with Client(stage["direct"]["MCP_URL"], mode=mode) as client:
            tools = (await client.list_tools()).tools
            total = await client.call_tool("add", {"a": 2, "b": 3})
            about = [await client.call_tool("ask_question", {"repoName": name, "question": "?"}) for name in REPOSITORIES]
            return tools, total, *about

    tools, total, known, unknown = asyncio.run(ask())
    assert [tool.name for tool in tools] == ["add", "ask_question"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert (total.content[0].text, total.structured_content) == ("5", {"result": 5})
    assert known.content[0].text.startswith("Pydantic AI is a Python framework")
    assert unknown.content[0].text == "Nothing is known about nobody/nothing."


def test_answers_over_http(stage: Mapping[str, Any]) -> None:
    url = stage["direct"]["TOOLS_URL"]
    weather = httpx2.get(f"{url}/weather", params={"location": "Florence, Italy"})
    assert weather.json() == {"location": "Florence, Italy", "result": "40 C"}
    assert httpx2.post(f"{url}/multiply", json={"a": 2, "b": 3}).json() == {"result": 6}
    analysis = httpx2.post(f"{url}/analyze", json={"data_request": "sales"})
    assert analysis.json() == {"result": "Analyzed data patterns for: sales"}
    screenshot = httpx2.get(f"{url}/screenshot")
    assert screenshot.headers["content-type"] == "image/png"
    assert screenshot.content.startswith(b"\x89PNG")


def test_refuses_with_a_sentence(stage: Mapping[str, Any]) -> None:
    url = stage["direct"]["TOOLS_URL"]
    weather = httpx2.get(f"{url}/weather", params={"location": "Rome"})
    assert (weather.status_code, weather.json()["error"]) == (
        404,
        "No weather is known for 'Rome'; there is some for Florence, Italy.",
    )
    for content in (b"{", b"[]", b'{"a": 1}', b'{"a": 1, "b": "2"}'):
        answer = httpx2.post(f"{url}/multiply", content=content)
        assert (answer.status_code, answer.json()["error"]) == (400, 'Expected {"a": integer, "b": integer}.')
    assert httpx2.post(f"{url}/analyze", content=b"1").status_code == 400
