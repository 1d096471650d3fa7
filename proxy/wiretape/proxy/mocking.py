"""Mock rules at work: which rule a request meets, and the plan of the answer that the client gets for it.

The same for both halves of the sidecar: what they differ in, where an untouched answer comes from, is a callable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from wiretape.proxy.capture import Live
from wiretape.proxy.faults.base import Occasion
from wiretape.proxy.framing import Ending, Framing, Plan, answered
from wiretape.proxy.prompts import Prompts
from wiretape.proxy.route import Route
from wiretape.proxy.rules.answers import patched, respond
from wiretape.proxy.rules.book import RuleBook, Touch
from wiretape.proxy.rules.model import RuleFile
from wiretape.proxy.rules.placeholders import Setting
from wiretape.proxy.rules.reading import save_rules
from wiretape.proxy.rules.subject import Subject, Where, base_names, subjects_of
from wiretape.proxy.rules.tools import Tools
from wiretape.traces import codings
from wiretape.traces.decoders import decode, detect, error_response
from wiretape.traces.decoders.requests import body_of
from wiretape.traces.errors import UsageError
from wiretape.traces.fingerprint import fingerprint
from wiretape.traces.redact import Redactor
from wiretape.traces.types import Exchange, Headers, McpView, Request, Response

__all__ = ["Asked", "MockSettings", "Mocks", "MocksRefused", "marks_of"]

_FAILED = 422
"""As a miss: nothing to be tried again."""
_NOTHING = Plan(200, "", (), Framing.NONE, (), Ending.WHOLE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that a rule touches."""

    touch: Touch
    request: Request
    """Its body without content coding."""


class MocksRefused(UsageError):
    code = "mocks_refused"


@dataclass(frozen=True)
class MockSettings:
    file: RuleFile = field(default_factory=RuleFile)
    path: Path | None = None
    """Of the rule file: files that answers name lie beside it."""
    persist: bool = False
    """Changes are written into it."""
    allowed: bool = True
    """False: there are no rules here, and nobody may add any."""
    scenario: str = ""
    """The one that is run, for rules of its scope."""
    run: str = ""
    """What `{{run}}` stands for."""


class Mocks:
    def __init__(self, settings: MockSettings, redactor: Redactor) -> None:
        self.settings = settings
        self.book = RuleBook(settings.file, scenario=settings.scenario)
        self.tools = Tools()
        self._redactor = redactor
        self._prompts = Prompts(self.book, self._setting, self.read, lambda tool: not self.tools.is_read_only(tool))

    def may_touch(self, head: Request, upstream: str | None) -> bool:
        """Whether the rest of the request has to be known: what rules there are may be about it."""
        rules = self.book.enabled(*Where)
        names = Subject(base_names(head, upstream) if rules else {})
        for rule in rules:
            about = {key: value for key, value in rule.match.given.items() if key in names.names}
            if names.fits(about) and (rule.where is Where.HTTP or head.method == "POST"):
                return True
        return False

    def ask(self, route: Route, request: Request) -> Asked | None:
        """What a rule does to this request; its turn is counted."""
        if not self.book.enabled(Where.HTTP, Where.MCP, Where.MODEL):
            return None
        plain = _plain(request)
        subjects = subjects_of(plain, route.upstream, self.tools.servers(plain))
        key = fingerprint(self._redactor.request(request)).canonical
        touch = self.book.ask(subjects, route.session, key)
        if touch is None or not (touch.answer or touch.faults or touch.failure):
            return None
        return Asked(self._permitted(touch, plain), plain)

    def rewrite(self, route: Route, request: Request, live: Live) -> bytes | Asked | None:
        """What goes to the model instead of this body, where rules replace results in it; each is noted in the recording."""
        plain = _plain(request)
        made = self._prompts.rewrite(plain, base_names(plain, route.upstream), route.session)
        if isinstance(made, Touch):
            return Asked(made, plain)
        if made is None:
            return None
        for call_id, rule in made.replaced:
            live.replaced(route.session, call_id, rule)
        return made.body

    def _permitted(self, touch: Touch, request: Request) -> Touch:
        """A tool that is not declared read-only is mocked only with `allow_write`: anything else fails, and says so."""
        rule = touch.rule
        if rule.where is not Where.MCP or rule.allow_write or self.tools.read_only(request):
            return touch
        tool = touch.subject.names["tool"][0]
        return touch.failed(f"{tool}, which its server does not declare read-only")

    def refuse_changes(self) -> None:
        """Raises MocksRefused where nobody may add rules."""
        if not self.settings.allowed:
            raise MocksRefused("this sidecar was started with --no-mocks: rules cannot be added or changed here.")

    def save(self) -> None:
        """Into the rule file, where changes are to be kept."""
        if self.settings.persist and self.settings.path:
            save_rules(self.settings.path, self.book.file)

    def watches(self, request: Request) -> bool:
        """Whether the answer will say what an MCP server is and what tools it has: a rule may ask for it later."""
        message = body_of(_plain(request))
        return isinstance(message, dict) and message.get("method") in ("initialize", "tools/list")

    def saw(self, exchange: Exchange) -> None:
        """Learn from an answer that passed unaltered what an MCP server says of its tools."""
        response = exchange.response
        if response is None or detect(exchange.request) != "mcp":
            return
        view = decode(exchange, codings.undo(response.body, response.headers) or b"")
        if isinstance(view, McpView):
            self.tools.saw(exchange.request, view)

    async def plan(self, asked: Asked, base: Callable[[], Awaitable[Plan]], pause: Callable[[float], Awaitable[None]]) -> Plan:
        """The answer with all that the rule does to it. `base` is the answer without the rule, asked for at most once."""
        touch, rule, request, setting = asked.touch, asked.touch.rule, asked.request, self._setting(asked.touch)
        occasion = Occasion(rule.id, request, detect(request), str(rule.where), setting.chance, setting.now)
        if touch.failure:
            return _failed(touch.failure, occasion)
        if seconds := sum(fault.before(occasion) for fault in touch.faults):
            await pause(seconds)
        try:
            plan = await self._answer(touch, occasion, setting, base)
        except (ValueError, OSError) as error:
            return _failed(f"the rule {rule.id} cannot answer: {error}", occasion)
        for fault in touch.faults:
            plan = fault.apply(plan, occasion)
        return plan

    async def _answer(self, touch: Touch, occasion: Occasion, setting: Setting, base: Callable[[], Awaitable[Plan]]) -> Plan:
        if any(fault.answers for fault in touch.faults):
            return _NOTHING
        if touch.answer is None or not touch.answer.said:
            return await base()
        if "patch" in touch.answer.said:
            return patched(await base(), touch.answer, occasion, setting)
        return respond(touch.answer, occasion, setting, self.read)

    def _setting(self, touch: Touch) -> Setting:
        return Setting(touch.subject, datetime.now(UTC), Random(touch.seed), self.settings.run)  # noqa: S311  # no secret

    def read(self, name: str) -> bytes:
        """A file beside the rule file. Raises ValueError where it is elsewhere, OSError where it is not there."""
        if self.settings.path is None:
            raise ValueError(f"the file {name} is beside no rule file: start the sidecar with --rules")
        folder = self.settings.path.parent.resolve()
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise ValueError(f"the file {name} is not beside the rule file")
        return path.read_bytes()


def marks_of(asked: Asked) -> Headers:
    return (("x-replay-source", "mocked"), ("x-replay-rule", asked.touch.rule.id))


def _failed(sentence: str, occasion: Occasion) -> Plan:
    content_type, body = error_response(occasion.api, _FAILED, sentence, "mock_rule_failed", occasion.request)
    headers = (("Content-Type", content_type), ("x-should-retry", "false"))
    return replace(answered(Response(_FAILED, headers, body), occasion.request), failure=sentence)


def _plain(request: Request) -> Request:
    body = codings.undo(request.body, request.headers) if request.body else request.body
    return request if body is None else replace(request, body=body)
