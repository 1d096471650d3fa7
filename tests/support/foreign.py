"""Files of other recorders, and the importers asked as the job asks them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from wiretape.traces.errors import WiretapeError
from wiretape.traces.imports import IMPORTS
from wiretape.traces.imports.items import Item
from wiretape.traces.types import Exchange

FOREIGN = Path(__file__).parent.parent / "wire" / "foreign"


def taken(format: str, data: bytes | str) -> list[Item]:
    return list(IMPORTS[format](BytesIO(data.encode() if isinstance(data, str) else data), "the file"))


def exchanges(format: str, data: bytes | str) -> list[Exchange]:
    return [item.exchange for item in taken(format, data) if item.exchange]


def only(format: str, data: bytes | str) -> tuple[Exchange, tuple[str, ...]]:
    (item,) = taken(format, data)
    assert item.exchange is not None, item.refused
    return item.exchange, item.losses


def refusal(format: str, data: bytes | str) -> tuple[int, str]:
    """(exit code, sentence) of a file that is refused."""
    with pytest.raises(WiretapeError) as caught:
        taken(format, data)
    assert str(caught.value).startswith("the file")
    return caught.value.exit_code, str(caught.value)
