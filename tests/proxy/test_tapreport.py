from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiretape.proxy import tapreport
from wiretape.proxy.tapframes import Frame, FrameReader, Hello, Kind
from wiretape.proxy.tapreport import Report

HELLO = Hello(name="files", started_at=1.0)


@pytest.fixture
def sidecar() -> Iterator[socket.socket]:
    """One that listens and has not come to accept yet."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(Path(folder) / "socket"))
        listener.listen()
        listener.settimeout(10)
        yield listener


def told(sidecar: socket.socket) -> list[Frame]:
    tap, _ = sidecar.accept()
    read = FrameReader()
    with tap:
        return [frame for data in iter(lambda: tap.recv(1 << 16), b"") for frame in read.feed(data)]


def test_lines_are_told_with_the_time_of_their_last_piece_and_then_the_end(sidecar: socket.socket) -> None:
    report = Report(sidecar.getsockname(), HELLO)
    for kind, piece in ((Kind.CLIENT, b"as"), (Kind.SERVER, b"first\n"), (Kind.CLIENT, b"k\n"), (Kind.SERVER, b"no end")):
        report.saw(kind, piece)
    report.left()
    report.end(3)
    hello, *frames = told(sidecar)
    assert Hello.model_validate_json(hello.payload) == HELLO
    assert [(frame.kind, frame.payload) for frame in frames] == [
        (Kind.SERVER, b"first"),
        (Kind.CLIENT, b"ask"),
        (Kind.LEFT, b""),
        (Kind.SERVER, b"no end"),
        (Kind.END, b'{"exit_code":3}'),
    ]
    assert [frame.at for frame in frames] == sorted(frame.at for frame in frames)


def test_a_client_that_leaves_a_dead_server_did_not_leave_first(sidecar: socket.socket) -> None:
    report = Report(sidecar.getsockname(), HELLO)
    report.over()
    report.left()
    report.end(3)
    assert [frame.kind for frame in told(sidecar)] == [Kind.HELLO, Kind.END]


def test_of_what_a_sidecar_is_too_slow_for_it_gets_an_exact_beginning(
    sidecar: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tapreport, "_BACKLOG", 20)
    monkeypatch.setattr(tapreport, "_LAST", 0.1)
    report = Report(sidecar.getsockname(), HELLO)
    lines = [b"%04d" % number + b"x" * 60_000 for number in range(100)]
    for line in lines:
        report.saw(Kind.SERVER, line + b"\n")
    report.end(0)
    _, *frames = told(sidecar)
    assert 0 < len(frames) < 100
    assert [frame.payload for frame in frames] == lines[: len(frames)]


def test_nothing_is_raised_where_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    report = Report("/nonexistent/socket", HELLO)
    report.saw(Kind.CLIENT, b"ask\n")
    report.end(0)
    assert caplog.messages == ["tap: the sidecar is gone (No such file or directory); the server goes on unrecorded."]
