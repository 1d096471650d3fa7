"""The job behind `replay export`: where an export goes. What it says is made in traces/exports."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterable
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from wiretape.scenarios.replacing import replace_file
from wiretape.traces.errors import TechnicalError, UsageError

__all__ = ["post", "target", "write"]

_PATIENCE = 30.0
"""Seconds that a collector may be silent."""

_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""https://opentelemetry.io/docs/specs/otel/protocol/exporter/: `name=value,…`, values percent-encoded."""


def write(path: Path, pieces: Iterable[bytes], evidence: Path) -> None:
    """Replace a file at once, or not at all; what is no file (a pipe, a device) is written to.

    UsageError for a folder and for a recording, which no export may take the place of; StoreError where it can't be written.
    """
    path = path.resolve()
    if path.is_dir():
        raise UsageError(f"--out: expected a file, but {path} is a folder.")
    if path.suffix == ".db" or path == evidence.resolve():
        raise UsageError(f"--out: {path} is a recording's place, which an export never takes. Choose another name.")
    if not path.exists() or path.is_file():
        replace_file(path, pieces)
        return
    try:
        with path.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise TechnicalError(f"{path}: could not be written ({error.strerror}).") from None


def target(endpoint: str) -> str:
    """The URL to post to: `/v1/traces` where it names no path. UsageError where it is no HTTP URL."""
    try:
        parts = urlsplit(endpoint)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and endpoint.isprintable()
    except ValueError:
        fits = False
    if fits and parts.username is not None:
        raise UsageError(f"--endpoint: expected an address without a user name; {_HEADERS} says what a collector asks for.")
    if not fits or " " in endpoint or not endpoint.isascii():
        raise UsageError(f"--endpoint: expected an address such as http://127.0.0.1:4318, got {endpoint!r}.")
    return urlunsplit(parts._replace(path="/v1/traces")) if parts.path in ("", "/") else endpoint


def post(url: str, body: bytes) -> None:
    """Send OTLP/JSON to a collector. TechnicalError where it can't be reached or does not take all of it."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **_given_headers()})  # noqa: S310  # http alone
    place = url.partition("?")[0]
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=_PATIENCE) as answer:
            refused = _refused(answer.read())
    except urllib.error.HTTPError as error:
        raise TechnicalError(f"{place}: the collector answered {error.code} {error.reason}; expected 200.") from None
    except (OSError, HTTPException) as error:
        why = getattr(error, "reason", None) or error
        raise TechnicalError(f"{place}: the collector could not be reached ({why}).") from None
    except ValueError:
        raise UsageError(f"{_HEADERS}: expected name=value pairs that can stand in a header.") from None
    if refused:
        raise TechnicalError(f"{place}: the collector did not take all spans: {refused}")


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirected POST would arrive as a GET with nothing in it: the redirect is an error instead."""

    def redirect_request(  # the library's own
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _given_headers() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in os.environ.get(_HEADERS, "").split(",") if "=" in pair)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def _refused(answer: bytes) -> str | None:
    """What a collector says that took a part alone: ExportTraceServiceResponse.partial_success."""
    try:
        told = json.loads(answer)["partialSuccess"]
        count = int(told.get("rejectedSpans", 0))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return f"{count} refused. {told.get('errorMessage', '')}".rstrip() if count else None
