"""An MCP server over streamable HTTP: `python -m examples.tools.mcp_server --port 8082`, then http://127.0.0.1:8082/mcp."""

from pathlib import Path

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from starlette.applications import Starlette

from examples.tools.options import serve

__all__ = ["create_app", "create_server"]

READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPOSITORY = Path(__file__).parent / "data" / "repository.txt"
# A name that resolves nowhere is reached through a proxy, and then stands in the Host header.
HOSTS = ["mcp.example.test", "127.0.0.1:*", "localhost:*"]


def create_server() -> MCPServer:
    server = MCPServer("examples", log_level="ERROR")

    @server.tool(annotations=READ_ONLY)
    def add(a: int, b: int) -> int:
        """Add two numbers"""
        return a + b

    @server.tool(annotations=READ_ONLY)
    def ask_question(repoName: str, question: str) -> str:  # noqa: N803 - DeepWiki's own name for it, as the model knows it
        """Ask any question about a GitHub repository and get an AI-powered, context-grounded response."""
        if repoName != "pydantic/pydantic-ai":
            return f"Nothing is known about {repoName}."
        return REPOSITORY.read_text(encoding="utf-8")

    return server


def create_app() -> Starlette:
    return create_server().streamable_http_app(transport_security=TransportSecuritySettings(allowed_hosts=HOSTS))


if __name__ == "__main__":
    serve("mcp-server", create_app(), "/mcp")
