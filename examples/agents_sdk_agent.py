"""`openai-agents`: the Responses API, streaming, a handoff from a router to a specialist with three tools, one over HTTP.

The SDK posts its own trace to api.openai.com/v1/traces/ingest. That is left on, as it is in most people's agents: a recorder
must live with it. OPENAI_AGENTS_DISABLE_TRACING=1 turns it off.
"""

import asyncio
import os

import httpx2
from agents import Agent, RunConfig, Runner, function_tool

os.environ.setdefault("OPENAI_API_KEY", "any")  # the local provider takes any
TOOLS_URL = os.environ.get("TOOLS_URL", "http://tools.example.test")
QUESTION = "Can you analyze the sales data from last quarter and generate a report?"


@function_tool
async def analyze_data(data_request: str) -> str:
    """Analyze the requested data patterns."""
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{TOOLS_URL}/analyze", json={"data_request": data_request})
    return str(answer.raise_for_status().json()["result"])


@function_tool
def process_results(analysis_data: str) -> str:
    """Process the analysis results."""
    return f"Processed results: {analysis_data}"


@function_tool
def generate_report(processed_data: str) -> str:
    """Generate a final report from the processed data."""
    return f"Generated report: {processed_data}"


ANALYST = Agent(
    name="Analytics Agent",
    instructions="You are a data analytics specialist. Use your tools to analyze data, process results, and generate reports.",
    model="gpt-4o",
    tools=[analyze_data, process_results, generate_report],
)
ROUTER = Agent(
    name="Data Router Agent",
    instructions="You handle general requests and route data processing tasks to the Analytics Agent.",
    model="gpt-4o",
    handoffs=[ANALYST],
)


async def main() -> None:
    # A group of its own keeps `prompt_cache_key` the same from run to run; without one the SDK makes it up anew.
    run = Runner.run_streamed(ROUTER, QUESTION, run_config=RunConfig(group_id="quarterly-report"))
    async for _ in run.stream_events():
        pass
    print(run.final_output)


if __name__ == "__main__":
    asyncio.run(main())
