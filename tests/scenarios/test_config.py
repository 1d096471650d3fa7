from __future__ import annotations

import pytest

from wiretape.scenarios.config import FILE, load_config
from wiretape.traces.errors import InvalidFile, UsageError
from wiretape.traces.settings import ConnectTo, Exhausted, Level, RedactRule, Volatile


@pytest.fixture
def config(tmp_path):
    def load(toml=None, environment=None, **flags):
        if toml is not None:
            (tmp_path / FILE).write_text(toml, encoding="utf-8")
        return load_config(tmp_path, environment, flags)

    return load


@pytest.fixture
def file_faults(config):
    def load(toml):
        with pytest.raises(InvalidFile) as caught:
            config(toml)
        return [(each.line, each.field, each.problem) for each in (caught.value, *caught.value.also)]

    return load


def origins(config, *names):
    return {each.setting.name: each.origin for each in config.effective() if each.setting.name in names}


def test_it_has_defaults_where_nothing_is_said(config):
    made = config()
    assert (made["dir"], made["port"], made["pace"], made["match"], made["fail_on"]) == (
        "recordings",
        8080,
        0.0,
        "rebound",
        "high",
    )
    assert {each.origin for each in made.effective()} == {"default"}
    assert made.match_settings().level is Level.REBOUND


def test_it_lets_flags_win_over_variables_and_variables_over_the_file(config):
    toml = 'pace = "recorded"\nport = 1\nmode = "replay"\n'
    made = config(toml, {"WIRETAPE_PORT": "2", "WIRETAPE_MODE": "passthrough"}, mode="record", pace=None, port=None)
    assert (made["pace"], made["port"], made["mode"]) == (1.0, 2, "record")
    assert origins(made, "pace", "port", "mode", "dir") == {
        "pace": "wiretape.toml:1", "port": "WIRETAPE_PORT", "mode": "--mode", "dir": "default"
    }  # fmt: skip


def test_it_reads_tables_and_the_same_options_at_the_top(config):
    tables = config("""\
[capture]
ignore = ["a"]
upstream = {shop = "https://x"}
connect_to = ["a:1:b:2"]
[match]
level = "exact"
pace = 0.5
exhausted = "repeat-last"
[[match.volatile]]
json = "$.a"
[redact]
mode = "strict"
rules = [{header = "h"}]
[gates]
fail_on = "low"
""")
    assert tables.match_settings().model_dump(exclude_defaults=True) == {
        "level": Level.EXACT,
        "pace": 0.5,
        "exhausted": Exhausted.REPEAT_LAST,
        "volatile": ({"json_path": "$.a"},),
    }
    assert tables.capture_settings().upstreams == {"shop": "https://x"}
    assert tables.capture_settings().connect_to == (ConnectTo(host="a", port=1, address="b", connect_port=2),)
    assert (tables.redact_settings().mode, tables.redact_settings().rules) == ("strict", (RedactRule(header="h"),))
    top = config('match = "exact"\nignore = ["a"]\nredact = "strict"\nfail_on = "low"\n[upstream]\nshop = "https://x"\n')
    for name in ("match", "ignore", "redact", "fail_on", "upstream"):
        assert top[name] == tables[name], name


def test_it_replaces_a_list_and_does_not_add_to_it(config):
    assert config('ignore = ["a", "b"]', {"WIRETAPE_IGNORE": "c"})["ignore"] == ("c",)
    assert config('ignore = ["a", "b"]', {"WIRETAPE_IGNORE": "c"}, ignore=["d"])["ignore"] == ("d",)
    assert config('ignore = ["a", "b"]', {}, ignore=[])["ignore"] == ("a", "b")


def test_it_takes_an_empty_variable_as_none(config):
    assert config("", {"WIRETAPE_PORT": "", "WIRETAPE_NOPE": ""})["port"] == 8080


def test_it_lets_its_own_and_foreign_variables_be(config):
    config(
        "", {"WIRETAPE_EVENTS": "http://wiretape.internal/events", "WIRETAPE_RUN": "r", "PATH": "/bin", "wiretape_port": "x"}
    )


def test_it_ignores_options_that_are_no_settings(config):
    assert config("", {}, update=True, prices="x", volatile="y", port=1)["port"] == 1


def test_it_refuses_unknown_keys_with_the_nearest_and_every_other_fault_with_its_line(file_faults):
    found = file_faults("""\
paec = 1
mode = "recording"
port = 70000
colour = true

[match]
levl = "exact"
strict = "yes"

[gates]
fail_on = "High"
zzz = 1

[foo]
a = 1

[[match.volatile]]
path = "$.a"

[environment.prod]
mock = false
""")
    assert found == [
        (1, "paec", "there is no such setting; did you mean pace?"),
        (2, "mode", 'expected one of record, replay, passthrough, got "recording"'),
        (3, "port", "expected a port from 0 to 65535, got the number 70000"),
        (4, "colour", "there is no such setting; did you mean no_color?"),
        (7, "match.levl", "there is no such setting; did you mean match.level?"),
        (8, "match.strict", 'expected true or false, got "yes"'),
        (11, "gates.fail_on", 'expected one of any, low, medium, high, critical, got "High"'),
        (12, "gates.zzz", "there is no such setting; known are gates.allow_unasserted, gates.fail_on"),
        (14, "foo", "there is no such setting; `replay doctor` lists those that there are"),
        (17, "match.volatile", "[0].path: there is no such field; known are header, json, query, url"),
        (20, "environment", "prod.mock: there is no such field; did you mean mocks?"),
    ]  # fmt: skip


def test_it_refuses_a_setting_that_is_said_twice(file_faults):
    assert file_faults("pace = 1\n[match]\npace = 2\n") == [
        (3, "match.pace", "this is said twice, as `pace` too; keep one of them")
    ]


@pytest.mark.parametrize(
    ("toml", "line", "problem"),
    [
        ("a = \n", 1, "this is not TOML"),
        ("port = 1\nport = 2\n", 2, "this is not TOML"),
        ("port = 1\n[match", 2, "this is not TOML"),
        ("x = " + "[" * 5000, None, "this is nested too deep"),
        ("port = 1979-05-27", 1, "expected a port from 0 to 65535, got a date"),
        ('"po rt" = 1', 1, "there is no such setting"),
        ('[ "match" ]\n"level"=5', 2, "expected one of exact"),
    ],
)
def test_it_refuses_what_is_no_toml_or_no_setting(file_faults, toml, line, problem):
    ((found_line, _, found),) = file_faults(toml)
    assert (found_line, found[: len(problem)]) == (line, problem)


def test_it_tells_every_variable_and_flag_that_does_not_fit(config):
    variables = {"WIRETAPE_PAEC": "1", "WIRETAPE_ZZZ": "1", "WIRETAPE_PORT": "many", "WIRETAPE_VOLATILE": "x"}
    with pytest.raises(UsageError) as caught:
        config("", variables, pace="fast", connect_to=["a"])
    assert str(caught.value).splitlines() == [
        "WIRETAPE_PAEC: there is no such setting; did you mean WIRETAPE_PACE?",
        "WIRETAPE_ZZZ: there is no such setting; `replay doctor` lists those that there are",
        'WIRETAPE_PORT: expected a port from 0 to 65535, got "many"',
        "WIRETAPE_VOLATILE: there is no such setting; `replay doctor` lists those that there are",
        '--pace: expected instant, recorded, or a factor from 0 to 1000, got "fast"',
        '--connect-to: expected HOST:PORT:ADDRESS:PORT, IPv6 in brackets, got "a"',
    ]


def test_it_puts_what_a_scenario_says_between_the_file_and_the_variables(config, scenario):
    toml = '[match]\nlevel = "canonical"\npace = "recorded"\nvolatile = [{query = "t"}]\n'
    said = scenario("match: {level: exact, pace: 0.5, strict: true, volatile: [{header: h}]}")
    over_file = config(toml).match_settings(said)
    assert (over_file.level, over_file.pace, over_file.strict) == (Level.EXACT, 0.5, True)
    assert over_file.volatile == (Volatile(query="t"), Volatile(header="h"))
    under_flags = config(toml, {"WIRETAPE_STRICT": "no"}, match="normalised", pace="2").match_settings(said)
    assert (under_flags.level, under_flags.pace, under_flags.strict) == (Level.NORMALISED, 2.0, False)
    assert isinstance(under_flags.level, Level)


def test_it_adds_a_scenarios_hosts_and_secrets(config, scenario):
    said = scenario("capture: {ignore: [b], redact: [{env: KEY}]}")
    made = config('ignore = ["a"]\nredact = "strict"')
    assert made.capture_settings(said).ignore == ("a", "b")
    assert made.redact_settings(said).model_dump(include={"mode", "rules"}) == {
        "mode": "strict",
        "rules": (RedactRule(env="KEY").model_dump(),),
    }


def test_it_wants_drift_to_be_allowed_for_the_level_sequence(config, scenario):
    for made, said in ((config(match="sequence"), None), (config(), scenario("match: {level: sequence}"))):
        with pytest.raises(UsageError, match="needs --allow-drift"):
            made.match_settings(said)
    assert config(match="sequence", allow_drift=True).match_settings().level is Level.SEQUENCE


def test_it_refuses_mocks_where_the_environment_does(config, scenario):
    made = config("[environment.prod]\nmocks = false\n[environment.dev]\n")
    mocked = "mocks: [{id: m}]\nenvironment: "
    assert made.environment_of(scenario(mocked + "dev")).mocks
    assert made.environment_of(scenario("mocks: [{id: m}]")).mocks
    assert not made.environment_of(scenario("environment: prod")).mocks
    with pytest.raises(UsageError, match="x: the environment 'prod' refuses mocks"):
        made.environment_of(scenario(mocked + "prod"))
    with pytest.raises(UsageError, match=r"there is no environment 'prd' in wiretape\.toml; did you mean prod\?"):
        made.environment_of(scenario("environment: prd"))


def test_it_shows_values_with_their_origin_but_no_passwords(config):
    shown = [
        str(each) for each in config('[upstream]\nshop = "https://me:hush@shop.test/v1"\n', {"WIRETAPE_PORT": "9"}).effective()
    ]
    assert "port = 9 (WIRETAPE_PORT)" in shown
    assert 'upstream = {"shop": "https://me:…@shop.test/v1"} (wiretape.toml:1)' in shown
    assert 'match = "rebound" (default)' in shown
    assert not any("hush" in line for line in shown)


def test_it_says_that_the_file_cannot_be_read(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        load_config(tmp_path)
