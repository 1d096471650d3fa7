"""A rule's answer as a client gets it: of an HTTP tool, an MCP server or a model. Pure; a callable reads files."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable
from dataclasses import replace

from wiretape.proxy.dialects import text_answer
from wiretape.proxy.faults.base import Occasion, plain
from wiretape.proxy.framing import Plan, answered, header_text
from wiretape.proxy.rules.mcp import called, result_of, tool_result
from wiretape.proxy.rules.model import Answer
from wiretape.proxy.rules.patch import merged
from wiretape.proxy.rules.placeholders import Setting, fill
from wiretape.proxy.rules.subject import Where
from wiretape.traces.types import Headers, Json, Response

__all__ = ["patched", "respond", "value_of"]

type Read = Callable[[str], bytes]
"""The bytes of a file beside the rule file."""


def value_of(answer: Answer, setting: Setting, read: Read) -> Json:
    """What a tool says: any JSON, or text."""
    if answer.file is not None:
        text = read(answer.file).decode("utf-8", "replace")
        return json.loads(text) if answer.file.endswith(".json") else text
    return fill(answer.json_value if "json" in answer.said else answer.text or "", setting)


def respond(answer: Answer, occasion: Occasion, setting: Setting, read: Read) -> Plan:
    """The answer as a whole, framed for the client that asked."""
    request = occasion.request
    if occasion.where == Where.MCP:
        return answered(tool_result(request, value_of(answer, setting, read), is_error=answer.is_error), request)
    if occasion.where == Where.MODEL and answer.text is not None:
        made = text_answer(request, fill(answer.text, setting), f"{occasion.chance.getrandbits(64):016x}")
    else:
        kind, body = _content(answer, setting, read)
        made = Response(200, (("Content-Type", kind),) if body else (), body)
    return answered(_dressed(made, answer, setting), request)


def _content(answer: Answer, setting: Setting, read: Read) -> tuple[str, bytes]:
    if answer.file is not None:
        return mimetypes.guess_type(answer.file)[0] or "application/octet-stream", read(answer.file)
    if "json" in answer.said:
        return "application/json", _dumped(fill(answer.json_value, setting))
    return "text/plain; charset=utf-8", fill(answer.text or "", setting).encode()


def patched(plan: Plan, answer: Answer, occasion: Occasion, setting: Setting) -> Plan:
    """The recorded or live answer with the patch in it. Raises ValueError where it is no JSON."""
    patch, base = fill(answer.patch, setting), plain(plan)
    if occasion.where == Where.MCP and (call := called(occasion.request)):
        value = merged(result_of(base.body, call), patch)
        return answered(tool_result(occasion.request, value, is_error=answer.is_error), occasion.request)
    try:
        value = merged(json.loads(base.body), patch)
    except ValueError:
        raise ValueError("the answer that the patch is for is no JSON") from None
    made = base.with_pieces(((base.pieces[0][0] if base.pieces else 0.0, _dumped(value)),))
    headers = _overridden(made.headers, fill(answer.headers, setting))
    return replace(made, status=answer.status or plan.status, headers=headers)


def _dressed(made: Response, answer: Answer, setting: Setting) -> Response:
    headers = _overridden(made.headers, fill(answer.headers, setting))
    return replace(made, status=answer.status or made.status, headers=headers)


def _overridden(headers: Headers, given: dict[str, str]) -> Headers:
    names = {name.lower() for name in given}
    return (
        *(pair for pair in headers if pair[0].lower() not in names),
        *((name, header_text(value)) for name, value in given.items()),
    )


def _dumped(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
