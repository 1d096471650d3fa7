"""Real agents and the local stage they play on: a provider, an MCP server, an HTTP tool. README.md says how to run them."""
