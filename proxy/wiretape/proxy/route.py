"""Where a request goes: through the forward proxy, by the gateway, to our own events door, or nowhere.

Pure, and the same for recording and replaying: both halves of the sidecar ask it, so that a request has one URL and one session
whoever answers.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from wiretape.proxy.events import EVENTS_HOST
from wiretape.proxy.gateway import Gateway
from wiretape.proxy.noise import matches
from wiretape.traces.settings import CaptureSettings
from wiretape.traces.types import Headers, header

__all__ = ["SESSION_HEADER", "Refusal", "Route", "Router", "authority", "session_of"]

SESSION_HEADER = "x-replay-session"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Route:
    url: str
    session: str = ""
    upstream: str | None = None
    """The gateway's name for it; None through the forward proxy."""
    events: bool = False
    """An agent's own event, answered by the sidecar itself."""

    @property
    def scheme(self) -> str:
        return urlsplit(self.url).scheme

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or _DEFAULT_PORTS[parts.scheme]

    @property
    def authority(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        """Path and query as they go upstream."""
        rest = self.url.split("://", 1)[1].removeprefix(self.authority)
        return rest if rest.startswith("/") else f"/{rest}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of the sidecar's own: nothing goes upstream."""

    status: int
    message: str

    @property
    def body(self) -> bytes:
        return orjson.dumps({"error": {"message": self.message, "type": "wiretape", "code": str(self.status)}})


class Router:
    """`own` are the addresses under which the sidecar itself can be reached."""

    def __init__(self, settings: CaptureSettings, own: tuple[str, int]) -> None:
        self._settings = settings
        self._gateway = Gateway(settings.upstreams)
        self._own = own

    def connect(self, host: str, port: int, headers: Headers) -> str | Refusal:
        """The session of a tunnel, or why there is none."""
        if self._is_own(host, port):
            return self._loop()
        return self._denied(f"https://{authority('https', host, port)}/") or session_of(headers)

    def forward(self, scheme: str, host: str, port: int, path: str, headers: Headers, tunnel: str | None) -> Route | Refusal:
        """`path` is path and query as written; `tunnel` the session of the CONNECT that it came through, if it did."""
        session = header(headers, SESSION_HEADER) or (session_of(headers) if tunnel is None else tunnel)
        if host == EVENTS_HOST and scheme == "http":
            return self._events(path, session)
        if self._is_own(host, port):
            found = self.gateway(path, headers)
            return found if isinstance(found, Route) else self._loop()
        url = f"{scheme}://{authority(scheme, host, port)}{path}"
        return self._denied(url) or Route(url, session)

    def gateway(self, target: str, headers: Headers) -> Route | Refusal:
        found = self._gateway.resolve(target)
        if isinstance(found, str):
            return Refusal(404, found)
        signed = header(headers, "authorization") or ""
        if signed.startswith("AWS4-"):
            return Refusal(400, _SIGNED)
        session = header(headers, SESSION_HEADER) or found.session
        return self._denied(found.url) or Route(found.url, session, found.name)

    def redirected(self, route: Route, location: str) -> str | None:
        return self._gateway.redirected(route.upstream, location) if route.upstream else None

    def _events(self, path: str, session: str) -> Route | Refusal:
        if path != "/events":
            return Refusal(404, f"expected POST http://{EVENTS_HOST}/events, got the path {path!r}")
        return Route(f"http://{EVENTS_HOST}/events", session, events=True)

    def _is_own(self, host: str, port: int) -> bool:
        return port == self._own[1] and (host == self._own[0] or host.lower() in _LOOPBACK)

    def _loop(self) -> Refusal:
        return Refusal(
            508,
            "this request asks the sidecar to reach itself. Either leave base-URL variables unset and use the proxy, or give"
            " a base URL with a gateway name such as /openai/v1.",
        )

    def _denied(self, url: str) -> Refusal | None:
        host = urlsplit(url).hostname
        allow, deny = self._settings.allow_hosts, self._settings.deny_hosts
        if any(matches(pattern, url) for pattern in deny):
            return Refusal(403, f"{host} is refused by --deny-host.")
        if allow and not any(matches(pattern, url) for pattern in allow):
            return Refusal(403, f"{host} is not among the hosts given by --allow-host.")
        return None


_SIGNED = (
    "this request is signed over its Host (AWS SigV4), so the gateway cannot pass it on. Use HTTPS_PROXY instead of a base URL"
    " for this client: the forward proxy leaves the signature valid."
)


def authority(scheme: str, host: str, port: int) -> str:
    """`host[:port]`, IPv6 in brackets, a default port left out."""
    name = f"[{host}]" if ":" in host else host
    return name if _DEFAULT_PORTS.get(scheme) == port else f"{name}:{port}"


def session_of(headers: Headers) -> str:
    """The session that a proxy user name gives, else the empty one."""
    given = header(headers, "proxy-authorization") or ""
    scheme, _, credentials = given.partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[0]
    except (binascii.Error, UnicodeDecodeError):
        return ""
