"""MCP over streamable HTTP (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports): JSON-RPC 2.0 messages,
one or a batch a request, answered as JSON or as a stream; the older transport answers on its GET stream.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretape.traces.decoders.readers import BodyReader, State
from wiretape.traces.decoders.requests import body_of, is_post
from wiretape.traces.decoders.values import clean, compact, declared, dicts, error_words, string
from wiretape.traces.types import Declared, Json, McpAnswer, McpRequest, McpView, Request, header

__all__ = ["Mcp", "error_body"]

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"


class Mcp:
    name = "mcp"
    version = 1

    def claims(self, request: Request, content_type: str | None) -> bool:
        """A POST by its body; a GET or DELETE by the headers that only MCP clients send."""
        if is_post(request):
            return any("method" in each or "result" in each or "error" in each for each in _messages(body_of(request)))
        ours = header(request.headers, _SESSION) or header(request.headers, _VERSION)
        return request.method.upper() in ("GET", "DELETE") and bool(ours)

    def reader(self, request: Request, status: int, content_type: str | None) -> McpReader:
        return McpReader(request, status)


def error_body(message: str, request: Request) -> Json:
    """A JSON-RPC error under the id of the request, which keeps its type; null where there is none."""
    live = next((each["id"] for each in _messages(body_of(request)) if "id" in each), None)
    return {"jsonrpc": "2.0", "id": live, "error": {"code": -32000, "message": message}}


def _messages(value: Json) -> Iterator[dict[str, Json]]:
    for each in dicts(value if isinstance(value, list) else [value]):
        if each.get("jsonrpc") == "2.0":
            yield each


def _id(message: dict[str, Json]) -> str | None:
    return compact(message["id"]) if message.get("id") is not None else None


class McpState(State):
    def __init__(self) -> None:
        super().__init__()
        self.answers: list[McpAnswer] = []
        self.from_server: list[McpRequest] = []

    def event(self, name: str, value: Json) -> None:
        found = list(_messages(value))
        self.unknown += not found
        for message in found:
            self._take(clean(message))

    def whole(self, value: Json) -> None:
        for message in _messages(value):
            self._take(clean(message))
        if not self.answers and isinstance(value, dict) and "jsonrpc" not in value:
            self.error = error_words(value)

    def plain(self, data: str) -> None:
        """The older transport names its endpoint in an event of plain text."""
        self.unknown += not data.startswith("/") and "://" not in data

    def _take(self, message: dict[str, Json]) -> None:
        if method := string(message.get("method")):
            self.from_server.append(McpRequest(id=_id(message), method=method, params=message.get("params")))
        else:
            self.answers.append(McpAnswer(id=_id(message), result=message.get("result"), error=message.get("error")))


class McpReader(BodyReader[McpState]):
    def __init__(self, request: Request, status: int) -> None:
        super().__init__(McpState)
        self._request, self._status = request, status

    def _asked(self) -> list[McpRequest]:
        sent = (clean(each) for each in _messages(body_of(self._request)))
        return [
            McpRequest(id=_id(each), method=method, params=each.get("params"))
            for each in sent
            if (method := string(each.get("method")))
        ]

    @property
    def complete(self) -> bool:
        """Every request of this exchange is answered; a listening GET never is, a notification needs nothing."""
        if not is_post(self._request):
            return False
        answered = {answer.id for answer in self.settled().answers}
        return all(asked.id in answered for asked in self._asked() if asked.id is not None)

    def view(self) -> McpView:
        state, asked = self.settled(), self._asked()
        listed = {each.id for each in asked if each.method == "tools/list"}
        return McpView(
            server=_server(state.answers),
            session=header(self._request.headers, _SESSION),
            requests=tuple(asked),
            answers=tuple(state.answers),
            declared=tuple(tool for answer in state.answers if answer.id in listed for tool in _declared(answer.result)),
            from_server=tuple(state.from_server),
            error=self.failure(self._status) if self._status >= 400 and not state.answers else state.error,
            unknown_events=state.unknown,
        )


def _server(answers: list[McpAnswer]) -> str | None:
    """The name in an answer to `initialize` or `server/discover`."""
    results = (answer.result for answer in answers if isinstance(answer.result, dict))
    infos = (result.get("serverInfo") for result in results)
    return next((name for info in infos if isinstance(info, dict) and (name := string(info.get("name")))), None)


def _declared(result: Json) -> Iterator[Declared]:
    for tool in dicts(result.get("tools") if isinstance(result, dict) else None):
        hints = tool.get("annotations")
        hints = hints if isinstance(hints, dict) else {}
        yield declared(
            tool,
            tool.get("inputSchema"),
            read_only=_flag(hints.get("readOnlyHint")),
            destructive=_flag(hints.get("destructiveHint")),
        )


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None
