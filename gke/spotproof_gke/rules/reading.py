"""Reads of untrusted plain data: a wrong type is an absent value, never an exception."""

from collections.abc import Mapping, Sequence
from typing import Any


class Unknown:
    """The type of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
"""Stands for a value that a preview does not know yet."""


def mapping(value: object) -> Mapping[Any, Any]:
    """`value` when it is a mapping, else an empty one. A list of one mapping counts as that one.

    Imported and converted programs write some single blocks as a list.
    """
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], Mapping):
        return value[0]
    return {}


def items(value: object) -> Sequence[Any]:
    """`value` when it is a list, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def text(value: object) -> str:
    """`value` without surrounding blanks when it is a string, else ""."""
    return value.strip() if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """`value` as a number, or None. Numbers arrive as floats, and as strings from some programs."""
    if isinstance(value, bool):
        return None
    try:
        return float(value) if isinstance(value, (int, float)) else float(text(value))
    except (ValueError, OverflowError):
        return None


def is_true(value: object) -> bool:
    """Whether `value` is true, also as the string that some programs write."""
    return value is True or text(value).lower() == "true"


def dig(value: object, *keys: str) -> Any:
    """The value at the path `keys`; UNKNOWN when the path leads through one, None when absent."""
    for key in keys:
        if value is UNKNOWN:
            return UNKNOWN
        value = mapping(value).get(key)
    return value


def has_unknown(value: object) -> bool:
    """Whether `value` is or contains UNKNOWN."""
    if isinstance(value, Mapping):
        return any(has_unknown(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_unknown(each) for each in value)
    return value is UNKNOWN


def without_unknowns(value: object) -> Any:
    """`value` without its unknown parts; None when all of it is unknown."""
    if value is UNKNOWN:
        return None
    if isinstance(value, Mapping):
        return {k: without_unknowns(v) for k, v in value.items() if v is not UNKNOWN}
    if isinstance(value, (list, tuple)):
        return [without_unknowns(each) for each in value if each is not UNKNOWN]
    return value
