"""Recordings are hostile input: what becomes of their text before it stands in a report. One function a kind of report."""

from __future__ import annotations

import unicodedata

__all__ = ["terminal"]


def terminal(text: str, limit: int = 400) -> str:
    """One line that a terminal shows and does not obey, of at most `limit` characters.

    Control characters (ESC and the C1 set among them), line and paragraph separators, text direction overrides and other
    invisible formatting, and lone surrogates are spelled out as Python does it.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(char if char.isprintable() else _spelled(char) for char in cut)


def _spelled(char: str) -> str:
    return " " if unicodedata.category(char) == "Zs" else char.encode("unicode_escape", "surrogatepass").decode("ascii")
