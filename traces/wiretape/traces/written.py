"""Files that people write (YAML or JSON) → checked values: every fault is told at once, with its line.

A file that is not there or is a folder is a UsageError, one that is no text or does not fit an InvalidFile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from wiretape.traces.errors import InvalidFile, UsageError
from wiretape.traces.parts import Misfit
from wiretape.traces.sentences import complaints, described
from wiretape.traces.tree import MAX_BYTES, Tree, gathered, join
from wiretape.traces.types import Json

__all__ = ["checked", "read_text"]


def read_text(path: Path) -> str:
    """UTF-8, with or without a byte order mark. Raises UsageError, or InvalidFile where the bytes are no text."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; expected a file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MAX_BYTES:
        raise InvalidFile(str(path), f"the file is larger than {MAX_BYTES:,} bytes; nobody writes that much")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidFile(str(path), "this is not UTF-8 text; expected YAML or JSON", line=line) from None


def checked[M: BaseModel](
    model: type[M], tree: Tree, path: str, *, begins: str, more: Callable[[Json], Iterable[Misfit]] = lambda _: ()
) -> M:
    """`begins` is how such a file begins, for the sentences; `more` finds what pydantic leaves out where a field is amiss."""
    if not isinstance(tree.value, Mapping):
        problem = f"expected a mapping that begins with `{begins}`, got {described(tree.value)}"
        raise InvalidFile(path, problem, line=tree.line(()))
    try:
        return model.model_validate_json(json.dumps(tree.value))
    except ValidationError as error:
        found = [*complaints(model, tree.value, error), *more(tree.value)]
        raise gathered(
            InvalidFile(path, misfit.problem, line=tree.line(misfit.place), field=join(misfit.place)) for misfit in found
        ) from None
