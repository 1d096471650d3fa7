"""The rule book: which rule a request meets, in order, and how often each has answered. Changed while the sidecar runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from wiretape.proxy.faults import Fault, in_order
from wiretape.proxy.rules.model import Answer, Case, Rule, RuleFile
from wiretape.proxy.rules.subject import Subject, Where
from wiretape.traces.errors import UsageError

__all__ = ["NoSuchRule", "RuleBook", "RuleExists", "Switch", "Touch"]


class NoSuchRule(UsageError):
    code = "not_found"


class RuleExists(UsageError):
    code = "conflict"


class Switch(StrEnum):
    ON = "on"
    OFF = "off"
    TOGGLE = "toggle"


_SWITCHED: Mapping[tuple[bool, Switch], bool] = {
    (False, Switch.ON): True,
    (False, Switch.OFF): False,
    (False, Switch.TOGGLE): True,
    (True, Switch.ON): True,
    (True, Switch.OFF): False,
    (True, Switch.TOGGLE): False,
}
"""(enabled, what is asked for) → enabled."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What a rule does to one request."""

    rule: Rule
    subject: Subject
    answer: Answer | None
    """Its sequence is resolved; None: the recorded or live answer."""
    faults: tuple[Fault, ...]
    """Those that happen this time, in their order."""
    failure: str | None
    """Why it fails instead: the sentence."""
    seed: str
    """Of chance in this one answer."""

    def failed(self, about: str) -> Touch:
        """The same, refused for want of `allow_write`; `about` is the tool, and what is known of it."""
        sentence = f"the rule {self.rule.id} is about {about}: add `allow_write: true`"
        return replace(self, answer=None, faults=(), failure=sentence)


class RuleBook:
    """`scenario` is the one that this sidecar runs, for rules of its scope."""

    def __init__(self, file: RuleFile | None = None, *, scenario: str = "") -> None:
        self.seed = file.seed if file else 0
        self._rules = {rule.id: rule for rule in (file.rules if file else ())}
        self._scenario = scenario
        self.version = 0
        """Grows with each change."""
        self._uses: dict[str, Counter[tuple[str, str]]] = {id: Counter() for id in self._rules}
        """Rule → (session, request key) → how often it was the one."""

    # asking

    def enabled(self, *places: Where) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules.values() if rule.enabled and rule.where in places)

    def ask(self, subjects: Mapping[Where, Subject], session: str, key: str) -> Touch | None:
        """What the first rule does that matches, whose conditions hold and whose turn it is. `key`: the request's identity."""
        for rule in self.enabled(*subjects):
            subject = subjects[rule.where]
            if not (rule.covers(session, self._scenario) and subject.fits(rule.match.given)):
                continue
            case = _case(rule, subject)
            if case is None and rule.otherwise == "fail":
                return Touch(rule, subject, None, (), _unmet(rule, subject), "")
            case = case or (rule.own if rule.otherwise == "answer" else None)
            if case and (touch := self._turn(rule, subject, case, session, key)):
                return touch
        return None

    def _turn(self, rule: Rule, subject: Subject, case: Case, session: str, key: str) -> Touch | None:
        """None where the rule stands aside: before its first turn, or after its last."""
        uses = self._uses[rule.id]
        uses[session, key] += 1
        turn = uses[session, key] - rule.skip
        if turn < 1 or (rule.times is not None and turn > rule.times):
            return None
        seed = f"{self.seed}:{rule.id}:{session}:{key}:{turn}"
        faults = tuple(fault for fault in in_order(case.faults) if fault.fires(Random(f"{seed}:fires")))  # noqa: S311
        sequence = case.answer.sequence if case.answer else None
        if case.answer is None or sequence is None:
            return Touch(rule, subject, case.answer, faults, None, seed)
        if turn > len(sequence) and case.answer.then == "pass":
            return None
        if turn > len(sequence) and case.answer.then == "fail":
            return Touch(rule, subject, None, (), f"the rule {rule.id} has given its {len(sequence)} answers", seed)
        return Touch(rule, subject, sequence[(turn - 1) % len(sequence)], faults, None, seed)

    # looking and changing

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self._rules.values())

    @property
    def file(self) -> RuleFile:
        return RuleFile(seed=self.seed, rules=self.rules)

    def holds(self, rule: Rule) -> bool:
        """Whether this very rule is on."""
        return rule.enabled and self._rules.get(rule.id) == rule

    def answered(self, id: str) -> int:
        return self._uses[self.get(id).id].total()

    def get(self, id: str) -> Rule:
        if id not in self._rules:
            raise NoSuchRule(f"there is no rule {id}; there are {', '.join(self._rules) or 'none'}.")
        return self._rules[id]

    def add(self, rule: Rule) -> Rule:
        if rule.id in self._rules:
            raise RuleExists(f"there is a rule {rule.id} already; change it, or choose another id.")
        return self._put(rule)

    def replace(self, id: str, rule: Rule) -> Rule:
        if rule.id != self.get(id).id:
            raise UsageError(f"expected the id {id}, got {rule.id}: a rule keeps its id.")
        return self._put(rule)

    def switch(self, id: str, how: Switch) -> Rule:
        rule = self.get(id)
        return self._put(rule.model_copy(update={"enabled": _SWITCHED[rule.enabled, how]}))

    def remove(self, id: str) -> None:
        del self._rules[self.get(id).id], self._uses[id]
        self.version += 1

    def order(self, ids: Sequence[str]) -> None:
        if sorted(ids) != sorted(self._rules):
            raise UsageError(f"expected each of {', '.join(self._rules)} once, got {', '.join(ids) or 'none'}.")
        self._rules = {id: self._rules[id] for id in ids}
        self.version += 1

    def _put(self, rule: Rule) -> Rule:
        """Its counts begin at 0 where it is new, turned on or changed; turned off it keeps them, to be looked at."""
        before = self._rules.get(rule.id)
        turned_off = before and before.model_copy(update={"enabled": False})
        if rule not in (before, turned_off):
            self._uses[rule.id] = Counter()
        self._rules[rule.id] = rule
        self.version += 1
        return rule


def _case(rule: Rule, subject: Subject) -> Case | None:
    """The one that answers; None where conditions do not hold."""
    if not all(condition.holds(subject) for condition in rule.when):
        return None
    if not rule.cases:
        return rule.own
    return next((case for case in rule.cases if all(each.holds(subject) for each in case.when)), None)


def _unmet(rule: Rule, subject: Subject) -> str:
    """The conditions that failed: the rule's own, else those of the case that came nearest."""
    told = [(_failed(case, subject), len(case.when)) for case in rule.cases]
    failed = _failed(rule, subject) or min(told, key=lambda each: (len(each[0]), -each[1]))[0]
    return f"no condition of the rule {rule.id} holds; nearest: {'; '.join(failed)}"


def _failed(case: Case, subject: Subject) -> list[str]:
    return [condition.told(subject) for condition in case.when if not condition.holds(subject)]
