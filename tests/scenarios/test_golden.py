from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from wiretape.scenarios.golden import Golden, beside, databases, locate
from wiretape.scenarios.replacing import journal_of
from wiretape.traces.errors import InvalidFile, StoreError, UsageError
from wiretape.traces.redact import Redactor
from wiretape.traces.settings import RedactSettings
from wiretape.traces.store import Writer


@pytest.fixture
def store():
    """A closed store, or one whose writer went away without closing it."""

    def make(path, *, closed=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = Writer.open(
            path, name=path.stem, started_at=1.0, tool_version="1", redactor=Redactor(RedactSettings()), recording_id="r1"
        )
        writer.flush()
        if not closed:
            _copy_as_a_crash_leaves_it(path)
        writer.close()
        if not closed:
            path.with_suffix(".crashed").rename(path)
        return path

    return make


def _copy_as_a_crash_leaves_it(path):
    """Without its log, but never closed."""
    with sqlite3.connect(path) as source, sqlite3.connect(path.with_suffix(".crashed")) as copy:
        source.backup(copy)
    copy.close()
    source.close()


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").mkdir()
    return tmp_path


def touch(project, *names):
    for name in names:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_it_knows_its_three_files(tmp_path):
    golden = Golden.at(tmp_path, "refund.partial")
    assert [path.name for path in (golden.yaml, golden.trace, golden.db)] == [
        "refund.partial.yaml",
        "refund.partial.trace",
        "refund.partial.db",
    ]


def test_it_exists_where_its_evidence_does(tmp_path):
    golden = Golden.at(tmp_path, "refund")
    golden.yaml.touch()
    golden.trace.touch()
    assert not golden.exists()
    golden.db.touch()
    assert golden.exists()


@pytest.mark.parametrize("name", ["refund", "Größe 2", "a.b-c_d", "x" * 200])
def test_it_takes_names_that_files_can_have(tmp_path, name):
    assert Golden.at(tmp_path, name).name == name


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "expected one line"),
        (" a", "without space around it"),
        ("a\nb", "expected one line"),
        ("x" * 201, "at most 200 bytes"),
        ("a.db", "leave its ending off"),
        ("a.yaml", "leave its ending off"),
        (".a", "does not begin with '.'"),
        ("-a", "does not begin with '-'"),
        ("..", "does not begin with '.'"),
        ("a/b", "a name holds no /; folders are given with --dir"),
        ("a#b", "a name holds no #"),
        ("a\0b", "expected one line"),
    ],
)
def test_it_refuses_names_that_files_cannot_have(tmp_path, name, problem):
    with pytest.raises(UsageError) as caught:
        Golden.at(tmp_path, name)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("recording", "path", "name"),
    [
        ("refund", "recordings/refund.db", None),
        ("refund.partial", "recordings/refund.partial.db", None),
        ("flows/refund", "recordings/flows/refund.db", None),
        ("refund#main", "recordings/refund.db", "main"),
        ("recordings/refund.db", "recordings/refund.db", None),
        ("recordings/refund", "recordings/refund.db", None),
        ("./store.db#run-42", "store.db", "run-42"),
        ("store.db#a/b#c.db", "store.db", "a/b#c.db"),
        ("./odd.sqlite", "odd.sqlite", None),
        ("we#ird.db", "we#ird.db", None),
    ],
)
def test_it_finds_what_a_recording_names(project, recording, path, name):
    touch(project, "recordings/refund.db", "recordings/refund.partial.db", "recordings/flows/refund.db")
    touch(project, "store.db", "odd.sqlite", "we#ird.db", "refund")
    found, which = locate(recording)
    assert (found.resolve(), which) == ((project / path).resolve(), name)


@pytest.mark.parametrize(
    ("recording", "sentence"),
    [
        ("refnd", "there is no recording 'refnd' in recordings/. Did you mean refund?"),
        ("zzz", "there is no recording 'zzz' in recordings/. There are: cancel, refund."),
        ("gone.db", "gone.db: there is no such recording."),
        ("other/gone.db#x", "other/gone.db: there is no such recording."),
        ("recordings", "there is no recording 'recordings' in recordings/."),
    ],
)
def test_it_says_which_recordings_there_are(project, recording, sentence):
    touch(project, "recordings/refund.db", "recordings/cancel.db")
    with pytest.raises(UsageError) as caught:
        locate(recording)
    assert str(caught.value).startswith(sentence)


def test_it_says_that_there_are_none_yet(project):
    with pytest.raises(UsageError, match=r"in recordings/\. It holds none yet\."):
        locate("refund")


@pytest.mark.parametrize("recording", ["", "../secret", "/no/such/place", "a/../../b", "#x", "a\0b"])
def test_it_looks_up_no_name_outside_the_folder(project, recording):
    touch(project, "secret.db")
    with pytest.raises(UsageError, match="is no name of a recording"):
        locate(recording)


def test_it_brings_the_scenario_that_lies_beside(project):
    touch(project, "recordings/refund.db", "recordings/bare.db")
    (project / "recordings/refund.yaml").write_text("wiretape: 1\nid: refund.partial\n")
    golden, scenario = beside("refund")
    assert (golden.name, golden.folder.name, scenario.id) == ("refund", "recordings", "refund.partial")
    assert beside("recordings/bare.db")[1] is None
    (project / "recordings/bare.yaml").write_text("wiretape: 1\n")
    with pytest.raises(InvalidFile, match=r"recordings/bare\.yaml:1: id: the field is required"):
        beside("bare")


def test_it_lists_databases_in_order_each_once_and_no_hidden_ones(project):
    touch(
        project,
        "recordings/b.db",
        "recordings/a.db",
        "recordings/x/c.db",
        "recordings/.refund-1/d.db",
        "recordings/.e.db",
        "s.db",
    )
    found = databases([project / "s.db", project / "recordings", project / "recordings" / "a.db"])
    assert [str(path.relative_to(project)) for path in found] == [
        "s.db",
        "recordings/a.db",
        "recordings/b.db",
        "recordings/x/c.db",
    ]
    with pytest.raises(UsageError, match="gone: there is no such file or folder"):
        databases([project / "gone"])


@pytest.mark.parametrize("look", [lambda: locate("refund"), lambda: beside("refund"), lambda: databases([Path("recordings")])])
def test_it_puts_back_what_a_crash_left_before_anybody_reads(project, look):
    folder = project / "recordings"
    (folder / "refund.db").write_text("new")
    (folder / "refund.trace").write_text("old")
    journal = journal_of(folder / "refund.db")
    (journal / "old").mkdir(parents=True)
    (journal / "old" / "refund.db").write_text("old")
    (journal / "ready").write_text(json.dumps({"refund.db": True, "refund.trace": True}))
    look()
    assert ((folder / "refund.db").read_text(), (folder / "refund.trace").read_text()) == ("old", "old")
    assert not journal.exists()


def test_it_takes_a_closed_recording(store, tmp_path):
    Golden(tmp_path, store(tmp_path / "refund.db").stem).refuse_unfinished()


def test_it_refuses_a_recording_that_was_never_closed(store, tmp_path):
    store(tmp_path / "refund.db", closed=False)
    with pytest.raises(StoreError, match=r"refund\.db: the recording was never closed"):
        Golden(tmp_path, "refund").refuse_unfinished()


def test_it_refuses_a_recording_with_a_log_beside_it(store, tmp_path):
    store(tmp_path / "refund.db")
    (tmp_path / "refund.db-wal").touch()
    with pytest.raises(StoreError, match=r"refund\.db-wal lies beside it, so it is being recorded, or"):
        Golden(tmp_path, "refund").refuse_unfinished()


def test_it_refuses_a_pointer_a_foreign_file_and_none(tmp_path):
    golden = Golden(tmp_path, "refund")
    with pytest.raises(UsageError, match=r"refund\.db: .*there is no such"):
        golden.refuse_unfinished()
    golden.db.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
    with pytest.raises(StoreError, match="git lfs pull"):
        golden.refuse_unfinished()
    golden.db.write_text("something else")
    with pytest.raises(StoreError, match="expected a wiretape recording"):
        golden.refuse_unfinished()
