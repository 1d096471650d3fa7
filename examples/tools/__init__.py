"""Two real tools: an MCP server over streamable HTTP and a JSON service. Both answer the same to the same question, always."""
