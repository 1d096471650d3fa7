from __future__ import annotations

from collections.abc import Callable

import pytest
from support.sidecar import mocks

from wiretape.proxy.rules.book import RuleBook
from wiretape.proxy.rules.subject import Subject, Where


@pytest.fixture
def book() -> Callable[[str], RuleBook]:
    return lambda rules, **more: RuleBook(mocks(rules).file, **more)


@pytest.fixture
def call() -> Callable[..., dict[Where, Subject]]:
    """A request for the tool t of shop, with these arguments."""

    def call(**args: object) -> dict[Where, Subject]:
        return {Where.HTTP: Subject({"upstream": ("shop",), "path": ("/v1/t",)}, args)}

    return call
