"""What a scenario leaves open until it runs: `${VAR}`, `{{run}}`, `{{tmp}}` and `{{input}}`.

Loading never expands: the file, the recording and every report keep the names, and a secret that a variable holds is never
stored. Text that was put in is not looked at again, so a variable's value cannot bring in another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from wiretape.traces.errors import UsageError
from wiretape.traces.types import Json

__all__ = ["expand", "fixed_part"]

_OPEN = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\{\{ ?(run|tmp|input) ?\}\}")


def expand(
    value: Json, env: Mapping[str, str], *, run: str | None = None, tmp: str | None = None, input: str | None = None
) -> Json:
    """`value` with every text in it filled in, keys left alone; `$${` stands for `${`; `{{uuid}}` and its like are not ours.

    Raises UsageError for a variable that is not set, and for a placeholder that has no value here.
    """
    given = {"run": run, "tmp": tmp, "input": input}
    return _walk(value, lambda text: _OPEN.sub(lambda found: _filled(found, env, given), text))


def _walk(value: Json, fill: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, Mapping):
        return {key: _walk(item, fill) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_walk(item, fill) for item in value)
    return value


def _filled(found: re.Match[str], env: Mapping[str, str], given: Mapping[str, str | None]) -> str:
    variable, placeholder = found.groups()
    if variable is None and placeholder is None:
        return "${"
    text = env.get(variable) if variable is not None else given[placeholder]
    if text is not None:
        return text
    if variable is not None:
        raise UsageError(f"the scenario reads the variable {variable}, which is not set; set it, or take ${{{variable}}} out")
    raise UsageError(f"{{{{{placeholder}}}}} has no value in this place of a scenario; take it out")


def fixed_part(text: str) -> str:
    """The longest piece of `text` that is the same in every run, without the space around it."""
    pieces = [piece for piece in _OPEN.sub("\0", text).split("\0") if piece]
    return max((piece.strip() for piece in pieces), key=len, default="")
