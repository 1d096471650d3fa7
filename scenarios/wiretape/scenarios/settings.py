"""Every setting there is: its name, how it is written, its default, and what it does. The docs are tested against this table.

The name is the option's (`--fail-on` is `fail_on`, and the variable WIRETAPE_FAIL_ON). `keys` are its places in wiretape.toml,
the first one the documented one. What a single command is asked for once (--update, --save, --json, --yes-store-secrets …) is
no setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wiretape.scenarios import kinds
from wiretape.scenarios.kinds import Kind, choice
from wiretape.traces.settings import Exhausted, Level

__all__ = ["BY_KEY", "BY_NAME", "BY_VARIABLE", "OWN_VARIABLES", "SETTINGS", "TABLES", "Setting"]


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    kind: Kind
    default: Any
    """As the kind reads it."""
    doc: str
    keys: tuple[str, ...]
    file_only: bool = False
    """There is neither an option nor a variable."""

    @property
    def variable(self) -> str | None:
        return None if self.file_only else f"WIRETAPE_{self.name.upper()}"

    @property
    def option(self) -> str | None:
        return None if self.file_only else f"--{self.name.replace('_', '-')}"


def _top(name: str, kind: Kind, default: Any, doc: str) -> Setting:
    return Setting(name, kind, default, doc, (name,))


def _in(table: str, name: str, kind: Kind, default: Any, doc: str) -> Setting:
    """At the top of the file as well: there every option is what its name says."""
    return Setting(name, kind, default, doc, (f"{table}.{name}", name))


SETTINGS: tuple[Setting, ...] = (
    _top("dir", kinds.TEXT, "recordings", "Where `record` puts recordings, and where every command looks names up."),
    _top("label", kinds.LABELS, {}, "Labels that `record` keeps with a recording."),
    _top("quiet", kinds.SWITCH, False, "Say only what went wrong."),
    _top("verbose", kinds.SWITCH, False, "Say more about what happens."),
    _top("no_color", kinds.SWITCH, False, "No colour, also on a terminal."),
    _top("port", kinds.PORT, 8080, "The port of `proxy`: forward proxy and gateway; 0 takes a free one."),
    _top("control_port", kinds.PORT, 0, "The port of the control API of `proxy`; 0 takes a free one."),
    _top("mode", choice("record", "replay", "passthrough"), "record", "What `proxy` does."),
    _top("store", kinds.TEXT, None, "What `proxy` records to or replays from."),
    _top("ca_dir", kinds.TEXT, None, "Where `proxy` keeps its certificate authority; a new one a run where absent."),
    _top("token_file", kinds.TEXT, None, "The control API's token: read where the file exists, else written."),
    _top("ready_file", kinds.TEXT, None, "Written by `proxy` once every port listens."),
    _top("rules", kinds.TEXT, None, "The file of mock rules that `proxy` begins with."),
    _top("persist_rules", kinds.SWITCH, False, "Write changes of the rules into the file of `--rules`."),
    _top("no_mocks", kinds.SWITCH, False, "Refuse mock rules, and changes of them."),
    _in("capture", "upstream", kinds.UPSTREAMS, {}, "Gateway names and the addresses that they stand for."),
    _in("capture", "connect_to", kinds.CONNECTS, (), "`HOST:PORT:ADDRESS:PORT`: dial another address, as curl does."),
    _in("capture", "upstream_ca", kinds.TEXT, None, "A PEM file of more roots to verify upstreams by."),
    _in("capture", "insecure_upstream", kinds.HOSTS, (), "Hosts whose certificates are not verified."),
    _in("capture", "ignore", kinds.HOSTS, (), "Hosts that are passed through unrecorded."),
    _in("capture", "noise", kinds.HOSTS, (), "Hosts set aside as background traffic, no part of the trace."),
    _in("capture", "allow_host", kinds.HOSTS, (), "Where given, every other host is refused."),
    _in("capture", "deny_host", kinds.HOSTS, (), "Hosts that are refused."),
    Setting(
        "match",
        choice(*Level),
        "rebound",
        "The loosest level of match that answers.",
        ("match.level", "match"),
    ),
    _in("match", "strict", kinds.SWITCH, False, "Recorded exchanges that a run did not use fail it."),
    _in("match", "pace", kinds.PACE, 0.0, "How fast recorded answers come: at once, as recorded, or a factor."),
    _in("match", "exhausted", choice(*Exhausted), "error", "What happens when all answers to a request are given."),
    _in("match", "serve_partial", kinds.SWITCH, False, "Answer from interrupted exchanges too."),
    _in("match", "allow_drift", kinds.SWITCH, False, "Let the level `sequence` answer changed requests."),
    Setting(
        "volatile",
        kinds.VOLATILES,
        (),
        "Request fields that vary between runs.",
        ("match.volatile",),
        file_only=True,
    ),
    Setting("redact", choice("strict", "default", "off"), "default", "How much is redacted.", ("redact.mode", "redact")),
    Setting(
        "redact_rules", kinds.REDACTIONS, (), "Headers, JSON paths and variables that are secrets.", ("redact.rules",), True
    ),
    _in(
        "gates",
        "fail_on",
        choice("any", "low", "medium", "high", "critical"),
        "high",
        "The least risk at which a failed oracle turns `check` red.",
    ),
    _in("gates", "allow_unasserted", kinds.SWITCH, False, "Let recordings pass `check` that no oracle judges."),
    Setting("environment", kinds.ENVIRONMENTS, {}, "Places where scenarios run.", ("environment",), file_only=True),
    Setting("prices", kinds.PRICES, {}, "Model → money for a million tokens.", ("prices",), file_only=True),
    Setting("oracles", kinds.FUNCTIONS, {}, "Oracles of your own: name → `file.py:function`.", ("oracles",), file_only=True),
)

TABLES = frozenset(key.split(".")[0] for setting in SETTINGS for key in setting.keys if "." in key)
"""Tables whose entries are settings; the others are one setting as a whole."""

BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}
BY_KEY: Mapping[str, Setting] = {key: setting for setting in SETTINGS for key in setting.keys}
BY_VARIABLE: Mapping[str, Setting] = {setting.variable: setting for setting in SETTINGS if setting.variable}

OWN_VARIABLES = frozenset({"WIRETAPE_EVENTS", "WIRETAPE_RUN"})
"""What we set for a child: no settings, and no mistakes."""
