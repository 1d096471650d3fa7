"""The `anthropic` SDK: Messages, streaming, Anthropic's own computer tool; the screenshot comes from a tool over HTTP."""

import base64
import os
from typing import Any

import httpx2
from anthropic import Anthropic

os.environ.setdefault("ANTHROPIC_API_KEY", "any")  # the local provider takes any
TOOLS_URL = os.environ.get("TOOLS_URL", "http://tools.example.test")
MODEL = "claude-opus-4-6"
SYSTEM = "You are a helpful assistant"
QUESTION = "Take a screenshot of the desktop"
COMPUTER: Any = {"type": "computer_20251124", "name": "computer", "display_width_px": 1920, "display_height_px": 1080}


def use(block: Any, http: httpx2.Client) -> dict[str, Any]:
    """The result of one tool call; only screenshots are allowed here."""
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id}
    if block.input != {"action": "screenshot"}:
        return {**result, "content": f"{block.input} is not allowed", "is_error": True}
    png = http.get(f"{TOOLS_URL}/screenshot").raise_for_status().content
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png).decode()}
    return {**result, "content": [{"type": "image", "source": source}]}


def main() -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    with Anthropic() as client, httpx2.Client() as http:
        while True:
            with client.beta.messages.stream(
                model=MODEL,
                max_tokens=4096,
                system=SYSTEM,
                messages=messages,
                tools=[COMPUTER],
                betas=["computer-use-2025-11-24"],
            ) as stream:
                for text in stream.text_stream:
                    print(text, end="", flush=True)
                message = stream.get_final_message()
            if message.stop_reason != "tool_use":
                break
            messages.append({"role": "assistant", "content": message.content})
            results = [use(block, http) for block in message.content if block.type == "tool_use"]
            messages.append({"role": "user", "content": results})
    print()


if __name__ == "__main__":
    main()
