"""Types of parameters that several oracles take. Strict: YAML's 8.50 is no text, its `yes` no number."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints

from wiretape.oracles.base import Parameters
from wiretape.traces.types import Json

__all__ = ["AnswerTexts", "Cased", "Scope", "Text", "ToolName", "as_list"]


def as_list(value: Json) -> Json:
    return [value] if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(strict=True, min_length=1)]

ToolName = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1),
    Field(description="the name of a tool"),
]

type Scope = Literal["final-answer", "any-text", "tool-result"]


class Cased(Parameters):
    """For oracles that compare texts or names."""

    case: StrictBool = Field(False, description="true or false (whether upper and lower case differ)")


class AnswerTexts(Cased):
    """Texts to look for in the final answer, or where `on` says."""

    value: Annotated[tuple[Text, ...], BeforeValidator(as_list)] = Field(
        min_length=1, description="a text or a list of texts (numbers in quotes)"
    )
    """Never none, since a list without a text would hold of everything."""
    on: Scope = Field("final-answer", description="final-answer, any-text or tool-result")
