"""Which upstream a request to the sidecar's own port means (INTERFACE.md, "One port for every client").

Pure: request target in, upstream URL and session out, or a sentence that says what to set instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import unquote

__all__ = ["BUILT_IN", "Gateway", "Target", "merged"]

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "anthropic": "https://api.anthropic.com",
        "cohere": "https://api.cohere.com",
        "deepseek": "https://api.deepseek.com",
        "gemini": "https://generativelanguage.googleapis.com",
        "groq": "https://api.groq.com/openai",
        "mistral": "https://api.mistral.ai",
        "ollama": "http://127.0.0.1:11434",
        "openai": "https://api.openai.com",
        "openrouter": "https://openrouter.ai/api",
        "xai": "https://api.x.ai",
    }
)
"""Gateway name → base URL; `--upstream NAME=URL` adds to it or replaces an address."""

_SESSION = re.compile(r"^/s/([^/?#]+)(/.*)$")
_NAMED = re.compile(r"^/([A-Za-z0-9_.-]+)((?:[/?].*)?)$")


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    url: str
    """The upstream's URL: its own path, then the rest of the request's path and query as written."""
    session: str


def merged(given: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({**BUILT_IN, **given})


class Gateway:
    def __init__(self, upstreams: Mapping[str, str]) -> None:
        self._upstreams = merged(upstreams)

    def resolve(self, target: str) -> Target | str:
        """The target of an origin-form request, or the sentence for a 404."""
        session = ""
        if prefixed := _SESSION.match(target):
            session, target = unquote(prefixed[1]), prefixed[2]
        named = _NAMED.match(target)
        if named is None or named[1] not in self._upstreams:
            return self._unknown(target)
        return Target(named[1], self._upstreams[named[1]].rstrip("/") + named[2], session)

    def redirected(self, name: str, location: str) -> str | None:
        """The gateway path for a redirect that points at the upstream of this name, else None."""
        base = self._upstreams[name].rstrip("/")
        if location == base or location.startswith((base + "/", base + "?")):
            return f"/{name}{location[len(base) :]}"
        return None

    def _unknown(self, target: str) -> str:
        names, path = ", ".join(sorted(self._upstreams)), target.partition("?")[0]
        return (
            f"{path!r} names no upstream of this gateway ({names}). Set HTTPS_PROXY and HTTP_PROXY to this"
            " address to use it as a proxy, or a base URL such as OPENAI_BASE_URL=<this address>/openai/v1;"
            " `--upstream NAME=URL` adds another."
        )
