"""The store: one SQLite file of one or more recordings. The sidecar alone writes it; everything else reads it.

migrations.py has the schema and what its rows mean, writer.py the one writer, reader.py the readers beside it, guard.py what
is refused and why.
"""

from __future__ import annotations

from wiretape.traces.migrations import APPLICATION_ID, SCHEMA_VERSION
from wiretape.traces.reader import Key, Store
from wiretape.traces.writer import Writer

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "Key", "Store", "Writer"]
