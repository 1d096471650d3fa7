"""A client of a running sidecar's control API."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from wiretape.proxy.runs import current
from wiretape.traces.errors import CaptureError, UsageError
from wiretape.traces.types import Json

__all__ = ["Remote", "find"]

_PATIENCE = 10.0


class Remote:
    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        """Without the proxies of the environment: one of them may be the sidecar itself."""

    def ask(self, method: str, path: str, body: Json = None) -> Json:
        """The answer's JSON, or None. UsageError with the sidecar's own sentence, CaptureError where nobody answers."""
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            request = urllib.request.Request(self._url + quote(path), data, headers, method=method)  # noqa: S310  # our own API
            with self._open(request, timeout=_PATIENCE) as reply:
                text = reply.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise UsageError(_sentence(error)) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise CaptureError(f"no sidecar answers on {self._url} ({reason}). `replay doctor` lists those that run.") from None


def _sentence(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the control API answered {error.code}, which no sidecar does: is the address right?"


def find(control: str | None, run: str | None, environment: Mapping[str, str]) -> Remote:
    """The sidecar at that address (its token in the file that WIRETAPE_TOKEN_FILE names), else the one that runs."""
    if control:
        return Remote(control, _token(environment))
    found = current(run)
    if not (found.control and found.token):
        raise UsageError(f"the sidecar of pid {found.pid} has no control API: mock rules need one that `replay proxy` started.")
    return Remote(found.control, found.token)


def _token(environment: Mapping[str, str]) -> str:
    name = environment.get("WIRETAPE_TOKEN_FILE")
    if not name:
        raise UsageError("--control needs the sidecar's token: let WIRETAPE_TOKEN_FILE name its --token-file.")
    try:
        return Path(name).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UsageError(f"WIRETAPE_TOKEN_FILE: {name} cannot be read ({error.strerror}).") from None
