"""What the decoders share about requests: where they go, what their JSON body is, whose dialect they speak.

An API is told by path and body, never by the host: gateways, Azure deployments and local servers speak the same dialects
everywhere. The host names the provider alone, where it is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, unquote, urlsplit

from wiretape.traces.decoders.values import clean, digest, parse
from wiretape.traces.types import Declared, Handed, Json, Request, Said

__all__ = [
    "body_of",
    "distinct",
    "history",
    "is_post",
    "model_in_path",
    "parameters",
    "path_of",
    "provider_of",
    "query_of",
    "system_digest",
]

_PROVIDERS = {
    "ai-gateway.vercel.sh": "vercel",
    "aiplatform.googleapis.com": "vertex",
    "amazonaws.com": "bedrock",
    "anthropic.com": "anthropic",
    "api.aws": "bedrock",
    "azure.com": "azure",
    "azuredatabricks.net": "databricks",
    "cerebras.ai": "cerebras",
    "cohere.com": "cohere",
    "deepseek.com": "deepseek",
    "fireworks.ai": "fireworks",
    "generativelanguage.googleapis.com": "gemini",
    "groq.com": "groq",
    "huggingface.co": "huggingface",
    "mistral.ai": "mistral",
    "moonshot.ai": "moonshot",
    "ollama.com": "ollama",
    "openai.azure.com": "azure",
    "openai.com": "openai",
    "openrouter.ai": "openrouter",
    "perplexity.ai": "perplexity",
    "snowflakecomputing.com": "snowflake",
    "together.ai": "together",
    "together.xyz": "together",
    "writer.com": "writer",
    "x.ai": "xai",
    "z.ai": "z.ai",
}

_IDENTITIES = frozenset({"metadata", "prompt_cache_key", "safety_identifier", "user"})
"""Who asks, not how: they differ from run to run and no model samples by them."""


def is_post(request: Request) -> bool:
    return request.method.upper() == "POST"


def path_of(request: Request) -> str:
    """Decoded, in lower case, without a slash at its end; "" for a URL that is none."""
    try:
        return unquote(urlsplit(request.url).path).rstrip("/").lower()
    except ValueError:
        return ""


def query_of(request: Request, name: str) -> str | None:
    """The first value of a parameter in the URL."""
    try:
        return next(iter(parse_qs(urlsplit(request.url).query).get(name, [])), None)
    except ValueError:
        return None


_MODEL = re.compile(r"/model/([^/?]+)/|/(?:models|tunedModels|endpoints)/([^/:?]+):")


def model_in_path(request: Request) -> str | None:
    """Bedrock names the model in `/model/NAME/invoke`, Google in `/models/NAME:generateContent`."""
    found = _MODEL.search(request.url)
    return unquote(found[1] or found[2]) if found else None


def body_of(request: Request) -> Json:
    """The JSON of the body; None where there is none (still encoded, cut, something else)."""
    body = request.body or b""
    try:
        value = parse(body)
    except ValueError:
        return None
    halves = b"\\ud" in body or b"\\uD" in body
    return clean(value) if halves else value


def provider_of(request: Request, dialect: str) -> str:
    """By the host where it is a known one, else the name of the dialect."""
    try:
        host = urlsplit(request.url).hostname or ""
    except ValueError:
        return dialect
    names = host.split(".")
    tails = (".".join(names[start:]) for start in range(len(names)))
    return next((_PROVIDERS[tail] for tail in tails if tail in _PROVIDERS), _vertex(host) or dialect)


def _vertex(host: str) -> str | None:
    """Regions stand before its name: us-east5-aiplatform.googleapis.com."""
    return "vertex" if host.endswith("-aiplatform.googleapis.com") else None


def parameters(body: dict[str, Json], besides: Iterable[str]) -> dict[str, Json]:
    """What steers the answer, as sent: all but content and identities."""
    left_out = _IDENTITIES.union(besides)
    return {key: value for key, value in body.items() if key not in left_out}


def system_digest(parts: list[Json]) -> str | None:
    return digest(parts) if parts else None


def history(elements: Iterable[Said]) -> tuple[Said, ...]:
    """The same elements, each tool result with the name of the tool that its call id belongs to."""
    tools: dict[str, str] = {}
    said = []
    for element in elements:
        tools |= {call.call_id: call.tool for call in element.asked if call.call_id}
        named = tuple(_named(result, tools) for result in element.handed)
        said.append(element.model_copy(update={"handed": named}) if named else element)
    return tuple(said)


def _named(result: Handed, tools: dict[str, str]) -> Handed:
    tool = result.tool or tools.get(result.call_id or "")
    return result.model_copy(update={"tool": tool})


def distinct(tools: Iterable[Declared]) -> tuple[Declared, ...]:
    """Each tool once, where several places of a request declare it."""
    return tuple({(tool.name, tool.digest): tool for tool in tools}.values())
