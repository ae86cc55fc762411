"""Spoils nested data for tests that nothing odd raises: every place in it, and a change of one."""

from collections.abc import Mapping
from typing import Any

Place = tuple[Any, ...]


def places(value: Any, path: Place = ()) -> list[Place]:
    """The paths to `value` itself and to everything in it."""
    found = [path]
    if isinstance(value, Mapping):
        for key, each in value.items():
            found += places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            found += places(each, (*path, index))
    return found


def spoilt(value: Any, path: Place, new: Any) -> Any:
    """A copy of `value` with `new` at a path; `value` itself when that place is gone."""
    if not path:
        return new
    try:
        copy = dict(value) if isinstance(value, Mapping) else list(value)
        copy[path[0]] = spoilt(value[path[0]], path[1:], new)
    except (KeyError, IndexError, TypeError):
        return value
    return copy
