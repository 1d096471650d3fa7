"""What the decoders make of real traffic: `make corpus`.

    python scripts/corpus.py [FOLDER]

Every exchange is decoded whole, byte by byte, cut in two at every position up to 4 KB and at 200 random ones above; every fact
that is certain about it is compared. Prints a line for each provider and API: exchanges, facts, facts met, failures; exits 1
where anything fails. FOLDER is `../shared/corpus` where that lies beside the project, else the captures of the project's tests.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.captures import Capture, captures  # noqa: E402
from support.facts import facts  # noqa: E402

from wiretape.traces.decoders import DECODERS, Reader, decode, detect  # noqa: E402
from wiretape.traces.types import header  # noqa: E402

SHARED = ROOT.parent / "shared" / "corpus"
EVERY = 4096
RANDOM = 200


@dataclass
class Row:
    exchanges: int = 0
    facts: int = 0
    met: int = 0
    undecoded: int = 0
    failures: list[str] = field(default_factory=list)


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED if SHARED.is_dir() else ROOT / "tests" / "wire"
    rows: dict[tuple[str, str], Row] = defaultdict(Row)
    with ProcessPoolExecutor() as pool:
        for key, row in pool.map(examine, captures(folder), chunksize=4):
            total = rows[key]
            total.exchanges += row.exchanges
            total.facts += row.facts
            total.met += row.met
            total.undecoded += row.undecoded
            total.failures += row.failures
    return report(rows)


def examine(capture: Capture) -> tuple[tuple[str, str], Row]:
    row = Row(exchanges=1)
    try:
        view = decode(capture.plain, capture.body)
        row.undecoded = view is None
        for name, certain, got in facts(view, capture.expected):
            row.facts += 1
            row.met += certain == got
            row.failures += [] if certain == got else [f"{capture.name}: {name}: expected {certain!r}, got {got!r}"]
        row.failures += [f"{capture.name}: reads otherwise when cut at {places}" for places in uneven(capture)]
    except Exception:
        row.failures.append(f"{capture.name}: {traceback.format_exc(limit=-2)}")
    return (capture.provider, capture.api), row


def uneven(capture: Capture) -> Iterator[str]:
    """Where cutting the answer changes what is read in it."""
    if not detect(capture.plain.request) or not capture.body:
        return
    whole, size = read(capture, []), len(capture.body)
    if read(capture, range(1, size)) != whole:
        yield "every byte"
    positions = range(1, size) if size <= EVERY else sorted(random.Random(7).sample(range(1, size), RANDOM))
    yield from (str(at) for at in positions if read(capture, [at]) != whole)


def read(capture: Capture, cuts: Any) -> Any:
    request, response = capture.plain.request, capture.plain.response
    assert response is not None
    reader: Reader = DECODERS[detect(request) or ""].reader(request, response.status, header(response.headers, "content-type"))
    for start, end in zip((0, *cuts), (*cuts, len(capture.body)), strict=True):
        reader.feed(capture.body[start:end])
    return reader.view(), reader.complete


def report(rows: dict[tuple[str, str], Row]) -> int:
    print(f"{'provider':20} {'api':24} exchanges  plain http  facts    met  failures")
    for (provider, api), row in sorted(rows.items()):
        print(f"{provider:20} {api:24} {row.exchanges:9} {row.undecoded:11} {row.facts:6} {row.met:6} {len(row.failures):9}")
    failures = [failure for row in rows.values() for failure in row.failures]
    for failure in failures:
        print(failure)
    met, known = sum(row.met for row in rows.values()), sum(row.facts for row in rows.values())
    print(f"{sum(row.exchanges for row in rows.values())} exchanges, {met} of {known} facts met, {len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
