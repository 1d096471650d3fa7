"""Arguments against a JSON Schema that came with a recording, and so from a stranger.

Nothing is fetched: a `$ref` to another document cannot be judged. Work is bounded: a schema whose references multiply (each
of thirty naming the next one twice) cannot be judged either, nor a pattern on which Python's backtracking could run for
hours. What cannot be judged says why; it never passes and never fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from wiretape.oracles.base import short
from wiretape.traces.types import Json

__all__ = ["CannotJudge", "problems"]

_APPLIED = 300_000
"""How many keywords one validation may apply; a large tool call takes some hundred."""
_TRIES = 10**9
"""How many ways one pattern may have to be tried on one text, at worst (some seconds)."""
_WITH_PATTERNS = {"pattern", "patternProperties", "additionalProperties", "unevaluatedProperties"}

type Keyword = Callable[[Any, Any, Any, Any], Any]


class CannotJudge(Exception):
    """Why this schema says nothing about these arguments."""


def problems(schema: Json, arguments: Json) -> tuple[str, ...]:
    """What is wrong with the arguments, a sentence each, nearest to the root first; () if nothing. Raises CannotJudge.

    The draft is the one that `$schema` names; without it 2020-12, as MCP has it (and the subset that model providers take
    means the same in every draft).
    """
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        _one_draft(schema)
        errors = sorted(_bounded(kind)(schema, registry=Registry()).iter_errors(arguments), key=lambda error: len(error.path))
    except SchemaError as error:
        raise CannotJudge(f"it is not a valid JSON Schema ({error.json_path}: {error.message[:120]})") from error
    except Unresolvable as error:
        raise CannotJudge(f"it refers to {short(str(error.ref), 80)}, which is not part of it") from error
    except (RecursionError, re.error, TypeError, ValueError) as error:
        raise CannotJudge(f"it cannot be followed to its end ({type(error).__name__}: {str(error)[:80]})") from error
    return tuple(f"{error.json_path}: {error.message[:160]}" for error in errors)


def _one_draft(schema: Json) -> None:
    """A subschema with a `$schema` of its own would leave the bounds; no specification lets it without an `$id`."""
    waiting = list(_inner(schema))
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and isinstance(value.get("$schema"), str):
            raise CannotJudge("it changes its draft within")
        waiting.extend(_inner(value))


def _inner(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _bounded(kind: type[Validator]) -> Callable[..., Validator]:
    """The same draft with each applied keyword counted, and each pattern looked at before it is tried."""
    left = iter(range(_APPLIED))

    def bound(name: str, keyword: Keyword) -> Keyword:
        def apply(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            if next(left, None) is None:
                raise CannotJudge(f"judging it takes more than {_APPLIED} steps")
            if name in _WITH_PATTERNS:
                _look_at_patterns(schema, instance)
            return keyword(validator, value, instance, schema)

        return apply

    own = cast("dict[str, Keyword]", kind.VALIDATORS)
    bounded = extend(kind, {name: bound(name, keyword) for name, keyword in own.items()})  # type: ignore[no-untyped-call]  # the stubs leave it untyped
    return cast("Callable[..., Validator]", bounded)


def _look_at_patterns(schema: dict[str, Json], instance: Json) -> None:
    if isinstance(instance, str) and "pattern" in schema:
        _affordable(schema["pattern"], instance)
    elif isinstance(instance, dict):
        for pattern in schema.get("patternProperties", ()):
            for name in instance:
                _affordable(pattern, name)


def _affordable(pattern: str, text: str) -> None:
    """Raises CannotJudge where trying the pattern could take more than _TRIES.

    A repeat within a repeat, `(a+)*`, can be split in as many ways as there are subsets; repeats in a row, `a*b*c*`, in
    length to the power of their number; and a pattern without an anchor is tried at each place.
    """
    nested, repeats = _shape(pattern)
    tries = 2 ** min(len(text), 64) if nested else 0
    tries += max(len(text), 1) ** min(repeats + (not pattern.startswith("^")), 64)
    if tries > _TRIES:
        raise CannotJudge(f"its pattern {short(pattern, 60)} could take hours on a text of {len(text)} characters")


def _shape(pattern: str) -> tuple[bool, int]:
    """(whether a repeated group holds a repeat or a choice, how many repeats there are); `?` and `{3}` repeat nothing."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)\}", "x", pattern, flags=re.DOTALL)
    variable, nested, repeats = [False], False, 0
    for token in re.finditer(r"(\()|(\)?[*+{])|(\))|(\|)", plain):
        opens, repeat, closes, choice = token.groups()
        if opens:
            variable.append(False)
            continue
        if choice:
            variable[-1] = True
        if closes or (repeat and repeat[0] == ")"):
            inner = variable.pop() if len(variable) > 1 else False
            nested = nested or bool(repeat and inner)
            variable[-1] = variable[-1] or inner
        if repeat:
            variable[-1] = True
            repeats += 1
    return nested, repeats
