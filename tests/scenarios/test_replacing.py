from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wiretape.scenarios.replacing import journal_of, recover, replace_text, replace_together
from wiretape.traces.errors import StoreError

OLD = {"refund.db": "old db", "refund.trace": "old trace", "refund.db-wal": "old log"}
NEW = {"refund.db": "new db", "refund.trace": "new trace"}


@pytest.fixture
def crashes(tmp_path):
    """What became of the files, stopped at each operation in turn."""

    def run(how, old="old"):
        script = Path(__file__).with_name("crashing.py")
        done = subprocess.run([sys.executable, script, tmp_path / "r", how, old], capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line for line in lines if "number" in line], [line["sentence"] for line in lines if "sentence" in line]

    return run


@pytest.fixture
def files(tmp_path):
    """{source: target} of a new recording, over an old one."""
    (tmp_path / "work").mkdir()
    for name, text in OLD.items():
        (tmp_path / name).write_text(text)
    for name, text in NEW.items():
        (tmp_path / "work" / name).write_text(text)
    return {tmp_path / "work" / name: tmp_path / name for name in NEW}


def state(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_it_replaces_all_files_and_removes_the_old_stores_log(files, tmp_path):
    replace_together(files)
    assert state(tmp_path) == NEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["refund.db", "refund.trace", "work"]
    assert list((tmp_path / "work").iterdir()) == []


def test_it_leaves_other_files_of_the_folder_alone(files, tmp_path):
    others = {"refund.yaml": "mine", "refund.other.db": "other", "cancel.db": "other"}
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    replace_together(files)
    assert state(tmp_path) == NEW | others


def test_it_moves_between_file_systems(files, tmp_path):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    source = other / f"wiretape-test-{os.getpid()}.db"
    source.write_text("from afar")
    replace_together({source: tmp_path / "refund.db"})
    assert (tmp_path / "refund.db").read_text() == "from afar"
    assert not source.exists()


@pytest.mark.parametrize("old", ["old", "none"])
def test_it_is_all_or_nothing_whenever_it_dies(crashes, old):
    before = OLD if old == "old" else {}
    tries, _ = crashes("die", old)
    assert tries[-1]["code"] == 0
    assert len(tries) > 15
    for each in tries:
        assert each["recovered"] in (before, NEW), each
        assert not each["left"], each
        assert each["sources"] == 2 or each["recovered"] == NEW, each
    assert [each["recovered"] for each in tries].count(before) > 10  # died before the new files were the recording
    mixed = [each for each in tries if each["after"] not in (before, NEW)]
    assert mixed  # `recover` had something to undo
    died_late = [each for each in tries if each["code"] == 9 and each["recovered"] == NEW]
    assert died_late


def test_it_is_all_or_nothing_when_an_operation_fails(crashes):
    tries, sentences = crashes("fail")
    refused = [each for each in tries if each["code"] == 8]
    assert len(refused) > 10
    for each in refused:
        assert each["after"] == each["recovered"] == OLD, each
    for each in tries:
        assert each["code"] == 8 or each["after"] == NEW, each
    assert all(
        "could not be replaced (No space left on device). All files are as they were before." in one for one in sentences
    )


def test_it_can_be_undone_later_where_the_disk_takes_nothing_any_more(crashes):
    tries, sentences = crashes("sticky")
    for each in tries:
        assert each["recovered"] in (OLD, NEW), each
        assert each["code"] == 0 or each["recovered"] == OLD, each
    assert any("The old files are in " in one for one in sentences)


def test_it_does_not_undo_what_a_living_process_is_doing(files, tmp_path):
    journal = journal_of(tmp_path / "refund.db")
    journal.mkdir()
    with (journal / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for attempt in (lambda: recover(tmp_path / "refund.trace"), lambda: replace_together(files)):
            with pytest.raises(StoreError, match="another process is replacing this recording"):
                attempt()
    assert state(tmp_path) == OLD
    assert recover(tmp_path / "refund.db")
    assert not journal.exists()


@pytest.mark.parametrize("name", ["../outside", "cancel.db", "/etc/passwd", "refund.x/../../outside"])
def test_it_undoes_nothing_outside_the_recording(tmp_path, name):
    outside = tmp_path / "outside"
    folder = tmp_path / "r"
    journal = journal_of(folder / "refund.db")
    (journal / "old").mkdir(parents=True)
    outside.write_text("mine")
    (folder / "cancel.db").write_text("mine")
    (journal / "ready").write_text(json.dumps({name: False}))
    with pytest.raises(StoreError, match="cannot be undone here"):
        recover(folder / "refund.db")
    assert (outside.read_text(), (folder / "cancel.db").read_text()) == ("mine", "mine")


def test_it_finds_nothing_where_nothing_was_interrupted(tmp_path):
    assert not recover(tmp_path / "refund.db")
    assert not recover(tmp_path / "gone" / "refund.db")


def test_it_wants_targets_of_one_recording(tmp_path):
    with pytest.raises(ValueError, match="of one folder and one stem"):
        replace_together({tmp_path / "1": tmp_path / "a.db", tmp_path / "2": tmp_path / "b.db"})


def test_it_says_that_a_source_is_not_there(tmp_path):
    (tmp_path / "refund.db").write_text("old")
    with pytest.raises(StoreError, match="No such file or directory"):
        replace_together({tmp_path / "gone": tmp_path / "refund.db"})
    assert state(tmp_path) == {"refund.db": "old"}


def test_it_writes_a_text_as_a_whole(tmp_path):
    path = tmp_path / "new" / "refund.trace"
    replace_text(path, "a\nb\n")
    replace_text(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    assert [each.name for each in path.parent.iterdir()] == ["refund.trace"]


def test_it_says_that_a_text_cannot_be_written(tmp_path):
    (tmp_path / "refund.trace").mkdir()
    with pytest.raises(StoreError, match="could not be written"):
        replace_text(tmp_path / "refund.trace", "x")
    assert [each.name for each in tmp_path.iterdir()] == ["refund.trace"]
