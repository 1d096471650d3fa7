from __future__ import annotations

import re

from wiretape.scenarios.settings import BY_KEY, BY_NAME, BY_VARIABLE, OWN_VARIABLES, SETTINGS, TABLES
from wiretape.traces.settings import CaptureSettings, MatchSettings


def test_it_names_each_setting_key_and_variable_once():
    keys = [key for setting in SETTINGS for key in setting.keys]
    assert len(set(keys)) == len(keys) == len(BY_KEY)
    assert len(BY_NAME) == len(SETTINGS)
    assert not OWN_VARIABLES & set(BY_VARIABLE)


def test_it_writes_an_option_as_a_variable_and_at_the_top_of_the_file():
    setting = BY_NAME["token_file"]
    assert (setting.option, setting.variable, setting.keys) == ("--token-file", "WIRETAPE_TOKEN_FILE", ("token_file",))
    assert all(setting.name in setting.keys for setting in SETTINGS if setting.option)
    assert all(re.fullmatch(r"--[a-z]+(-[a-z]+)*", setting.option) for setting in SETTINGS if setting.option)


def test_it_has_the_tables_of_the_contract():
    whole = {setting.name for setting in SETTINGS if setting.keys == (setting.name,) and setting.file_only}
    assert TABLES | whole == {"capture", "match", "redact", "prices", "oracles", "gates", "environment"}


def test_it_has_a_setting_for_every_field_that_the_lower_floors_take():
    assert {field for field in MatchSettings.model_fields if field not in BY_NAME} == {"level"}
    plural = {
        "upstreams": "upstream",
        "insecure_upstreams": "insecure_upstream",
        "allow_hosts": "allow_host",
        "deny_hosts": "deny_host",
    }
    assert {plural.get(field, field) for field in CaptureSettings.model_fields} <= set(BY_NAME)


def test_it_has_defaults_that_their_kind_would_take():
    for setting in SETTINGS:
        if setting.default is not None:
            assert setting.kind.read(setting.default) == setting.default, setting.name
