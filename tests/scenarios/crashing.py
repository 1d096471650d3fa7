"""Run by test_replacing.py: one replacement after the other, each stopped at another of its operations on the disk.

Prints one JSON line for each: where it was stopped, how, what the files were right afterwards, and after `recover`. Python's
audit events come before each operation, so nothing is patched; each try is a fork, which really dies.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from wiretape.scenarios.replacing import journal_of, recover, replace_together
from wiretape.traces.errors import StoreError

DISK = {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir"}
OLD = {"refund.db": "old db", "refund.trace": "old trace", "refund.db-wal": "old log"}
STOPPED, REFUSED, DONE = 9, 8, 0


def tell(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()  # os._exit does not


def prepare(folder: Path, old: dict[str, str]) -> dict[Path, Path]:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "work").mkdir(parents=True)
    for name, text in old.items():
        (folder / name).write_text(text)
    files = {folder / "work" / name: folder / name for name in ("refund.db", "refund.trace")}
    for source in files:
        source.write_text(f"new {source.suffix[1:]}")
    return files


def state(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def stopped_at(number: int, how: str, folder: Path) -> None:
    """From now on in this process: the operation of that number (and with `sticky` all after it) does not happen."""
    seen = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal seen
        if event not in DISK or not any(str(folder) in str(each) for each in args):
            return
        seen += 1
        if seen == number and how == "die":
            os._exit(STOPPED)
        if seen == number or (seen > number and how == "sticky"):
            raise OSError(28, "No space left on device")

    sys.addaudithook(hook)


def attempt(folder: Path, files: dict[Path, Path], number: int, how: str) -> int:
    child = os.fork()
    if not child:
        stopped_at(number, how, folder)
        try:
            replace_together(files)
        except StoreError as error:
            tell({"sentence": str(error)})
            os._exit(REFUSED)
        os._exit(DONE)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path, how: str, old: dict[str, str]) -> None:
    for number in range(1, 200):
        files = prepare(folder, old)
        code = attempt(folder, files, number, how)
        after = state(folder)
        try:
            recover(folder / "refund.db")
            found = state(folder)
        except StoreError as error:
            found = {"error": str(error)}
        sources = sum(source.exists() for source in files)
        left = journal_of(folder / "refund.db").exists()
        tell({"number": number, "code": code, "after": after, "recovered": found, "sources": sources, "left": left})
        if code == DONE and how == "die":
            return
        if number > 60:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], OLD if sys.argv[3] == "old" else {})
