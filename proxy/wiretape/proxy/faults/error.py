"""An error in place of the answer, in the provider's own shape; for MCP a tool error."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from wiretape.proxy.faults.base import Fault, HeaderName, Occasion, injected
from wiretape.proxy.framing import Plan, answered, header_text
from wiretape.proxy.rules.mcp import tool_result
from wiretape.traces.decoders import error_response
from wiretape.traces.types import Headers, Response

__all__ = ["Error"]

_CODES = {
    401: "invalid_api_key",
    403: "forbidden",
    404: "not_found",
    429: "rate_limit_exceeded",
    503: "overloaded",
    529: "overloaded",
}


class Error(Fault):
    status: Annotated[int, Field(ge=400, le=599)] = 500
    code: str | None = None
    message: str | None = None
    retry_after: Annotated[float, Field(ge=0)] | None = None
    """Seconds."""
    retry_after_as: Literal["seconds", "date"] = "seconds"
    headers: dict[HeaderName, str] = Field(default_factory=dict)
    rate: Annotated[float, Field(ge=0, le=1)] = 1.0
    """How often it happens, 0 to 1; seeded."""

    @property
    def answers(self) -> bool:
        return True

    def fires(self, chance: Random) -> bool:
        return self.rate >= 1 or chance.random() < self.rate

    def apply(self, plan: Plan, occasion: Occasion) -> Plan:
        message = self.message or f"injected by the rule {occasion.rule}"
        made = self._response(message, occasion)
        return injected(answered(made, occasion.request, wait=plan.wait), f"error {self.status}", occasion)

    def _response(self, message: str, occasion: Occasion) -> Response:
        if occasion.where == "mcp":
            return tool_result(occasion.request, message, is_error=True)
        code = self.code or _CODES.get(self.status, "server_error" if self.status >= 500 else "invalid_request")
        content_type, body = error_response(occasion.api, self.status, message, code, occasion.request)
        given = ((name, header_text(value)) for name, value in self.headers.items())
        return Response(self.status, (("Content-Type", content_type), *self._retry(occasion), *given), body)

    def _retry(self, occasion: Occasion) -> Headers:
        if self.retry_after is None:
            return ()
        if self.retry_after_as == "seconds":
            return (("Retry-After", f"{self.retry_after:g}"),)
        return (("Retry-After", format_datetime(occasion.now + timedelta(seconds=self.retry_after), usegmt=True)),)
