"""The plain `openai` SDK: chat completions, streaming, one MCP tool and two HTTP tools, two tool calls in one turn at once.

It asks two questions in one conversation, each of the model that answered it when it was recorded.
"""

import argparse
import asyncio
import json
import os
from typing import Any

import httpx2
from mcp import Client
from openai import AsyncOpenAI

os.environ.setdefault("OPENAI_API_KEY", "any")  # the local provider takes any
TOOLS_URL = os.environ.get("TOOLS_URL", "http://tools.example.test")
MCP_URL = os.environ.get("MCP_URL", "http://mcp.example.test/mcp")
QUESTIONS = (
    ("o4-mini", "What's the weather in Florence, Italy?"),
    ("moonshotai/kimi-k2-instruct-0905", "Add and multiply the number 2 and 3"),
)
SYSTEM = "You are a {tone} assistant. Always use both add and multiply at the same time."


def declare(name: str, description: str | None, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def of(kind: str, *names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind} for name in names}, "required": list(names)}


HTTP_TOOLS = (
    declare("weather", "Get weather information for a location", of("string", "location")),
    declare("multiply", "Multiply two numbers", of("integer", "a", "b")),
)


class Agent:
    def __init__(self, options: argparse.Namespace, model: AsyncOpenAI, http: httpx2.AsyncClient, mcp: Client) -> None:
        self.model, self.http, self.mcp, self.skip = model, http, mcp, options.skip
        self.messages: list[Any] = [{"role": "system", "content": SYSTEM.format(tone=options.tone)}]
        self.tools: list[Any] = list(HTTP_TOOLS)

    async def ask(self, model: str, question: str) -> str:
        self.messages.append({"role": "user", "content": question})
        while True:
            message = await self.stream(model)
            self.messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            self.messages += await asyncio.gather(*map(self.call, message["tool_calls"]))

    async def stream(self, model: str) -> dict[str, Any]:
        text, calls = "", dict[int, dict[str, str]]()
        options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
        async for chunk in await self.model.chat.completions.create(
            model=model, messages=self.messages, tools=self.tools, **options
        ):
            for delta in (choice.delta for choice in chunk.choices):
                text += delta.content or ""
                for part in delta.tool_calls or ():
                    call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                    call["id"] += part.id or ""
                    call["name"] += (part.function and part.function.name) or ""
                    call["arguments"] += (part.function and part.function.arguments) or ""
        asked = [{"id": c.pop("id"), "type": "function", "function": c} for c in calls.values()]
        return {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}

    async def call(self, call: dict[str, Any]) -> dict[str, str]:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        result = "not available" if name == self.skip else await self.run(name, arguments)
        return {"role": "tool", "tool_call_id": call["id"], "content": result}

    async def run(self, name: str, arguments: dict[str, Any]) -> str:
        if name == "weather":
            return str((await self.http.get(f"{TOOLS_URL}/weather", params=arguments)).json()["result"])
        if name == "multiply":
            return str((await self.http.post(f"{TOOLS_URL}/multiply", json=arguments)).json()["result"])
        result = await self.mcp.call_tool(name, arguments)
        return "".join(part.text for part in result.content if part.type == "text")


async def main(options: argparse.Namespace) -> None:
    async with AsyncOpenAI() as model, httpx2.AsyncClient() as http, Client(MCP_URL) as mcp:
        agent = Agent(options, model, http, mcp)
        agent.tools += [
            declare(t.name, t.description, t.input_schema) for t in (await mcp.list_tools()).tools if t.name == "add"
        ]
        for model_name, question in QUESTIONS[: options.questions]:
            print(await agent.ask(model_name, question), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tone", default="helpful", help="a word of the system prompt (default: helpful)")
    parser.add_argument("--skip", metavar="TOOL", help="answer for this tool (weather, add, multiply) without calling it")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), metavar="N", help="ask only the first N questions")
    asyncio.run(main(parser.parse_args()))
