"""Which recorded answer is given to which question: the whole of the provider's wit, one line a turn."""

from pathlib import Path

from examples.provider.question import Question

__all__ = ["ANSWERS", "FOLDER", "find", "known"]

FOLDER = Path(__file__).parent / "answers"

_WEATHER = "What's the weather in Florence, Italy?"
_SUMS = "Add and multiply the number 2 and 3"
_HI = "Say hi in Portuguese"
_REPOSITORY = "Can you tell me more about the pydantic/pydantic-ai repo? Keep your answer short"
_REPORT = "Can you analyze the sales data from last quarter and generate a report?"
_SCREENSHOT = "Take a screenshot of the desktop"
_RATE = "What is the USD/EUR exchange rate?"

_KIMI = "moonshotai/kimi-k2-instruct-0905"
_ROUTED = "transfer_to_analytics_agent"

# api, model, question, tools that have answered since, file: .sse answers a streaming request, .json one that is not.
ANSWERS: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    ("chat", "o4-mini", _HI, (), "chat-hi.json"),
    ("chat", "o4-mini", _HI, (), "chat-hi.sse"),
    ("chat", "o4-mini", _WEATHER, (), "chat-weather-1.json"),
    ("chat", "o4-mini", _WEATHER, ("weather",), "chat-weather-2.json"),
    ("chat", "o4-mini", _WEATHER, (), "chat-weather-1.sse"),
    ("chat", "o4-mini", _WEATHER, ("weather",), "chat-weather-2.sse"),
    ("chat", _KIMI, _SUMS, (), "chat-sums-1.sse"),
    ("chat", _KIMI, _SUMS, ("add", "multiply"), "chat-sums-2.sse"),
    ("chat", "gpt-4o", _REPOSITORY, (), "chat-repository-1.json"),
    ("chat", "gpt-4o", _REPOSITORY, ("ask_question",), "chat-repository-2.json"),
    ("responses", "o4-mini", _HI, (), "responses-hi.json"),
    ("responses", "o4-mini", _HI, (), "responses-hi.sse"),
    ("responses", "gpt-5-mini", _WEATHER, (), "responses-weather-1.json"),
    ("responses", "gpt-5-mini", _WEATHER, ("weather",), "responses-weather-2.json"),
    ("responses", "gpt-4o", _SUMS, (), "responses-sums-1.sse"),
    ("responses", "gpt-4o", _SUMS, ("add", "multiply"), "responses-sums-2.sse"),
    ("responses", "gpt-4o", _REPORT, (), "responses-report-1.sse"),
    ("responses", "gpt-4o", _REPORT, (_ROUTED,), "responses-report-2.sse"),
    ("responses", "gpt-4o", _REPORT, ("analyze_data", _ROUTED), "responses-report-3.sse"),
    ("responses", "gpt-4o", _REPORT, ("analyze_data", "process_results", _ROUTED), "responses-report-4.sse"),
    ("responses", "gpt-4o", _REPORT, ("analyze_data", "generate_report", "process_results", _ROUTED), "responses-report-5.sse"),
    ("messages", "claude-opus-4-6", _SCREENSHOT, (), "messages-screenshot-1.sse"),
    ("messages", "claude-opus-4-6", _SCREENSHOT, ("computer",), "messages-screenshot-2.sse"),
    ("messages", "claude-sonnet-4-6", _RATE, (), "messages-exchange-rate-1.json"),
    ("messages", "claude-sonnet-4-6", _RATE, ("get_exchange_rate",), "messages-exchange-rate-2.json"),
)

_FILES = {
    Question(api, model, file.endswith(".sse"), "".join(text.lower().split()), results): file
    for api, model, text, results, file in ANSWERS
}


def find(question: Question) -> Path | None:
    """The file whose bytes are the answer, or None where nothing was recorded for the question."""
    file = _FILES.get(question)
    return None if file is None else FOLDER / file


def known(api: str) -> str:
    """What may be asked over this API, for a sentence: `o4-mini: "Say hi in Portuguese"; …`."""
    asked = dict.fromkeys((model, text) for row, model, text, _, _ in ANSWERS if row == api)
    return "; ".join(f'{model}: "{text}"' for model, text in asked)
