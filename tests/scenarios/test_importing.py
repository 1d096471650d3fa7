from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow
from support.foreign import FOREIGN
from support.sidecar import replaying, stored
from support.stores import child, opened, plain, put, read, until
from websockets.sync.client import connect

from wiretape.scenarios.config import load_config
from wiretape.scenarios.evidence import load
from wiretape.scenarios.imported import Imported, read_through
from wiretape.scenarios.importing import import_files
from wiretape.traces.errors import StoreError, UsageError
from wiretape.traces.exports import EXPORTS
from wiretape.traces.imports.items import Importer
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import MatchSettings
from wiretape.traces.store import Store
from wiretape.traces.types import RecordingStatus

KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"
CASSETTE = FOREIGN / "vcrpy-requests.yaml"


def imported(format: str, into: Path, *files: Path) -> tuple[Imported, ...]:
    return import_files(format, files, into, load_config(into.parent))


def names(store: Path) -> list[str]:
    with Store.open(store) as found:
        assert found.closed
        return [info.name for info in found.recordings()]


def beside(store: Path) -> set[str]:
    return {path.name for path in store.parent.iterdir()}


def test_it_makes_a_closed_recording_that_finds_itself(tmp_path: Path) -> None:
    store = tmp_path / "in" / "f.db"
    store.parent.mkdir()
    (done,) = imported("vcr", store, CASSETTE)
    assert (done.error, done.recording, len(done.items)) == (None, "vcrpy-requests", 8)
    with load(str(store)) as evidence:
        assert evidence.info.status is RecordingStatus.COMPLETE
        assert evidence.info.labels == {"imported": "vcr", "file": "vcrpy-requests.yaml"}
        assert evidence.lost() == ()
        assert [exchange.seq for exchange in evidence.exchanges()] == list(range(1, 9))
    assert beside(store) == {"f.db"}


def test_it_serves_what_it_imported_to_the_byte(tmp_path: Path) -> None:
    for number, name in enumerate(("vcrpy-requests.yaml", "vcrpy-httpx.yaml", "vcrpy-decoded.yaml", "vcrpy-json.cassette")):
        store = tmp_path / f"{number}.db"
        imported("vcr", store, FOREIGN / name)
        with replaying(store, MatchSettings()) as sidecar:
            for exchange in stored(store):
                request, response = exchange.request, exchange.response
                assert response
                fields = [("Accept-Encoding", "gzip")] if request.method == "GET" else [("Content-Type", "application/json")]
                got = sidecar.ask(request.method, request.url, *fields, body=request.body)
                assert (got.status, got.body) == (response.status, response.body), (name, exchange.seq)
                assert got.get("x-replay-source") == "replayed"


def test_it_serves_what_a_browser_archived(tmp_path: Path) -> None:
    [taken] = imported("har", tmp_path / "b.db", FOREIGN / "chromium.har")
    assert [each.item for each in taken.items if each.lost] == [5]  # the image, which a script took as a blob
    kept = stored(tmp_path / "b.db")
    assert [exchange.request.url.split(":")[0] for exchange in kept] == [*["http"] * 5, "ws"]
    with replaying(tmp_path / "b.db", MatchSettings()) as sidecar:
        for exchange in kept[:-1]:
            assert exchange.response
            kind = [pair for pair in exchange.request.headers if pair[0].lower() == "content-type"]
            got = sidecar.ask(exchange.request.method, exchange.request.url, *kind, body=exchange.request.body)
            assert (got.status, got.body) == (exchange.response.status, exchange.response.body)
        with connect(kept[-1].request.url, proxy=sidecar.sidecar.url) as socket:
            socket.send("hi")
            assert socket.recv(timeout=10) == "HI"
            socket.send(b"\x00\xff")
            assert socket.recv(timeout=10) == b"\x00\xff"


def test_it_writes_no_known_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "zipped-value-of-the-environment")
    har = tmp_path / "x.har"
    request = {"method": "GET", "url": "https://x.test/?api_key=AIzaSyA1234567890abcdefghijklmnopqrstuv", "headers": []}
    content = {"size": 9, "mimeType": "text/plain", "text": "it is zipped-value-of-the-environment"}
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": request,
        "response": {"status": 200, "headers": [], "content": content},
    }
    har.write_text(json.dumps({"log": {"entries": [entry]}}))
    store = tmp_path / "f.db"
    (done,) = imported("har", store, har)
    imported("vcr", store, CASSETTE)
    with load(f"{store}#vcrpy-requests") as evidence:
        kept = [exchange.request for exchange in evidence.exchanges()]
        assert evidence.redactions >= 1
    told = json.dumps([each.what for each in done.items]) + repr(kept) + repr(read(store, "x"))
    for secret in ("AIzaSyA1234", "zipped-value", "sk-abcdefghijklmnop", "secret-value-123"):
        assert secret not in told, secret


def test_it_adds_to_a_store_and_gives_every_recording_a_name_of_its_own(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    writer = opened(store, name="vcrpy-requests")
    put(writer, plain(1))
    writer.close()
    again = tmp_path / CASSETTE.name
    again.write_bytes(CASSETTE.read_bytes())
    assert [each.recording for each in imported("vcr", store, CASSETTE, again)] == ["vcrpy-requests-2", "vcrpy-requests-3"]
    assert names(store) == ["vcrpy-requests", "vcrpy-requests-2", "vcrpy-requests-3"]
    assert len(read(store, "vcrpy-requests")) == 1


def test_it_takes_each_file_wholly_or_not_at_all(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    text = CASSETTE.read_text()
    cut, odd, empty, none = (tmp_path / name for name in ("cut.yaml", "odd.yaml", "empty.yaml", "none.yaml"))
    cut.write_text(text[: text.index("version: 1")])
    odd.write_text(text.replace("method: GET", "method: 1", 1))
    empty.write_text("")
    none.write_text("interactions: []\nversion: 1\n")
    done = imported("vcr", store, cut, CASSETTE, odd, empty, none, tmp_path / "gone.yaml", tmp_path)
    assert [each.error and each.error.exit_code for each in done] == [3, None, 2, 3, 3, 2, 2]
    assert names(store) == ["vcrpy-requests"]
    before = store.read_bytes()
    assert all(each.error for each in imported("vcr", store, cut, odd))
    assert store.read_bytes() == before


def test_it_leaves_no_store_where_nothing_could_be_taken(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("interactions: []\nversion: 1\n")
    assert imported("vcr", tmp_path / "new" / "f.db", tmp_path / "x.yaml")[0].error
    assert beside(tmp_path / "x.yaml") == {"x.yaml"}


def test_it_refuses_a_store_that_it_must_not_touch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="har"):
        imported("pcap", tmp_path / "f.db", CASSETTE)
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as db:
        db.execute("CREATE TABLE t (x)")
    before = foreign.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        imported("vcr", foreign, CASSETTE)
    assert foreign.read_bytes() == before
    assert beside(foreign) == {"foreign.db"}
    with pytest.raises(UsageError, match="folder"):
        imported("vcr", tmp_path, CASSETTE)


def test_it_leaves_a_store_alone_that_is_being_recorded_to(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    writer = opened(store)
    with pytest.raises(StoreError, match="is recording to it"):
        imported("vcr", store, CASSETTE)
    writer.close()
    imported("vcr", store, CASSETTE)
    assert names(store) == ["refund", "vcrpy-requests"]


def test_it_adds_to_what_a_crash_left_and_loses_nothing_of_it(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    code = "writer = opened(Path(sys.argv[1]))\nput(writer, plain(1))\nwriter.flush()\nprint('there', flush=True)"
    code += "\nsys.stdin.read()"
    process = child(code, store)
    assert process.stdout
    assert process.stdout.readline() == "there\n"
    process.kill()
    process.wait()
    until(lambda: store.with_name("f.db-wal").stat().st_size, "the log of the writer that died")
    imported("vcr", store, CASSETTE)
    assert beside(store) == {"f.db"}
    assert len(read(store, "refund")) == 1
    assert names(store) == ["refund", "vcrpy-requests"]


def test_it_leaves_the_store_as_it_was_where_the_disk_is_full(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    imported("vcr", store, CASSETTE)
    before = store.read_bytes()
    code = (
        "import resource\nfrom wiretape.scenarios.config import load_config\n"
        "from wiretape.scenarios.importing import import_files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try: import_files('vcr', [Path(sys.argv[1])], Path(sys.argv[2]), load_config(Path('/')))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    for into in (store, tmp_path / "new.db"):
        told, _ = child(code, CASSETTE, into).communicate(timeout=60)
        assert told.startswith("StoreError"), told
        assert "space" in told
    assert store.read_bytes() == before
    assert beside(store) == {"f.db"}


def test_it_leaves_the_store_as_it_was_where_it_is_killed(tmp_path: Path) -> None:
    store = tmp_path / "f.db"
    imported("vcr", store, CASSETTE)
    before = store.read_bytes()
    code = (
        "import os\nfrom wiretape.scenarios import importing\nfrom wiretape.scenarios.config import load_config\n"
        "importing.replace_together = lambda files: os.kill(os.getpid(), 9)\n"
        "importing.import_files('vcr', [Path(sys.argv[1])], Path(sys.argv[2]), load_config(Path('/')))"
    )
    process = child(code, CASSETTE, store)
    process.communicate(timeout=60)
    assert process.returncode == -9
    assert store.read_bytes() == before
    imported("vcr", store, CASSETTE)
    assert names(store) == ["vcrpy-requests", "vcrpy-requests-2"]


def test_it_keeps_steps_without_exchanges_and_its_digest_covers_them(tmp_path: Path) -> None:
    store, talk = tmp_path / "f.db", tmp_path / "messages_a.json"
    talk.write_text(json.dumps([{"role": "user", "type": "text", "content": f"Hi, my key is {KEY}"}]))
    other = tmp_path / "messages_b.json"
    other.write_text(talk.read_text().replace("Hi", "Ho"))
    imported("wxo", store, talk, other)
    with load(f"{store}#messages_a") as first, load(f"{store}#messages_b") as second:
        assert [step.kind for step in first.trace().steps] == ["user_message"]
        assert "abcdefghijklmnop" not in first.trace().model_dump_json()
        assert first.digest() != second.digest()
        assert first.lost() == ()


def test_it_numbers_exchanges_by_their_start_as_a_recorder_does(tmp_path: Path) -> None:
    """mitmproxy writes a flow when it is over: a socket that was opened first comes last."""
    early, late, socket = tflow.tflow(resp=True), tflow.tflow(resp=True), tflow.twebsocketflow()
    for at, each in enumerate((socket, early, late)):
        each.request.timestamp_start = 1000.0 + at
    path = tmp_path / "x.flows"
    with path.open("wb") as file:
        for each in (late, tflow.tdnsflow(), early, socket):
            FlowWriter(file).add(each)
    (done,) = imported("mitmproxy", tmp_path / "f.db", path)
    assert [(each.item, each.seq) for each in done.items] == [(1, 3), (2, None), (3, 2), (4, 1)]
    first, second, third = read(tmp_path / "f.db")
    assert [each.started_at for each in (first, second, third)] == [1000.0, 1001.0, 1002.0]
    assert [(each.type, each.data) for each in first.messages][1] == ("text", b"hello text")
    with load(str(tmp_path / "f.db")) as evidence:
        assert evidence.info.started_at == 1000.0


def test_it_says_that_a_file_changed_while_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing = tmp_path / "talk.json"
    message = {"role": "user", "type": "text", "content": "Hi"}
    growing.write_text(json.dumps([message]))

    def read_and_grow(importer: Importer, path: Path, redactor: Redactor) -> Imported:
        found = read_through(importer, path, redactor)
        growing.write_text(json.dumps([message, message]))
        return found

    monkeypatch.setattr("wiretape.scenarios.importing.read_through", read_and_grow)
    with pytest.raises(StoreError, match="changed while it was read"):
        imported("wxo", tmp_path / "f.db", growing)
    assert beside(growing) == {"talk.json"}


def test_it_sets_background_traffic_aside(tmp_path: Path) -> None:
    cassette = tmp_path / "n.yaml"
    cassette.write_text(CASSETTE.read_text().replace("http://127.0.0.1:41873/gzip", "http://x.sentry.io/gzip"))
    imported("vcr", tmp_path / "f.db", cassette)
    assert [exchange.seq for exchange in read(tmp_path / "f.db") if exchange.noise] == [4]


@pytest.mark.parametrize("name", ["sums", "report", "screenshot", "repository"])
def test_a_golden_recording_comes_back_from_jsonl_as_it_was(tmp_path: Path, name: str) -> None:
    """Byte for byte and chunk for chunk; its fingerprints are this version's."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    exported(Path(__file__).parents[2] / "recordings" / f"{name}.db", first)
    [taken] = imported("jsonl", tmp_path / "back.db", first)
    assert (taken.error, taken.recording) == (None, name)
    exported(tmp_path / "back.db", second)
    kept, back = (
        [json.loads(line) | {"fingerprint": None} for line in path.read_text().splitlines()[1:]] for path in (first, second)
    )
    assert kept == back


def exported(store: Path, out: Path) -> None:
    with load(str(store)) as evidence:
        out.write_bytes(b"".join(EXPORTS["jsonl"](evidence, {})))
