"""pydantic's findings → one sentence each: what was expected, what came, and which known name is nearest.

`complaints` says what does not fit a model; places in it are those of the file, since the tags and branches that pydantic
writes into its own are taken out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAliasType, get_args, get_origin

from pydantic import BaseModel, ValidationError

from wiretape.traces.parts import Misfit, Misfits
from wiretape.traces.tree import Place
from wiretape.traces.types import Json

__all__ = ["complaints", "described", "models_in", "nearest"]


def complaints(model: type[BaseModel], value: Json, error: ValidationError) -> Iterator[Misfit]:
    """One misfit a finding, places from the top of `value`."""
    for found in error.errors(include_url=False):
        if _hollow(found):
            continue
        place = _place(value, found["loc"], found["type"])
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, Misfits):
            yield from (Misfit(misfit.problem, place + misfit.place) for misfit in cause.found)
        else:
            yield Misfit(_sentence(found, _known(model, place[:-1])), place)


def _hollow(found: Any) -> bool:
    """A tuple whose entries do not fit is called too short as well."""
    return bool(found["type"] == "too_short" and len(found["input"]) >= found["ctx"]["min_length"])


def described(value: Json) -> str:
    """`the number 5`, `"text"`, `a list`: what came, short."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 60 else value[:59] + "…", ensure_ascii=False)
    kind = "mapping" if isinstance(value, Mapping) else "list"
    return f"a {kind}" if value else f"an empty {kind}"


def nearest(name: str, known: Collection[str]) -> str:
    """`did you mean x?`, or else what is known."""
    near = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}" if known else "none is known here"


def _place(value: Json, loc: Sequence[str | int], kind: str) -> Place:
    """`loc` without the names of union branches, which stand in no file."""
    place: list[str | int] = []
    for at, part in enumerate(loc):
        last = at == len(loc) - 1
        if _inside(value, part):
            value = value[part]
            place.append(part)
        elif last and kind == "missing":
            place.append(part)
    return tuple(place)


def _inside(value: Json, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


_EXPECTED: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "string_type": lambda ctx: "text",
    "int_type": lambda ctx: "a whole number",
    "int_from_float": lambda ctx: "a whole number",
    "float_type": lambda ctx: "a number",
    "finite_number": lambda ctx: "a number",
    "bool_type": lambda ctx: "true or false",
    "tuple_type": lambda ctx: "a list",
    "list_type": lambda ctx: "a list",
    "dict_type": lambda ctx: "a mapping",
    "model_type": lambda ctx: "a mapping",
    "model_attributes_type": lambda ctx: "a mapping",
    "greater_than_equal": lambda ctx: f"at least {ctx['ge']:g}",
    "less_than_equal": lambda ctx: f"at most {ctx['le']:g}",
    "string_too_short": lambda ctx: "some text",
    "string_too_long": lambda ctx: f"at most {ctx['max_length']} characters",
    "too_short": lambda ctx: f"at least {ctx['min_length']} of them",
    "union_tag_not_found": lambda ctx: f"a mapping with the field {ctx['discriminator'].strip(chr(39))}",
}


def _sentence(found: Any, known: Collection[str]) -> str:
    kind, ctx, value = found["type"], found.get("ctx", {}), found["input"]
    if kind == "missing":
        return "the field is required, but is not there"
    if kind == "extra_forbidden":
        return f"there is no such field; {nearest(str(found['loc'][-1]), known)}"
    if kind == "value_error":
        return f"{ctx['error']}, got {described(value)}"
    if kind in ("literal_error", "enum", "union_tag_invalid"):
        return _choice(ctx, value)
    if kind == "string_pattern_mismatch":
        return _pattern(ctx["pattern"], value)
    if kind in _EXPECTED:
        quotes = kind == "string_type" and isinstance(value, int | float | bool)
        return f"expected {_EXPECTED[kind](ctx)}, got {described(value)}{'; put it in quotes' if quotes else ''}"
    return f"{found['msg']}, got {described(value)}"


def _choice(ctx: Mapping[str, Any], value: Json) -> str:
    written = ctx.get("expected") or ctx["expected_tags"]
    choices = [choice.strip("' ") for choice in written.replace(" or ", ", ").split(",")]
    value = ctx.get("tag", value)
    near = get_close_matches(value.lower(), choices, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]}?" if near else ""
    expected = f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
    return f"expected {expected}, got {described(value)}{hint}"


_FORMS = {
    r"^\$": "a JSONPath, which begins with $",
    r"^[\w.]+:[\w.]+$": "module:function",
    r"^[A-Za-z0-9_.:-]+$": "letters, digits and _ . : - alone",
    r"^[!#-'*+.0-9A-Z^-z|~-]+$": "the name of a header",
    r"^(all|(session|scenario): ?.+)$": "all, session: NAME or scenario: ID",
}


def _pattern(pattern: str, value: Json) -> str:
    return f"expected {_FORMS.get(pattern, pattern)}, got {described(value)}"


def _known(model: type[BaseModel], place: Place) -> Collection[str]:
    """The names of the fields that may stand at `place`."""
    models: list[type[BaseModel]] = [model]
    for part in place:
        if isinstance(part, int):
            continue
        fields = [field for each in models for field in _fields(each).items() if field[0] == part]
        if fields:
            models = [found for _, annotation in fields for found in models_in(annotation)]
    return {name for each in models for name in _fields(each)}


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that a field's annotation leads to: through `| None`, tuples, dicts, aliases and tagged unions."""
    if isinstance(annotation, TypeAliasType):
        return models_in(annotation.__value__)
    if get_origin(annotation) is None:
        return [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []
    return [found for part in get_args(annotation) for found in models_in(part)]
