"""The error shape of an API whose answers are not read yet."""

import json

import pytest
from support.wire import post

from wiretape.traces.decoders import detect, error_response

MODELS = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent?alt=sse"])
def test_it_answers_in_googles_shape(method):
    request = post(f"{MODELS}:{method}", {"contents": []})
    kind, body = error_response(detect(request), 422, "nothing recorded", "replay_miss", request)
    assert (kind, json.loads(body)) == (
        "application/json",
        {"error": {"code": 422, "message": "nothing recorded", "status": "INVALID_ARGUMENT"}},
    )


@pytest.mark.parametrize(
    ("status", "word"), [(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (502, "INTERNAL"), (400, "INVALID_ARGUMENT")]
)
def test_it_says_the_status_in_googles_word(status, word):
    _, body = error_response(None, status, "m", "c", post(f"{MODELS}:generateContent"))
    assert json.loads(body)["error"]["status"] == word
