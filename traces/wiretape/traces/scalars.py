"""What a plain YAML scalar stands for, by the core schema (https://yaml.org/spec/1.2.2/#103-core-schema).

A date stays the text that it was written as: nothing here makes anything but text, numbers, true, false and null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from wiretape.traces.types import Json

__all__ = ["joined", "plain"]

_CONSTANTS: Mapping[str, Json] = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain(text: str) -> Json:
    """The value. Raises ValueError with the problem for a number that JSON could not hold."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _NO_NUMBER.fullmatch(text) or (_NUMBER.fullmatch(text) and not math.isfinite(float(text))):
        raise ValueError(f"expected a number, got {text[:20]}")
    return float(text) if _NUMBER.fullmatch(text) else text


def joined(text: str) -> str:
    """JSON writes one character above U+FFFF as two escapes, which YAML reads apart. UnicodeDecodeError for half of one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _integer(text: str) -> int:
    if len(text) > 1000:
        raise ValueError(f"a number of {len(text):,} digits; put it in quotes if it is text")
    return int(text, 8) if text.startswith("0o") else int(text, 16) if text.startswith("0x") else int(text)
