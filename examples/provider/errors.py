"""The provider's own error shapes.

OpenAI: https://platform.openai.com/docs/guides/error-codes · Anthropic: https://docs.anthropic.com/en/api/errors
"""

from typing import Any

from starlette.responses import JSONResponse

__all__ = ["error"]

_ANTHROPIC_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}


def error(api: str, status: int, message: str, code: str) -> JSONResponse:
    """`code` is OpenAI's finer word; Anthropic has none and derives its type from the status."""
    shape: dict[str, Any] = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    if api == "messages":
        shape = {"type": "error", "error": {"type": _ANTHROPIC_TYPES[status], "message": message}, "request_id": None}
    return JSONResponse(shape, status)
