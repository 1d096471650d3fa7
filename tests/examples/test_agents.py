import threading
from collections.abc import Callable
from typing import Any

import pytest

FLORENCE = "The current temperature in Florence, Italy is 40°C."
SUMS = "Here are the results:\n- Addition: 2 + 3 = 5\n- Multiplication: 2 \N{MULTIPLICATION SIGN} 3 = 6"
SCREENSHOT = "The screenshot shows the desktop. It appears to be a mostly blank/empty desktop"
AGENTS = {
    "agents_sdk_agent.py": "**Sales Analysis Report: Q3**",
    "anthropic_agent.py": SCREENSHOT,
    "openai_agent.py": SUMS,
    "pydantic_ai_agent.py": "The pydantic/pydantic-ai repository is a Python framework",
}
SESSION = b"mcp-session-id"
"""Chosen by the server anew for each client."""


def requests(connections: list[bytes]) -> list[tuple[bytes, bytes]]:
    """(head, body) of each request, in an order that does not depend on which connection carried it."""
    found = []
    for sent in connections:
        rest = sent
        while rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(SESSION)]
            lengths = [line.split(b":")[1] for line in lines if line.lower().startswith(b"content-length:")]
            length = int(lengths[0]) if lengths else 0
            found.append((b"\n".join(lines), rest[:length]))
            rest = rest[length:]
    return sorted(found)


def taken(relays: list[Any]) -> list[tuple[bytes, bytes]]:
    return requests([sent for relay in relays for sent in relay.take()])


@pytest.mark.parametrize("script", AGENTS)
def test_prints_the_recorded_answer_and_asks_the_same_on_every_run(
    script: str, taps: tuple[dict[str, str], list[Any]], run_agent: Callable[..., str]
) -> None:
    variables, relays = taps
    first, asked_first = run_agent(script, variables), taken(relays)
    second, asked_second = run_agent(script, variables), taken(relays)
    assert AGENTS[script] in first
    assert first == second
    assert asked_first == asked_second != []


def test_calls_both_tools_of_a_turn_at_once_and_reaches_the_real_names_through_a_proxy(
    proxy: tuple[dict[str, str], Any], run_agent: Callable[..., str]
) -> None:
    variables, relay = proxy
    both = threading.Barrier(2, timeout=30)
    relay.gate = lambda data: both.wait() if b"/multiply" in data or b'"tools/call"' in data else None
    assert SUMS in run_agent("openai_agent.py", variables)
    assert relay.names == {"api.openai.com:443", "tools.example.test:80", "mcp.example.test:80"}
    assert not both.broken


def test_reaches_anthropic_through_a_proxy(proxy: tuple[dict[str, str], Any], run_agent: Callable[..., str]) -> None:
    variables, relay = proxy
    assert SCREENSHOT in run_agent("anthropic_agent.py", variables)
    assert relay.names == {"api.anthropic.com:443", "tools.example.test:80"}


def test_changes_its_prompt_and_stops_early_when_told(
    taps: tuple[dict[str, str], list[Any]], run_agent: Callable[..., str]
) -> None:
    variables, relays = taps
    answer = run_agent("openai_agent.py", variables, "--tone", "formal", "--questions", "1")
    assert answer.startswith(FLORENCE)
    assert SUMS not in answer
    prompts = [body for _, body in taken(relays) if b"You are a formal assistant" in body]
    assert len(prompts) == 2


def test_skips_a_tool_when_told(taps: tuple[dict[str, str], list[Any]], run_agent: Callable[..., str]) -> None:
    variables, relays = taps
    assert SUMS in run_agent("openai_agent.py", variables, "--skip", "multiply")
    asked = taken(relays)
    assert not [head for head, _ in asked if b"/multiply" in head]
    assert [body for _, body in asked if b'"content":"not available"' in body]
