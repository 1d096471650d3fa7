"""MCP over streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports): JSON-RPC 2.0 messages,
one or (until 2025-03-26) a batch a request, answered as JSON or as a stream. The older transport answers on its GET stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from wiretape.traces.decoders.readers import BodyReader, State
from wiretape.traces.decoders.requests import body_of, is_post
from wiretape.traces.decoders.sse import SseReader
from wiretape.traces.decoders.values import clean, compact, declared, dicts, error_words, parse, string
from wiretape.traces.types import Declared, Json, McpAnswer, McpRequest, McpView, Request, header

__all__ = ["Mcp", "asked_and_answered", "declared_tools", "error_body", "listens", "messages"]

SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_METHOD = re.compile(
    r"(initialize|ping)$|(tools|resources|prompts|notifications|completion|logging|roots|sampling|elicitation|server)/"
)
"""Others speak JSON-RPC too (Ethereum nodes, A2A): without MCP's headers the method must be one of its own."""
_LOOK = 65_536


class Mcp:
    name = "mcp"
    version = 2

    def claims(self, request: Request, content_type: str | None) -> bool:
        """A POST by its messages; a listening GET and a DELETE by the headers that only MCP clients send."""
        session, version = header(request.headers, SESSION), header(request.headers, _VERSION)
        if is_post(request):
            if b'"jsonrpc"' not in (request.body or b""):
                return False
            return any(session or version or _is_ours(each) for each in messages(body_of(request)))
        listening = request.method == "GET" and version is not None and _accepts_events(request)
        return request.method in ("GET", "DELETE") and (session is not None or listening)

    def reader(self, request: Request, status: int, content_type: str | None) -> McpReader:
        return McpReader(request, status)


def listens(request: Request, body: bytes) -> bool:
    """Whether a GET without MCP's headers has MCP's answers in its stream, as in the transport of 2024-11-05."""
    if request.method != "GET" or not _accepts_events(request) or b'"jsonrpc"' not in body[:_LOOK]:
        return False
    return any(_speaks(event.data) for event in SseReader().feed(body[:_LOOK]))


def _accepts_events(request: Request) -> bool:
    return "text/event-stream" in (header(request.headers, "accept") or "")


def _speaks(data: str) -> bool:
    try:
        return any(True for _ in messages(parse(data)))
    except ValueError:
        return False


def error_body(message: str, request: Request | None) -> Json:
    """A JSON-RPC error under the id of the request with its type, one for each of a batch; null where there is none."""
    given = body_of(request) if request else None
    ids = [each["id"] for each in messages(given) if "method" in each and "id" in each]
    errors = [{"jsonrpc": "2.0", "id": live, "error": {"code": -32000, "message": message}} for live in ids or [None]]
    return errors if isinstance(given, list) and ids else errors[0]


def messages(value: Json) -> Iterator[dict[str, Json]]:
    return (each for each in dicts(value if isinstance(value, list) else [value]) if each.get("jsonrpc") == "2.0")


def _is_ours(message: dict[str, Json]) -> bool:
    method = message.get("method")
    return bool(_METHOD.match(method)) if isinstance(method, str) else "result" in message or "error" in message


def _id(message: dict[str, Json]) -> str | None:
    return compact(message["id"]) if message.get("id") is not None else None


def asked_and_answered(found: Iterator[dict[str, Json]]) -> tuple[list[McpRequest], list[McpAnswer]]:
    """(requests and notifications, answers) among the messages of one side."""
    asked, answered = [], []
    for each in found:
        if method := string(each.get("method")):
            asked.append(McpRequest(id=_id(each), method=method, params=each.get("params")))
        else:
            answered.append(McpAnswer(id=_id(each), result=each.get("result"), error=each.get("error")))
    return asked, answered


class McpState(State):
    """What the server sent."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[McpAnswer] = []
        self.asked: list[McpRequest] = []

    def event(self, name: str, value: Json) -> None:
        self.unknown += not any(True for _ in messages(value))
        self.whole(value)

    def whole(self, value: Json) -> None:
        asked, answers = asked_and_answered(clean(each) for each in messages(value))
        self.asked += asked
        self.answers += answers
        nobodys = (error_words(each.error) for each in answers if each.id is None)
        self.error = self.error or next((words for words in nobodys if words), None)

    def plain(self, data: str) -> None:
        """The older transport names its endpoint in an event of plain text."""
        self.unknown += not data.startswith("/") and "://" not in data


class McpReader(BodyReader[McpState]):
    def __init__(self, request: Request, status: int) -> None:
        super().__init__(McpState)
        self._request, self._status = request, status

    @cached_property
    def _sent(self) -> tuple[list[McpRequest], list[McpAnswer]]:
        return asked_and_answered(messages(body_of(self._request)))

    @property
    def complete(self) -> bool:
        """Every request of this exchange is answered. A listening GET never is; a notification needs nothing."""
        if self._request.method == "GET":
            return False
        state = self.settled()
        answered = {answer.id for answer in state.answers}
        return state.done or all(asked.id in answered for asked in self._sent[0] if asked.id is not None)

    def view(self) -> McpView:
        state, (asked, replies) = self.settled(), self._sent
        listed = {each.id for each in asked if each.method == "tools/list"}
        results = [answer.result for answer in state.answers if answer.id in listed]
        return McpView(
            server=_server(state.answers),
            session=string(header(self._request.headers, SESSION)),
            requests=tuple(asked),
            answers=tuple(state.answers),
            declared=tuple(tool for result in results for tool in declared_tools(result)),
            from_server=tuple(state.asked),
            replies=tuple(replies),
            error=self._error(state),
            unknown_events=state.unknown,
        )

    def _error(self, state: McpState) -> str | None:
        """A 405 to GET or DELETE is no error: it says that the server offers no such thing."""
        declined = self._status == 405 and not is_post(self._request)
        return self.failure(self._status) if self._status >= 400 and not declined else state.error


def _server(answers: list[McpAnswer]) -> str | None:
    """The name that an answer to `initialize` gives."""
    infos = (answer.result.get("serverInfo") for answer in answers if isinstance(answer.result, dict))
    return next((name for info in infos if isinstance(info, dict) and (name := string(info.get("name")))), None)


def declared_tools(result: Json) -> Iterator[Declared]:
    for tool in dicts(result.get("tools") if isinstance(result, dict) else None):
        hints = tool.get("annotations")
        hints = hints if isinstance(hints, dict) else {}
        read_only, destructive = (_flag(hints.get(name)) for name in ("readOnlyHint", "destructiveHint"))
        yield declared(tool, tool.get("inputSchema"), read_only=read_only, destructive=destructive)


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None
