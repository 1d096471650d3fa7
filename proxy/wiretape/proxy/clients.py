"""What each client reads to find its proxy and its roots, as measured; for `replay doctor` and for runs that captured
nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["CLIENTS", "Client", "diagnosis", "installed", "refused_certificate"]


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    proxy: str
    roots: str
    base_url: str = ""
    package: str | None = None
    """The Python distribution that tells whether it is installed."""
    command: str | None = None
    """The command on PATH that tells it."""
    remark: str = ""


CLIENTS: tuple[Client, ...] = (
    Client("openai (Python)", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", "OPENAI_BASE_URL", package="openai"),
    Client("anthropic (Python)", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", "ANTHROPIC_BASE_URL", package="anthropic"),
    Client("google-genai", "HTTPS_PROXY", "SSL_CERT_FILE", "GOOGLE_GEMINI_BASE_URL", package="google-genai"),
    Client("mistralai", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", package="mistralai"),
    Client("cohere", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", "CO_API_URL", package="cohere"),
    Client("boto3", "HTTPS_PROXY", "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL", package="boto3", remark="signed: no gateway"),
    Client("litellm", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", "OPENAI_BASE_URL", package="litellm"),
    Client("httpx", "HTTPS_PROXY, ALL_PROXY", "SSL_CERT_FILE", package="httpx"),
    Client("requests", "HTTPS_PROXY, ALL_PROXY", "REQUESTS_CA_BUNDLE", package="requests"),
    Client("aiohttp", "none unless trust_env=True", "SSL_CERT_FILE", package="aiohttp", remark="led in by sitecustomize"),
    Client("grpcio", "https_proxy (lower case)", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", package="grpcio", remark="recorded only"),
    Client("mcp (Python)", "HTTPS_PROXY", "SSL_CERT_FILE", package="mcp", remark="stdio servers need `replay tap`"),
    Client("curl", "https_proxy, ALL_PROXY", "CURL_CA_BUNDLE, SSL_CERT_FILE", command="curl"),
    Client("git", "HTTPS_PROXY", "GIT_SSL_CAINFO", command="git"),
    Client("Node", "HTTPS_PROXY with NODE_USE_ENV_PROXY=1 (22.21, 24)", "NODE_EXTRA_CA_CERTS", command="node",
           remark="older ones by wiretape's preload in NODE_OPTIONS"),
    Client("Deno", "HTTPS_PROXY", "DENO_CERT", command="deno"),
    Client("Bun", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", command="bun"),
    Client("Go programs", "HTTPS_PROXY, never for loopback", "SSL_CERT_FILE", command="go"),
    Client("Java", "JAVA_TOOL_OPTIONS only", "a trust store", command="java"),
    Client("Claude Code", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "ANTHROPIC_BASE_URL", command="claude"),
    Client("codex", "HTTPS_PROXY, ALL_PROXY", "CODEX_CA_CERTIFICATE", command="codex"),
    Client("gemini-cli", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "GOOGLE_GEMINI_BASE_URL", command="gemini"),
)  # fmt: skip


def installed() -> tuple[tuple[Client, str], ...]:
    """Those that are here, with their version or place."""
    found = []
    for client in CLIENTS:
        place = _version(client.package) if client.package else shutil.which(client.command or "")
        if place:
            found.append((client, place))
    return tuple(found)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def diagnosis(argv: Sequence[str]) -> tuple[str, ...]:
    """What to look at where nothing of a command came through the proxy, likeliest first."""
    command = Path(argv[0]).name if argv else ""
    kind = next((sentence for words, sentence in _HINTS if command.startswith(words)), None)
    around = (
        "The command was given HTTP_PROXY, HTTPS_PROXY and the roots of this run; a program that clears its environment, or"
        " whose client ignores proxy variables, goes around them."
    )
    gateway = (
        "A client that takes a base URL can use the gateway of `replay proxy` instead; `replay doctor` lists what each"
        " installed client reads."
    )
    return tuple(filter(None, (around, kind, gateway)))


_HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("python", "uv", "pytest", "poetry"), "In Python: aiohttp needs trust_env=True, bare urllib3 ignores proxy variables."),
    (
        ("node", "npm", "npx", "tsx", "pnpm", "yarn"),
        "In Node: fetch needs NODE_USE_ENV_PROXY=1 (22.21, 24) or wiretape's preload: see that NODE_OPTIONS is kept.",
    ),
    (("go",), "Go programs never use a proxy for loopback addresses."),
    (("java", "mvn", "gradle"), "Java reads JAVA_TOOL_OPTIONS alone: see that it is kept."),
)


def refused_certificate(host: str, sni: str | None, reason: str) -> str:
    """The sentence about a client that would not accept the run's certificate."""
    return (
        f"the client refused the certificate for {host} (SNI {sni or 'none'}): {reason}. It does not trust this run's"
        " authority: point SSL_CERT_FILE (Python, Go, curl), REQUESTS_CA_BUNDLE (requests), NODE_EXTRA_CA_CERTS (Node),"
        " AWS_CA_BUNDLE (boto3) or GRPC_DEFAULT_SSL_ROOTS_FILE_PATH (gRPC) at the CA file, or start it by `replay record`."
    )
