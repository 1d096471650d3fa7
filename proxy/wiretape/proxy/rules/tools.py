"""What MCP servers said of themselves and their tools, as far as it passed: rules about tools that may write ask for it."""

from __future__ import annotations

from wiretape.proxy.rules.mcp import called
from wiretape.traces.types import Declared, McpView, Request

__all__ = ["Tools"]


class Tools:
    """Kept by the server's URL."""

    def __init__(self) -> None:
        self._declared: dict[tuple[str, str], Declared] = {}
        self._servers: dict[str, str] = {}

    def saw(self, request: Request, view: McpView) -> None:
        place = _place(request)
        self._declared |= {(place, tool.name): tool for tool in view.declared}
        if view.server:
            self._servers[place] = view.server

    def servers(self, request: Request) -> tuple[str, ...]:
        """The name that the server of this request gave itself, where it is known."""
        return tuple(name for place, name in self._servers.items() if place == _place(request))

    def is_read_only(self, tool: str) -> bool:
        """Whether some server declared a tool of that name so (`mcp__files__read` is `read`), and none otherwise."""
        names = (tool, tool.split("__", 2)[-1])
        found = [declared.read_only for (_, name), declared in self._declared.items() if name in names]
        return bool(found) and all(found)

    def read_only(self, request: Request) -> bool:
        """Whether the tool that is called was declared read-only by its server."""
        call = called(request)
        found = self._declared.get((_place(request), call.tool)) if call else None
        return found is not None and found.read_only is True


def _place(request: Request) -> str:
    return request.url.partition("?")[0]
