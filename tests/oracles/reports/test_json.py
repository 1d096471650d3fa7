from __future__ import annotations

import json as stdlib

from wiretape.oracles.reports import REPORTS, json


def test_it_has_the_shape_of_the_interface(mixed):
    document = stdlib.loads(json.render(mixed))
    assert set(document) == {"passed", "counts", "recordings"}
    assert document["passed"] is False
    assert document["counts"] == {"recordings": 5, "passed": 1, "failed": 2, "skipped": 1, "errors": 1}
    assert document["recordings"][2] == {
        "name": "refund",
        "path": "r/refund.db",
        "risk": "high",
        "status": "failed",
        "verdicts": [
            {
                "oracle": "tool-called",
                "status": "failed",
                "message": "refund was not called",
                "evidence": ["called were get_order"],
                "steps": [2, 5],
            },
            {
                "oracle": "tool-not-called",
                "status": "skipped",
                "message": "shell was not called, but tools were not observed",
                "evidence": [],
                "steps": [],
            },
            {"oracle": "no-error", "status": "passed", "message": "there was no error", "evidence": [], "steps": []},
        ],
    }


def test_it_gives_the_reason_where_no_verdict_does(mixed):
    told = {entry["name"]: (entry.get("code"), entry.get("reason")) for entry in stdlib.loads(json.render(mixed))["recordings"]}
    assert told["hello"] == told["refund"] == (None, None)
    assert told["docker"] == ("not_executed", "there is no docker here")
    assert told["broken"] == ("store", "r/broken.db is damaged")
    assert told["bare"][0] == "unasserted"


def test_it_says_why_nothing_is_red(nothing):
    document = stdlib.loads(json.render(nothing))
    assert (document["passed"], document["reason"], document["recordings"]) == (False, "there was nothing to check", [])


def test_it_keeps_hostile_text_whole_and_writes_nothing_but_ascii(hostile):
    text = "\x1b[2J\u202e\x9b\ud800\"'<b>"
    rendered = json.render(hostile(text))
    assert stdlib.loads(rendered)["recordings"][0]["verdicts"][0]["message"] == text
    assert all(char == "\n" or " " <= char <= "~" for char in rendered)


def test_it_stands_in_the_table(mixed):
    assert REPORTS["json"](mixed) == json.render(mixed)
