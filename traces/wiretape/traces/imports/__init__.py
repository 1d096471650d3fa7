"""The foreign formats that recordings are made from: bytes in, exchanges out."""

from __future__ import annotations

from wiretape.traces.imports import go_vcr, har, jsonl, mitmproxy, vcr, wxo
from wiretape.traces.imports.items import Importer

__all__ = ["IMPORTS"]

IMPORTS: dict[str, Importer] = {
    "go-vcr": go_vcr.read,
    "har": har.read,
    "jsonl": jsonl.read,
    "mitmproxy": mitmproxy.read,
    "vcr": vcr.read,
    "wxo": wxo.read,
}
"""Name → what reads its files."""
