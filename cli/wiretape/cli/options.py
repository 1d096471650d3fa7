"""Options that several verbs share, and how their words become settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from wiretape.traces.errors import UsageError
from wiretape.traces.settings import CaptureSettings, ConnectTo, Exhausted, Level

__all__ = [
    "AllowHost",
    "ConnectToOption",
    "DenyHost",
    "Ignore",
    "Insecure",
    "Noise",
    "Pace",
    "UpstreamCa",
    "capture_settings",
    "connect_to",
    "match_overrides",
    "pairs",
    "parse_level",
    "parse_pace",
]

ConnectToOption = Annotated[
    list[str], typer.Option("--connect-to", metavar="HOST:PORT:ADDR:PORT", help="Dial ADDR:PORT for HOST:PORT, as curl does.")
]
UpstreamCa = Annotated[str | None, typer.Option("--upstream-ca", metavar="FILE", help="PEM of more roots for upstreams.")]
Insecure = Annotated[list[str], typer.Option("--insecure-upstream", metavar="HOST", help="Do not verify this upstream.")]
Ignore = Annotated[list[str], typer.Option("--ignore", metavar="HOST", help="Pass this host through unrecorded.")]
Noise = Annotated[list[str], typer.Option("--noise", metavar="HOST", help="Set this host aside as background traffic.")]
AllowHost = Annotated[list[str], typer.Option("--allow-host", metavar="HOST", help="Refuse every other host.")]
DenyHost = Annotated[list[str], typer.Option("--deny-host", metavar="HOST", help="Refuse this host.")]
Pace = Annotated[str, typer.Option("--pace", metavar="instant|recorded|FLOAT", help="How fast recorded answers come.")]


def capture_settings(
    *,
    ignore: Iterable[str] = (),
    noise: Iterable[str] = (),
    upstreams: Iterable[str] = (),
    connect: Iterable[str] = (),
    upstream_ca: str | None = None,
    insecure: Iterable[str] = (),
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
) -> CaptureSettings:
    return CaptureSettings(
        ignore=tuple(ignore),
        noise=tuple(noise),
        upstreams=pairs("--upstream", upstreams, "NAME=URL"),
        connect_to=tuple(map(connect_to, connect)),
        upstream_ca=upstream_ca,
        insecure_upstreams=tuple(insecure),
        allow_hosts=tuple(allow),
        deny_hosts=tuple(deny),
    )


def match_overrides(
    *, pace: str = "", match: str = "", exhausted: str = "", serve_partial: bool = False, allow_drift: bool = False
) -> dict[str, object]:
    """What the command line says about matching, by field of MatchSettings; what it does not say is absent."""
    found: dict[str, object] = {}
    if pace:
        found["pace"] = parse_pace(pace)
    if match:
        found["level"] = parse_level(match)
    if exhausted:
        found["exhausted"] = _exhausted(exhausted)
    if found.get("level") is Level.SEQUENCE and not allow_drift:
        raise UsageError("--match sequence answers changed requests, so it needs --allow-drift as well.")
    flags = {"serve_partial": serve_partial, "allow_drift": allow_drift}
    return found | {name: True for name, given in flags.items() if given}


def _exhausted(word: str) -> Exhausted:
    try:
        return Exhausted(word)
    except ValueError:
        raise UsageError(f"--exhausted: expected one of {', '.join(Exhausted)}, got {word!r}.") from None


def pairs(option: str, given: Iterable[str], shape: str) -> dict[str, str]:
    """`k=v` words as a dict; UsageError where one has another shape."""
    found: dict[str, str] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option}: expected {shape}, got {word!r}.")
        found[name] = value
    return found


def connect_to(text: str) -> ConnectTo:
    """`HOST:PORT:ADDR:PORT` with IPv6 addresses in brackets; an empty part means any, or the same."""
    parts = _parts(text)
    if len(parts) != 4 or not all(part == "" or part.isdecimal() for part in (parts[1], parts[3])):
        raise UsageError(f"--connect-to: expected HOST:PORT:ADDR:PORT, got {text!r}.")
    host, port, address, connect_port = parts
    return ConnectTo(
        host=host, port=int(port) if port else None, address=address, connect_port=int(connect_port) if connect_port else None
    )


def _parts(text: str) -> list[str]:
    parts, current, inside = [], "", False
    for char in text:
        if char in "[]":
            inside = char == "["
        elif char == ":" and not inside:
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current]


def parse_pace(word: str) -> float:
    """0.0 for instant, 1.0 for recorded, else the factor."""
    named = {"instant": 0.0, "recorded": 1.0}
    if word in named:
        return named[word]
    try:
        factor = float(word)
    except ValueError:
        factor = -1.0
    if not 0.0 <= factor < 1e6:
        raise UsageError(f"--pace: expected instant, recorded or a factor such as 0.5, got {word!r}.")
    return factor


def parse_level(word: str) -> Level:
    try:
        return Level(word)
    except ValueError:
        raise UsageError(f"--match: expected one of {', '.join(Level)}, got {word!r}.") from None
