"""Whether two names mean one tool: what a model asks for and what an MCP server executes are often named apart."""

from __future__ import annotations

import re

__all__ = ["plain_name", "same_call"]

_PREFIX = re.compile(r"^mcp(?:__|[_.-])", re.IGNORECASE)
_CUTS = ("__", ".", "/", ":", "-", "_")


def same_call(asked: str, executed: str, server: str | None = None) -> bool:
    """`mcp__files__read`, `files_read` and `files.read` are `read` (of `files`)."""
    if asked == executed:
        return True
    if _PREFIX.match(asked) and asked.endswith(tuple(cut + executed for cut in _CUTS)):
        return True
    names = {server, server.replace("-", "_"), server.replace(" ", "_")} if server else set()
    return any(asked == f"{name}{cut}{executed}" for name in names for cut in _CUTS)


def plain_name(tool: str) -> str:
    """The tool's own name without the prefix that MCP clients put before it."""
    return tool.rpartition("__")[2] if _PREFIX.match(tool) and "__" in tool else tool
