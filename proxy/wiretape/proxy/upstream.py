"""How the sidecar reaches upstreams: which roots it trusts, which addresses it dials, whose proxy it goes through.

The user's own proxy and CA stay in force: the HTTPS_PROXY and NO_PROXY of the sidecar's environment become the upstream
chain, its SSL_CERT_FILE (else certifi) verifies upstreams.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import certifi

from wiretape.traces.errors import UsageError
from wiretape.traces.settings import CaptureSettings

__all__ = ["UpstreamSettings", "roots"]

type Via = tuple[Literal["http", "https"], tuple[str, int]]


def roots(environment: Mapping[str, str], extra: str | None = None) -> bytes:
    """PEM of the roots that upstreams are verified against."""
    pem = _pem("SSL_CERT_FILE", environment.get("SSL_CERT_FILE") or certifi.where())
    return pem + b"\n" + _pem("--upstream-ca", extra) if extra else pem


def _pem(origin: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{origin} {path}: expected a readable PEM file of roots ({error.strerror}).") from None


class UpstreamSettings:
    """`roots` is the file that `roots()` was written to."""

    def __init__(self, settings: CaptureSettings, environment: Mapping[str, str], roots: Path) -> None:
        self.roots = roots
        self.insecure = frozenset(settings.insecure_upstreams)
        self.ignore = settings.ignore
        self.ignored: set[str] = set()
        """Hosts that were passed through unrecorded."""
        self._connect_to = settings.connect_to
        self._proxies = {scheme: _proxy(environment, scheme) for scheme in ("http", "https")}
        self._direct = _no_proxy(environment)

    def address(self, host: str, port: int) -> tuple[str, int]:
        """Where to dial for host:port (`--connect-to`)."""
        for rule in self._connect_to:
            if rule.host in ("", host) and rule.port in (None, port):
                return rule.address or host, rule.connect_port or port
        return host, port

    def proxy_for(self, scheme: str, host: str, port: int) -> Via | None:
        chosen = self._proxies.get(scheme)
        if not chosen or self.address(host, port) != (host, port) or self._goes_direct(host):
            return None
        parts = urlsplit(chosen)
        kind: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
        return kind, (parts.hostname or "", parts.port or (443 if kind == "https" else 80))

    def proxy_authorization(self, scheme: str) -> str | None:
        parts = urlsplit(self._proxies.get(scheme) or "")
        if not parts.username:
            return None
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return "Basic " + base64.b64encode(pair.encode()).decode()

    def ignored_patterns(self) -> tuple[str, ...]:
        """The `host:port` patterns as regular expressions, for connections that are passed through as they are."""
        return tuple(_as_expression(pattern) for pattern in self.ignore if "/" not in pattern)

    def _goes_direct(self, host: str) -> bool:
        # Loopback never leaves the machine, whatever the user's proxy is.
        if host in ("localhost", "127.0.0.1", "::1"):
            return True
        return any(entry in ("*", host) or host.endswith("." + entry) for entry in self._direct)


def _proxy(environment: Mapping[str, str], scheme: str) -> str | None:
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    name = next((name for name in names if environment.get(name)), None)
    if name is None:
        return None
    found = environment[name] if "://" in environment[name] else f"http://{environment[name]}"
    try:
        parts = urlsplit(found)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise UsageError(f"{name}: expected the address of a proxy such as http://host:port. Mend it, or unset it.")
    if parts.scheme not in ("http", "https"):
        raise UsageError(
            f"the proxy {parts.scheme}://… of your environment cannot be chained: only http:// and https:// proxies can."
            " Unset it, or name an http:// proxy."
        )
    return found


def _no_proxy(environment: Mapping[str, str]) -> tuple[str, ...]:
    given = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return tuple(entry.strip().lstrip(".").split(":")[0] for entry in given.split(",") if entry.strip())


def _as_expression(pattern: str) -> str:
    text = re.escape(pattern).replace(r"\*", ".*")
    return f"^{text}$" if ":" in pattern else rf"^{text}:\d+$"
