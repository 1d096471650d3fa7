from __future__ import annotations

from pathlib import Path

import pytest

from wiretape.scenarios import record
from wiretape.scenarios.config import load_config
from wiretape.scenarios.golden import Golden
from wiretape.scenarios.session import new_writer
from wiretape.traces.errors import StoreError
from wiretape.traces.settings import RedactSettings


def test_a_name_that_somebody_else_takes_meanwhile_is_left_to_them(tmp_path: Path) -> None:
    """Between the look whether a name is free and its opening, another recorder may have begun there."""
    golden = Golden.at(tmp_path, "x")
    other = new_writer(golden.db, "x", RedactSettings(), {})
    options = record.RecordOptions("x", ["true"], load_config(flags={"dir": str(tmp_path)}))
    with pytest.raises(StoreError, match="is recording to it"):
        record._first(options, golden, None)
    assert golden.db.exists()
    other.close()
