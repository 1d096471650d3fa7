"""`replay show`."""

from __future__ import annotations

import sys

import typer

from wiretape.cli import options
from wiretape.cli.console import Output, printable
from wiretape.cli.options import settings
from wiretape.scenarios.evidence import Evidence, load
from wiretape.traces.cost import Prices, total
from wiretape.traces.errors import UsageError
from wiretape.traces.exports.exchanges import as_json
from wiretape.traces.exports.text import render
from wiretape.traces.types import Exchange, Headers

__all__ = ["run"]


def run(
    context: typer.Context,
    recording: str = typer.Argument(help="A path to a .db, path.db#name, or a name under recordings/."),
    exchanges: bool = typer.Option(False, "--exchanges", help="The exchanges as they passed, instead of the trace."),
    raw: int | None = typer.Option(None, "--raw", metavar="N", help="The bytes of exchange N: request, then response."),
    format: str = typer.Option("text", "--format", help="text or json."),
) -> None:
    """Show a recording: the trace of what the agent did, or the exchanges that it was read from.

    Works on a store that is being recorded, and on what a crash left.
    """
    if format not in ("text", "json"):
        raise UsageError(f"--format: expected text or json, got {format!r}.")
    output = context.obj
    if recording.endswith(".trace"):
        raise UsageError(f"{recording} is text already: read it as it is, or name the evidence: {recording[:-6]}.db")
    with load(recording, folder=options.folder(context)) as evidence:
        if raw is not None:
            _raw(evidence.exchange(raw))
        elif exchanges and format == "json":
            output.json([as_json(exchange) for exchange in evidence.exchanges()])
        elif exchanges:
            _table(output, evidence)
        else:
            _trace(output, evidence, settings(context)["prices"], as_text=format == "text")


def _trace(output: Output, evidence: Evidence, prices: Prices, *, as_text: bool) -> None:
    trace = evidence.trace()
    cost = total(trace, prices)
    if as_text:
        output.result(render(trace, evidence=evidence.digest()).rstrip("\n"))
        if prices:
            output.result(f"\ncost: {'unknown' if cost is None else f'{cost.normalize():f}'}")
        return
    dumped = trace.model_dump(mode="json", include={"recording", "observed", "steps"})
    if prices:
        dumped["recording"]["cost"] = None if cost is None else float(cost)
    output.json(dumped)


def _table(output: Output, evidence: Evidence) -> None:
    for exchange in evidence.exchanges():
        status = exchange.response.status if exchange.response else "-"
        size = len(exchange.response.body) if exchange.response else 0
        marks = " ".join(filter(None, ("noise" if exchange.noise else "", exchange.match or "", exchange.error or "")))
        line = f"{exchange.seq:4} {exchange.request.method:6} {exchange.request.url} {status} {size} B {exchange.end} {marks}"
        output.result(printable(line.rstrip()))


def _raw(exchange: Exchange) -> None:
    request, response = exchange.request, exchange.response
    sys.stdout.buffer.write(_head(f"{request.method} {request.url} {request.http_version}", request.headers))
    sys.stdout.buffer.write((request.body or b"") + b"\r\n")
    if response:
        first = f"{response.http_version} {response.status} {response.reason}".rstrip()
        sys.stdout.buffer.write(_head(first, response.headers) + response.body)


def _head(first: str, headers: Headers) -> bytes:
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1", "replace")
