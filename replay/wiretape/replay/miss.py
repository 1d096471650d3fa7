"""A miss: no recorded answer belongs to a request. It says why, what was nearest, what differs, and what to do.

A request is answered at once, with status 422 in the provider's own error shape, so that an SDK raises it with the reason in
its message; and with `x-should-retry: false`, which the SDKs obey. A message on a socket is answered by an error message and
a close.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum

from wiretape.traces.decoders import detect, error_response
from wiretape.traces.differences import FieldDifference
from wiretape.traces.types import Headers, Request

__all__ = ["CLOSE_CODE", "STATUS", "Miss", "Reason", "error_message", "response"]

STATUS = 422
CLOSE_CODE = 4422
"""The same for a message on a socket: the range for private use (RFC 6455, section 7.4.2)."""


class Reason(StrEnum):
    UNKNOWN = "unknown"
    """No recorded request says the same."""
    EXHAUSTED = "exhausted"
    """All its recorded answers were given."""
    INTERRUPTED = "interrupted"
    """Its recorded exchange has no end."""
    OVER = "over"
    """The recorded conversation has no further message of the client."""


@dataclass(frozen=True, slots=True)
class Miss:
    reason: Reason
    nearest: int | None
    """The seq of the nearest recorded exchange; None where there is none at that host."""
    differences: tuple[FieldDifference, ...]
    recorded: int
    """How many recorded requests say the same; of a conversation that was over, the client's messages in it."""
    request: str = ""
    """What was asked: method and URL, or which message on which socket."""
    number: int | None = None
    """Which of the client's messages in the nearest exchange it is compared with; None for a request."""

    def on(self, request: str) -> Miss:
        return replace(self, request=request)

    @property
    def message(self) -> str:
        """One sentence of why, one of each difference, one of what to do."""
        return (f"{self.request}: " if self.request else "") + self._why() + _REMEDY[self.reason]

    def _why(self) -> str:
        if self.reason is Reason.EXHAUSTED:
            times = "once" if self.recorded == 1 else f"{self.recorded} times"
            return f"recorded {times}, and every recorded answer has been given (last by exchange {self.nearest})."
        if self.reason is Reason.INTERRUPTED:
            return f"recorded as exchange {self.nearest}, which was interrupted before its end."
        if self.reason is Reason.OVER:
            told = "no message" if not self.recorded else f"{self.recorded} message{'s' * (self.recorded > 1)}"
            return f"the conversation recorded as exchange {self.nearest} has {told} of the client, and this is one more."
        if self.nearest is None:
            return "nothing like it was recorded: no exchange with that host."
        places = "; ".join(f"{each.path}: recorded {each.recorded}, live {each.live}" for each in self.differences)
        if self.number is None:
            return f"no recorded request says the same. Nearest is exchange {self.nearest}; it differs in {places}."
        return (
            f"no recorded message says the same here. Nearest is message {self.number} of exchange {self.nearest};"
            f" it differs in {places}."
        )


_CHANGED = " If the change is meant, record it: replay record NAME --update -- CMD."
_REMEDY = {
    Reason.UNKNOWN: _CHANGED,
    Reason.OVER: _CHANGED,
    Reason.EXHAUSTED: " Record a run that asks as often, or permit it with --exhausted repeat-last.",
    Reason.INTERRUPTED: " Record it again, or permit it with --serve-partial.",
}


def response(miss: Miss, request: Request) -> tuple[int, Headers, bytes]:
    """Status, headers and body of the answer to a missed request."""
    content_type, body = error_response(detect(request), STATUS, f"replay miss: {miss.message}", "replay_miss", request)
    nearest = () if miss.nearest is None else (("x-replay-exchange", str(miss.nearest)),)
    return STATUS, (("Content-Type", content_type), ("x-should-retry", "false"), *nearest), body


def error_message(miss: Miss) -> bytes:
    """The text that answers a missed message, before the close; SDKs of realtime APIs know an error by the outer `type`."""
    error = {"type": "replay_miss", "message": f"replay miss: {miss.message}"}
    return json.dumps({"type": "error", "error": error}, ensure_ascii=False).encode()
