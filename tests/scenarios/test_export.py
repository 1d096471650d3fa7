"""Where an export goes: a file at once or not at all, or a collector that takes all of it."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.otlp import Collector, collector

from wiretape.scenarios.export import post, target, write
from wiretape.traces.errors import StoreError, TechnicalError, UsageError

EMPTY = b'{"resourceSpans": []}'


@pytest.fixture
def taker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS", raising=False)
    with collector() as found:
        yield found


def test_it_writes_over_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "new" / "a.har"
    for pieces in ([b"old and long"], [b"n", b"ew"]):
        write(out, pieces, tmp_path / "a.db")
    assert out.read_bytes() == b"new"
    assert os.listdir(out.parent) == ["a.har"]


def test_it_leaves_the_old_file_where_an_export_fails_midway(tmp_path: Path) -> None:
    def damaged() -> Iterator[bytes]:
        yield b"half"
        raise StoreError("exchange 2 is damaged")

    out = tmp_path / "a.har"
    out.write_text("old")
    with pytest.raises(StoreError, match="exchange 2"):
        write(out, damaged(), tmp_path / "a.db")
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.har"]


def test_it_writes_what_a_link_points_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.har")
    write(tmp_path / "link", [b"x"], tmp_path / "a.db")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.har").read_bytes() == b"x"


def test_it_writes_into_a_pipe_and_leaves_it_one(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, [b"a", b"b"], tmp_path / "a.db")
    reader.join(10)
    assert got == [b"ab"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", [".", "a.db", "other.db", "store", "link"])
def test_it_takes_the_place_of_no_folder_and_no_recording(name: str, tmp_path: Path) -> None:
    for store in ("a.db", "store"):
        (tmp_path / store).write_text("evidence")
    (tmp_path / "link").symlink_to("store")
    with pytest.raises(UsageError, match="--out"):
        write(tmp_path / name, [b"x"], tmp_path / "store")
    assert {(tmp_path / store).read_text() for store in ("a.db", "store")} == {"evidence"}


def test_it_says_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"could not be written"):
        write(tmp_path / "file" / "a.har", [b"x"], tmp_path / "a.db")


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://otel.test/", "https://otel.test/v1/traces"),
        ("https://otel.test/?a=b", "https://otel.test/v1/traces?a=b"),
        ("https://otel.test/otlp/v1/traces", "https://otel.test/otlp/v1/traces"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
    ],
)
def test_it_adds_the_path_where_there_is_none(endpoint: str, url: str) -> None:
    assert target(endpoint) == url


@pytest.mark.parametrize(
    "endpoint",
    ["", "127.0.0.1:4318", "ftp://a/", "http://", "http://a:b", "http://a:99999", "http://[a", "http://a b/", "http://ü/"],
)
def test_it_refuses_what_is_no_address(endpoint: str) -> None:
    with pytest.raises(UsageError, match=r"--endpoint: expected an address"):
        target(endpoint)


def test_it_never_repeats_a_password() -> None:
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_HEADERS") as caught:
        target("http://me:hunter2@otel.test")
    assert "hunter2" not in str(caught.value)


def test_it_posts_json_with_the_headers_that_the_environment_gives(taker: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue, authorization=Basic%20abc=,odd")
    post(target(taker.url), EMPTY)
    ((line, headers, _),) = taker.asked
    assert (line, headers["content-type"]) == ("POST /v1/traces", "application/json")
    assert (headers["x-team"], headers["authorization"]) == ("blue", "Basic abc=")


def test_it_says_that_the_environments_headers_do_not_fit(taker: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2%0A")
    with pytest.raises(UsageError, match="OTEL_EXPORTER_OTLP_HEADERS") as caught:
        post(target(taker.url), EMPTY)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((400, {}, b"bad"), "answered 400"),
        ((401, {}, b""), "answered 401"),
        ((503, {}, b""), "answered 503"),
        ((302, {"Location": "/elsewhere"}, b""), "answered 302"),
        ((307, {"Location": "/elsewhere"}, b""), "answered 307"),
        ((200, {}, b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}'), "3 refused. too old"),
    ],
)
def test_it_fails_where_the_collector_does_not_take_all(answer, words: str, taker: Collector) -> None:
    taker.answer = answer
    with pytest.raises(TechnicalError, match=words):
        post(target(f"{taker.url}/?token=hunter2"), EMPTY)
    assert len(taker.asked) == 1


def test_its_errors_do_not_repeat_the_query(taker: Collector) -> None:
    taker.answer = (400, {}, b"")
    with pytest.raises(TechnicalError) as caught:
        post(target(f"{taker.url}/?token=hunter2"), EMPTY)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "body", [b"", b"ok", b"[]", b"{}", b'{"partialSuccess": {}}', b'{"partialSuccess": {"rejectedSpans": 0}}']
)
def test_it_is_content_with_any_other_answer_of_200(body: bytes, taker: Collector) -> None:
    taker.answer = (200, {}, body)
    post(target(taker.url), EMPTY)


def test_it_says_that_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with pytest.raises(TechnicalError, match=rf"http://127\.0\.0\.1:{port}/v1/traces.*could not be reached \(.*refused"):
        post(target(f"http://127.0.0.1:{port}"), EMPTY)


def test_it_says_that_something_else_than_http_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:

        def talk() -> None:
            line, _ = place.accept()
            with line:
                line.recv(65536)
                line.sendall(b"SSH-2.0-x\r\n")

        thread = threading.Thread(target=talk)
        thread.start()
        with pytest.raises(TechnicalError, match="could not be reached"):
            post(target(f"http://127.0.0.1:{place.getsockname()[1]}"), EMPTY)
        thread.join(10)
