"""OTLP/JSON read by OpenTelemetry's own messages, and a collector that does so."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

__all__ = ["Collector", "attributes", "collector", "parsed", "spans"]

_IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
"""Digits of an id: hexadecimal in OTLP/JSON, base64 in protobuf's own mapping (which refuses unknown fields)."""


def parsed(text: bytes) -> ExportTraceServiceRequest:
    return json_format.ParseDict(_with_base64(json.loads(text)), ExportTraceServiceRequest())


def _with_base64(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_base64(each) for each in value]
    if not isinstance(value, dict):
        return value
    for name, digits in _IDS.items():
        assert name not in value or len(value[name]) == digits
    ids = {name: base64.b64encode(bytes.fromhex(value[name])).decode() for name in _IDS if name in value}
    return {name: _with_base64(each) for name, each in value.items()} | ids


def spans(request: ExportTraceServiceRequest) -> list[Any]:
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def attributes(span: Any) -> dict[str, Any]:
    found = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [each.string_value for each in value.values] if kind == "array_value" else value
    return found


class Collector(HTTPServer):
    """Takes what comes at `/v1/traces`; `answer` is (status, headers, body) of each answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"{}")
        self.asked: list[tuple[str, dict[str, str], ExportTraceServiceRequest]] = []
        """(method and path, headers by their name in lower case, message)."""


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((f"POST {self.path}", headers, parsed(body)))
        status, more, text = self.server.answer
        self.send_response(status)
        for name, value in {**more, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
