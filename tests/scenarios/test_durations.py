from __future__ import annotations

import pytest

from wiretape.scenarios.durations import duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("60s", 60), ("5m", 300), ("2h", 7200), ("30d", 2_592_000), ("1.5 h", 5400)]
)
def test_it_reads_a_number_and_a_unit(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["5", 5, 5.0, "", "0s", "-5m", "5 minutes", "5m ", "1m30s", "1e3s", "9" * 400 + "s", None, True, ["5m"]]
)
def test_it_refuses_what_has_no_unit_or_no_length(text):
    with pytest.raises(ValueError, match="expected a duration above 0 such as 500ms"):
        duration(text)
