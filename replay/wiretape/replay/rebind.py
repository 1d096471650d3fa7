"""Whether a live request is a recorded one but for fresh values: both unified, each value bound once and for the whole run.

Pure: `unify` gives what has to be bound besides, or the place that differs. What is no fresh value has to be equal. JSON is
compared by its structure and types, texts by their tokens, JSON in texts as the one or the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from wiretape.replay.bindings import Binding, Bindings
from wiretape.replay.paths import NOWHERE, Places, pairings
from wiretape.replay.times import Moment, dates_in, in_form_of
from wiretape.replay.tokens import SEALED, Token, number_token, same_shape, text_at, tokens
from wiretape.traces.canonical import NotJson, Number, body_tree, parse, query_pairs, url_place
from wiretape.traces.secrets import MARK, PLACEHOLDER
from wiretape.traces.types import Json, Message, Request

__all__ = ["Run", "Unified", "unify", "unify_messages"]

_PLACEHOLDER = re.compile(PLACEHOLDER.pattern.decode())


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of the two runs: when each made its request, and where the live one is."""

    recorded: Moment
    live: Moment | None = None
    places: Places = NOWHERE


@dataclass(frozen=True, slots=True)
class Unified:
    bindings: Bindings
    """All there are now."""
    used: tuple[Binding, ...]
    """Those by which the two are equal."""


def unify(recorded: Request, live: Request, bindings: Bindings, run: Run) -> Unified | str:
    """What makes these two equal besides `bindings`; else the place that differs, as in `differences`."""
    unifier = _Unifier(bindings, run)
    try:
        unifier.requests(recorded, live)
        return unifier.settled()
    except _Differs as differs:
        return differs.place
    except RecursionError:
        return "body"


def unify_messages(recorded: Message, live: Message, bindings: Bindings, run: Run) -> Unified | str:
    """The same for what a client says on a socket."""
    if recorded.type != live.type or recorded.type != "text":
        return "type"
    pair = (Request("TEXT", "message://", (), each.data) for each in (recorded, live))
    return unify(next(pair), next(pair), bindings, run)


class _Differs(Exception):  # no error: an answer
    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.place = place


class _Unifier:
    def __init__(self, bindings: Bindings, run: Run) -> None:
        self._bindings = bindings
        self._run = run
        self._used: list[Binding] = []
        self._same: list[tuple[str, str]] = []
        """(place, text) of what is equal on both sides: what is bound to another value may not stand in it."""

    def settled(self) -> Unified:
        for place, text in self._same:
            if any(tokens(text, self._moved)):
                raise _Differs(place)
        used = (each for each in dict.fromkeys(self._used) if each.recorded != each.live and self._bindings.knows(each))
        return Unified(self._bindings, tuple(used))

    def _moved(self, token: Token) -> bool:
        """Whether this value stays what it is here and stands for another, or another for it, elsewhere."""
        if token.kind in ("path", "time"):
            return False
        return not self._bindings.agrees(Binding(token.kind, token.value, token.value))

    # requests

    def requests(self, recorded: Request, live: Request) -> None:
        if recorded.method != live.method:
            raise _Differs("method")
        self._urls(recorded.url, live.url)
        if recorded.body is None or live.body is None:
            if recorded.body is not live.body:
                raise _Differs("body")
            return
        old, new = body_tree(recorded), _tree(live)
        if isinstance(old, bytes) and isinstance(new, bytes):
            self._texts(old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape"), "body")
        elif isinstance(old, bytes) or isinstance(new, bytes):
            raise _Differs("body")
        else:
            self._trees(old, new, "$")

    def _urls(self, recorded: str, live: str) -> None:
        self._texts(unquote(url_place(recorded)), unquote(url_place(live)), "url")
        before, after = (sorted(query_pairs(each)) for each in (recorded, live))
        if [name for name, _ in before] != [name for name, _ in after]:
            raise _Differs("query")
        for (name, value), (_, other) in zip(before, after, strict=True):
            self._texts(unquote(value), unquote(other), f"query.{name}")

    # JSON

    def _trees(self, old: Json, new: Json, place: str, name: str = "") -> None:
        if isinstance(old, dict) and isinstance(new, dict):
            self._objects(old, new, place)
        elif isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                raise _Differs(f"{place}[{min(len(old), len(new))}]")
            for at, (before, after) in enumerate(zip(old, new, strict=True)):
                self._trees(before, after, f"{place}[{at}]", name)
        elif type(old) is not type(new):
            raise _Differs(place)
        elif isinstance(old, Number):
            self._numbers(_decimal(old), _decimal(new), place, name)
        elif isinstance(old, str):
            self._strings(old, new, place, name)
        elif old != new:
            raise _Differs(place)

    def _objects(self, old: dict[str, Json], new: dict[str, Json], place: str) -> None:
        if old.keys() != new.keys():
            raise _Differs(f"{place}.{min(old.keys() ^ new.keys())}")
        sealed = "data" in old and (
            old.get("type") == "redacted_thinking" or {"media_type", "mimeType", "mime_type"} & old.keys()
        )
        for name, value in old.items():
            self._trees(value, new[name], f"{place}.{name}", "signature" if sealed and name == "data" else name)

    def _numbers(self, old: str, new: str, place: str, name: str) -> None:
        if old == new:
            return
        token = number_token(name, old)
        if token is None or number_token(name, new) is None or name in SEALED:
            raise _Differs(place)
        self._pair(token, new, place)

    def _strings(self, old: str, new: str, place: str, name: str) -> None:
        if name not in SEALED:
            self._texts(old, new, place)
        elif _PLACEHOLDER.sub(MARK, old) != _PLACEHOLDER.sub(MARK, new):
            raise _Differs(place)

    # texts

    def _texts(self, old: str, new: str, place: str, *, paths: bool = True) -> None:
        """Equal between the tokens of the recorded one, and a live token of the kind for each of these; secrets are equal."""
        old, new = (_PLACEHOLDER.sub(MARK, each) for each in (old, new))
        if old == new:
            self._same.append((place, old))
            return
        before = self._bindings
        try:
            self._tokens(old, new, place, paths=paths)
        except _Differs:
            trees = _structures(old, new)
            if trees is None:
                raise
            self._bindings = before
            self._trees(*trees, place)

    def _tokens(self, old: str, new: str, place: str, *, paths: bool) -> None:
        at = shift = 0
        for token in tokens(old, self._fresh, paths=paths):
            start = token.start + shift
            if new[at + shift : start] != old[at : token.start]:
                raise _Differs(place)
            live = text_at(new, start, token)
            self._pair(token, live, place, old[token.start : token.end])
            at, shift = token.end, start + len(live) - token.end
        if new[at + shift :] != old[at:]:
            raise _Differs(place)

    def _fresh(self, token: Token) -> bool:
        """Whether the recorded run may have made this value itself."""
        if self._bindings.live(token.kind, token.value) is not None:
            return True
        if token.kind == "date":
            return token.value in self._run.recorded.days
        return token.kind != "time" or self._run.recorded.near(token.value)

    def _pair(self, token: Token, live: str, place: str, recorded: str = "") -> None:
        """`recorded` is the token as it is written; a day has its form besides."""
        if token.kind == "path":
            self._paths(token.value, live, place)
            return
        value = _day(live, recorded) if token.kind == "date" else live
        binding = Binding(token.kind, token.value, value)
        if not self._bindings.knows(binding) and not self._may(binding):
            raise _Differs(place)
        self._bind(binding, place)

    def _may(self, binding: Binding) -> bool:
        """Whether the live value may be what the recorded one became."""
        if binding.recorded == binding.live:
            return True
        if binding.kind == "time":
            return self._run.live is None or self._run.live.near(binding.live)
        return bool(binding.live) and (binding.kind != "id" or same_shape(binding.recorded, binding.live))

    def _bind(self, binding: Binding, place: str) -> None:
        if not self._bindings.agrees(binding):
            raise _Differs(place)
        self._used.append(binding)
        if not self._bindings.knows(binding):
            self._bindings = self._bindings.plus((binding,))

    def _paths(self, old: str, new: str, place: str) -> None:
        """By the directories that they lie in; where none of these is of its run alone, as the text that they are."""
        if old == new:
            return
        before = self._bindings
        for one, other in self._directories(old, new):
            try:
                self._bind(Binding("path", one, other), place)
                self._texts(old[len(one) :], new[len(other) :], place, paths=False)
            except _Differs:
                self._bindings = before
            else:
                return
        self._texts(old, new, place, paths=False)

    def _directories(self, old: str, new: str) -> Iterator[tuple[str, str]]:
        if known := self._bindings.directory(old):
            if f"{new}/".startswith(f"{known[1]}/"):
                yield known
            return
        yield from pairings(old, new, self._run.places)


def _decimal(number: str) -> str:
    """A number's one spelling (digits and a power of ten) as programs write it, where it is a fraction."""
    digits, _, power = number.partition("E-")
    return f"{digits[: -int(power)]}.{digits[-int(power) :]}" if power and int(power) < len(digits.lstrip("-")) else number


def _day(live: str, recorded: str) -> str:
    """The live day; none where it is written in another form than the recorded one."""
    return next((day for _, day in dates_in(live) if in_form_of(recorded, day) == live), "")


@lru_cache(maxsize=4)
def _tree(request: Request) -> Json | bytes:
    """Of the live one, which is compared with many."""
    return body_tree(request)


def _structures(old: str, new: str) -> tuple[Json, Json] | None:
    if old.lstrip()[:1] not in ("{", "[") or not old.lstrip():
        return None
    try:
        return parse(old), parse(new)
    except NotJson:
        return None
