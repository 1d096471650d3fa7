from __future__ import annotations

import pytest

from wiretape.proxy.gateway import BUILT_IN, Gateway, Target


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_it_knows_every_built_in_name(name: str) -> None:
    found = Gateway({}).resolve(f"/{name}/v1/x")
    assert found == Target(name, f"{BUILT_IN[name]}/v1/x", "")


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("/shop", "http://shop.test/api"),
        ("/shop/", "http://shop.test/api/"),
        ("/shop/a%2Fb?q=a%20b&q=", "http://shop.test/api/a%2Fb?q=a%20b&q="),
        ("/shop?x=1", "http://shop.test/api?x=1"),
    ],
)
def test_it_appends_the_rest_of_the_path_as_it_was_written(target: str, url: str) -> None:
    assert Gateway({"shop": "http://shop.test/api/"}).resolve(target) == Target("shop", url, "")


def test_it_takes_the_session_from_the_path() -> None:
    assert Gateway({}).resolve("/s/run%2042/openai/v1/models") == Target("openai", "https://api.openai.com/v1/models", "run 42")


def test_a_given_upstream_replaces_the_built_in_address() -> None:
    assert Gateway({"openai": "http://127.0.0.1:9"}).resolve("/openai/v1") == Target("openai", "http://127.0.0.1:9/v1", "")


@pytest.mark.parametrize("target", ["/", "/nope/v1", "/s/run/nope/x", "*", "/openaix/v1", "//openai/v1"])
def test_it_says_which_variable_to_set_for_an_unknown_name(target: str) -> None:
    sentence = Gateway({}).resolve(target)
    assert isinstance(sentence, str)
    assert "HTTPS_PROXY" in sentence
    assert "OPENAI_BASE_URL" in sentence
    assert "--upstream" in sentence


def test_its_sentence_leaves_out_the_query_where_a_key_may_stand() -> None:
    assert "AIza" not in str(Gateway({}).resolve("/nope/x?key=AIzaSECRET"))


def test_it_rewrites_a_redirect_to_its_upstream_and_no_other() -> None:
    gateway = Gateway({"shop": "http://shop.test/api"})
    assert gateway.redirected("shop", "http://shop.test/api/next?a=1") == "/shop/next?a=1"
    assert gateway.redirected("shop", "http://shop.test/apiary") is None
    assert gateway.redirected("shop", "http://elsewhere.test/api/next") is None
