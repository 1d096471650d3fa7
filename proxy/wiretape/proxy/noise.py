"""Background traffic that must not poison a recording: telemetry, update checks, credential plumbing.

An exchange with such a host is recorded as noise: outside the trace, never a miss, answered with an empty success in replay
where nothing was recorded. The hosts are those that the clients in use were seen to talk to on their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

__all__ = ["NOISE", "is_noise", "matches"]

NOISE: tuple[str, ...] = (
    "*.datadoghq.com",
    "*.i.posthog.com",
    "*.ingest.sentry.io",
    "*.sentry.io",
    "*.statsig.com",
    "ab.chatgpt.com",
    "api.anthropic.com/api/*",
    "api.honeycomb.io",
    "api.openai.com/v1/traces/ingest",
    "api.segment.io",
    "api.smith.langchain.com",
    "chatgpt.com/backend-api/*",
    "cloud.langfuse.com/api/public/*",
    "eu.api.smith.langchain.com",
    "featuregates.org",
    "logfire-api.pydantic.dev",
    "logfire-eu.pydantic.dev",
    "logfire-us.pydantic.dev",
    "play.googleapis.com",
    "raw.githubusercontent.com/BerriAI/litellm/*",
    "sentry.io",
    "statsigapi.net",
    "telemetry.crewai.com",
    "us.cloud.langfuse.com/api/public/*",
    "us.i.posthog.com",
)
"""`host`, `host:port` or either with `/path*`; a `*` at the start or the end matches any rest."""


def is_noise(url: str, extra: Iterable[str] = ()) -> bool:
    return any(matches(pattern, url) for pattern in (*NOISE, *extra))


def matches(pattern: str, url: str) -> bool:
    """Whether a URL's host (and path, where the pattern has one) fits `host[:port][/path]` with `*` at either end."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    wanted, slash, path = pattern.partition("/")
    if slash and not _fits("/" + path, parts.path or "/"):
        return False
    if ":" in wanted:
        return _fits(wanted.lower(), f"{host}:{parts.port or (443 if parts.scheme in ('https', 'wss') else 80)}")
    return _fits(wanted.lower(), host)


def _fits(pattern: str, text: str) -> bool:
    if pattern.startswith("*"):
        return text.endswith(pattern[1:])
    if pattern.endswith("*"):
        return text.startswith(pattern[:-1])
    return text == pattern
