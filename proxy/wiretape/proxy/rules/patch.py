"""JSON merge patch (RFC 7396)."""

from __future__ import annotations

from collections.abc import Mapping

from wiretape.traces.types import Json

__all__ = ["merged"]


def merged(value: Json, patch: Json) -> Json:
    """`value` with the patch in it: null takes a member away, objects are merged, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(value) if isinstance(value, Mapping) else {}
    for key, change in patch.items():
        if change is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), change)
    return made
