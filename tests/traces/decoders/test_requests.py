"""What requests have in common: path, body, provider, history."""

import pytest
from support.wire import post

from wiretape.traces.decoders import requests
from wiretape.traces.decoders.contents import said
from wiretape.traces.decoders.values import asked, declared, handed


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://a.test/V1/Chat/?x=/y", "/v1/chat"),
        ("https://a.test/model/a%3A0/invoke", "/model/a:0/invoke"),
        ("https://[::1/x", ""),
        ("", ""),
    ],
)
def test_it_reads_the_path_of_any_url(url, path):
    assert requests.path_of(post(url)) == path


@pytest.mark.parametrize("body", [None, b"", b"\x1f\x8b\x08", b"{", b"name=value"])
def test_it_has_no_json_where_the_body_is_none(body):
    assert requests.body_of(post("https://a.test/", body)) is None


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("api.groq.com", "groq"),
        ("example.openai.azure.com", "azure"),
        ("bedrock-runtime.us-east-1.amazonaws.com", "bedrock"),
        ("us-east5-aiplatform.googleapis.com", "vertex"),
        ("aiplatform.googleapis.com", "vertex"),
        ("api.openai.com.evil.test", "dialect"),
        ("127.0.0.1:8000", "dialect"),
        ("[::1", "dialect"),
    ],
)
def test_it_knows_a_provider_by_its_host_else_by_its_dialect(host, provider):
    assert requests.provider_of(post(f"https://{host}/v1"), "dialect") == provider


def test_it_takes_as_parameters_all_but_content_and_identities():
    body = {"model": "m", "temperature": 0, "user": "u", "metadata": {"run": 1}, "tool_choice": "auto"}
    assert requests.parameters(body, ("model",)) == {"temperature": 0, "tool_choice": "auto"}


def test_it_names_the_tool_of_each_result_by_the_call_that_asked():
    elements = [
        said("assistant", None, asked=[asked("f", "c1", "{}")]),
        said("tool", None, handed=[handed("c1", "1"), handed("c2", "2")]),
    ]
    assert [result.tool for result in requests.history(elements)[1].handed] == ["f", None]


def test_it_lists_a_tool_once_that_is_declared_twice():
    one, other = declared({"name": "f"}, None), declared({"name": "f", "description": "other"}, None)
    assert requests.distinct([one, one, other]) == (one, other)
