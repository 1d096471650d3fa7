"""Gemini's error shape (https://cloud.google.com/apis/design/errors): what its clients understand as an error."""

from __future__ import annotations

from wiretape.traces.decoders.requests import is_post, path_of
from wiretape.traces.types import Json, Request

__all__ = ["error_body", "speaks"]

_METHODS = (":generatecontent", ":streamgeneratecontent", ":counttokens", ":embedcontent", ":batchembedcontents")
_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def speaks(request: Request) -> bool:
    return is_post(request) and path_of(request).endswith(_METHODS)


def error_body(status: int, message: str) -> Json:
    word = _STATUSES.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": word}}
