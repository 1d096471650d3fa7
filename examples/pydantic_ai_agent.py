"""`pydantic-ai` with an OpenAI model: chat completions, not streaming, one tool that is asked over MCP."""

import os

from mcp import Client
from pydantic_ai import Agent

os.environ.setdefault("OPENAI_API_KEY", "any")  # the local provider takes any
MCP_URL = os.environ.get("MCP_URL", "http://mcp.example.test/mcp")
QUESTION = "Can you tell me more about the pydantic/pydantic-ai repo? Keep your answer short"

agent = Agent("openai-chat:gpt-4o")


@agent.tool_plain
async def ask_question(repoName: str, question: str) -> str:  # noqa: N803 - DeepWiki's own name for it, as the model knows it
    """Ask any question about a GitHub repository and get an AI-powered, context-grounded response."""
    # "legacy": the handshake that most servers in the field still speak (initialize, a session, answers as event streams).
    async with Client(MCP_URL, mode="legacy") as mcp:
        result = await mcp.call_tool("ask_question", {"repoName": repoName, "question": question})
    return "".join(part.text for part in result.content if part.type == "text")


if __name__ == "__main__":
    print(agent.run_sync(QUESTION).output)
