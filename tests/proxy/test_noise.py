from __future__ import annotations

import pytest

from wiretape.proxy.noise import NOISE, is_noise, matches


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("sentry.io", "https://sentry.io/api/1", True),
        ("sentry.io", "https://notsentry.io/api/1", False),
        ("*.sentry.io", "https://o1.ingest.sentry.io/x", True),
        ("*.sentry.io", "https://sentry.io/x", False),
        ("api.openai.com/v1/traces/ingest", "https://api.openai.com/v1/traces/ingest", True),
        ("api.openai.com/v1/traces/ingest", "https://api.openai.com/v1/chat/completions", False),
        ("api.anthropic.com/api/*", "https://api.anthropic.com/api/oauth/x", True),
        ("api.anthropic.com/api/*", "https://api.anthropic.com/v1/messages", False),
        ("127.0.0.1:6333", "http://127.0.0.1:6333/collections", True),
        ("127.0.0.1:6333", "http://127.0.0.1:6334/collections", False),
        ("shop.test:443", "https://shop.test/x", True),
        ("TELEMETRY.test", "http://telemetry.TEST/x", True),
    ],
)
def test_it_matches_host_port_and_path(pattern: str, url: str, expected: bool) -> None:
    assert matches(pattern, url) is expected


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/responses",
        "https://api.anthropic.com/v1/messages",
        "http://127.0.0.1:8000/mcp",
    ],
)
def test_it_never_takes_a_model_or_tool_call_for_noise(url: str) -> None:
    assert not is_noise(url)


def test_it_can_be_extended() -> None:
    assert is_noise("http://stats.example.test/v1", ["stats.example.test"])
    assert not is_noise("http://stats.example.test/v1")


def test_its_list_is_sorted_so_that_a_host_is_found_at_a_glance() -> None:
    assert list(NOISE) == sorted(NOISE)
