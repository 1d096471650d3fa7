"""A small local provider in the wire formats of OpenAI and Anthropic; it sends recorded real answers (answers/NOTICE.md)."""
