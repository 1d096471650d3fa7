from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random

from wiretape.proxy.rules.placeholders import Setting, fill, unknown
from wiretape.proxy.rules.subject import Subject


def setting(seed: int = 1) -> Setting:
    args = {"n": 1.0, "order": {"id": "A-1"}, "list": [1], "text": "x"}
    return Setting(Subject({}, args, {"q": "v"}), datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), Random(seed), "run1")


def test_one_placeholder_alone_keeps_the_type():
    given = ["{{args.n}}", "{{ args.order }}", "{{args.list.0}}", "{{args.gone}}", "{{args}}"]
    assert fill(given, setting()) == [1.0, {"id": "A-1"}, 1, None, setting().subject.args]


def test_within_text_it_is_text():
    text = "{{args.order.id}}/{{query.q}}/{{args.order}}/{{args.gone}}/{{today}}/{{now}}/{{run}}"
    assert fill({"t": text}, setting()) == {"t": 'A-1/v/{"id": "A-1"}//2026-02-03/2026-02-03T04:05:06Z/run1'}


def test_a_uuid_is_one_and_the_same_in_each_run():
    first = fill("{{uuid}}", setting())
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first)
    assert first == fill("{{uuid}}", setting()) != fill("{{uuid}}", setting(2))


def test_what_a_caller_sent_is_not_filled_once_more():
    hostile = Setting(Subject({}, {"x": "{{run}}"}), datetime.now(UTC), Random(1), "secret")
    assert fill("<{{args.x}}>", hostile) == "<{{run}}>"


def test_it_names_placeholders_that_there_are_none_of():
    assert list(unknown({"a": ["{{arg.x}} {{now}}", 1], "b": "{{nope}}"})) == ["{{arg.x}}", "{{nope}}"]
