"""An agent's own events: what it may POST to http://wiretape.internal/events (INTERFACE.md, fine print 24)."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["EVENTS_HOST", "EVENTS_URL", "EVENT_FIELDS", "read_event"]

EVENTS_HOST = "wiretape.internal"
EVENTS_URL = f"http://{EVENTS_HOST}/events"

EVENT_FIELDS: dict[str, tuple[dict[str, type], dict[str, type]]] = {
    "approval_requested": ({"tool": str}, {"call_id": str}),
    "approval_decided": ({"tool": str, "approved": bool}, {"call_id": str}),
    "skill_used": ({"skill": str}, {}),
    "state_changed": ({"object": str, "name": str}, {"from": object, "to": object}),
    "turn_started": ({"turn": int}, {"input": str}),
    "final_answer": ({"text": str}, {}),
    "run_ended": ({"as": str}, {}),
    "custom": ({"name": str}, {"data": object}),
}
"""Event type → (fields it must have, fields it may have) beside `type` and `session`."""


def read_event(body: bytes) -> dict[str, Any] | str:
    """The event in a request body, or the sentence for a 400."""
    try:
        event = orjson.loads(body)
    except orjson.JSONDecodeError:
        return 'expected a JSON object such as {"type": "skill_used", "skill": "…"}, got something that is not JSON'
    if not isinstance(event, dict):
        return f"expected a JSON object, got {type(event).__name__}"
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in EVENT_FIELDS:
        return f"expected type to be one of {', '.join(EVENT_FIELDS)}, got {kind!r}"
    return _fault(kind, event) or event


def _fault(kind: str, event: dict[str, Any]) -> str | None:
    required, optional = EVENT_FIELDS[kind]
    known = {"type": str, "session": str, **required, **optional}
    if missing := [name for name in required if name not in event]:
        return f"a {kind} event needs {', '.join(missing)}"
    if unknown := [name for name in event if name not in known]:
        return f"a {kind} event has no field {', '.join(unknown)}; it may have {', '.join(known)}"
    for name, value in event.items():
        if not isinstance(value, known[name]):
            return f"{name} of a {kind} event must be a {known[name].__name__}, got {type(value).__name__}"
    return None
