"""Requests and answers of HTTP archives: `text` without content coding, base64 by `encoding`, a form as its parameters.

Browsers leave out some bodies (images, what a page took as a blob): such an entry is refused, and the rest is taken.
"""

from __future__ import annotations

from urllib.parse import urlencode

from wiretape.traces.imports import parts
from wiretape.traces.imports.documents import from_base64
from wiretape.traces.imports.fields import Fields
from wiretape.traces.imports.items import Losses, Lost
from wiretape.traces.types import Headers, Request, Response, header

__all__ = ["request", "response", "unanswered"]

_GONE = "had a body, and none of it is in the file; save the archive with content"
_BOUNDARY = "wiretape-imported-form"


def request(given: Fields) -> tuple[Request, Losses]:
    headers, dropped = _headers(given)
    posted = given.within("postData")
    body, lost = _body(posted, headers)
    if not body and posted["params"]:
        body, headers, lost = _form(posted, headers)
    if not body and given.number("bodySize", -1) > 0:
        raise Lost(f"the request {_GONE}")
    http_version, other = parts.version(given.text("httpVersion", ""))
    made, changed = parts.request(given, given.text("url"), given.text("method"), headers, body, http_version)
    return made, (*dropped, *lost, *changed, *other)


def unanswered(given: Fields) -> bool:
    return given.whole("status", 0) <= 0


def response(given: Fields, method: str, at: int, *, cut: bool) -> tuple[Response | None, Losses]:
    if unanswered(given):
        return None, ()
    status, (headers, dropped) = _status(given), _headers(given)
    content = given.within("content")
    body, lost = _body(content, headers)
    bodiless = method == "HEAD" or status in (204, 304) or status < 200
    if bodiless:  # what a browser shows then is from its cache
        body, lost = b"", ()
    elif not body and not cut and max(content.number("size", 0), given.number("bodySize", -1)) > 0:
        raise Lost(f"the answer {_GONE}")
    http_version, other = parts.version(given.text("httpVersion", ""))
    reason = given.text("statusText", "")
    made, changed = parts.response(status, reason, headers, body, at=at, http_version=http_version, cut=cut)
    return made, (*dropped, *lost, *changed, *other)


def _status(given: Fields) -> int:
    status = given.whole("status", 0)
    if not 100 <= status <= 999:
        raise given.fault("status", "expected a status of three digits")
    return status


def _headers(given: Fields) -> tuple[Headers, Losses]:
    return parts.fields((field.text("name"), field.text("value", "")) for field in given.each("headers"))


def _body(given: Fields, headers: Headers) -> tuple[bytes, Losses]:
    text, encoding = given.text("text", ""), given.text("encoding", "")
    if not encoding:
        return parts.encoded(text, given.text("mimeType", "") or header(headers, "content-type") or "")
    body = from_base64(text) if encoding == "base64" else None
    if body is None or (text.strip() and not body):
        raise given.fault("text", "expected base64, as `encoding` says, got something else")
    return body, ()


def _form(posted: Fields, headers: Headers) -> tuple[bytes, Headers, Losses]:
    """A body that stands as its parameters alone."""
    if "multipart/" not in posted.text("mimeType", ""):
        pairs = [(field.text("name"), field.text("value", "")) for field in posted.each("params")]
        return urlencode(pairs).encode(), headers, ("the spelling of its form, written anew from `params`",)
    body = b"".join(map(_part, posted.each("params"))) + f"--{_BOUNDARY}--\r\n".encode()
    kept = tuple(pair for pair in headers if pair[0].lower() != "content-type")
    kind = ("Content-Type", f"multipart/form-data; boundary={_BOUNDARY}")
    return body, (*kept, kind), ("the spelling and boundary of its form, written anew from `params`",)


def _part(field: Fields) -> bytes:
    name, file, kind = (parts.line(field.text(each, "")) for each in ("name", "fileName", "contentType"))
    if file and not field["value"]:
        raise field.fault("value", "a file was sent, and its content is not in the archive")
    disposition = f'form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
    lines = [f"--{_BOUNDARY}", f"Content-Disposition: {disposition}", *([f"Content-Type: {kind}"] if kind else ()), "", ""]
    return "\r\n".join(lines).encode() + field.text("value", "").encode("utf-8", "replace") + b"\r\n"
